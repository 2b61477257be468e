# SPDX-License-Identifier: MIT OR GPL-2.0
# shellcheck shell=bash
# What the testbed of nvidia-uvm is made of: packages of Debian, fetched and unpacked without
# installing them, and the modules that are built out of them.  Sourced by run, whose functions
# and variables it uses.
#
# All lies in ${XDG_CACHE_HOME:-~/.cache}/wic/kmod and may be deleted at any time:
#
#	apt/            a configuration of apt of our own, lists and cache
#	debian/HASH/    the packages unpacked, HASH is of their versions; "current" is the name of
#	                the one that is used
#	kernel/         for --debug-kernel: source-VERSION/, and HASH/ where it is built, HASH is of
#	                version, configuration, compiler
#	build/HASH/     a tree of the driver with fakerm/ and softgpu/ beside it, where make runs;
#	                HASH is of packages, kernel, build type, and patches or the place of --tree
#	out/HASH/       modules that were built, HASH is of all that went into them
#	guest/HASH/     the programs that run in the guest
#
# A build folder is used by one at a time; it begins as a copy of another one of the same
# packages, kernel and build type, so that only what differs is compiled.  Without one the driver takes
# some minutes.
#
# What is made is made under another name, "new.*" or ".new.*", which nobody else looks at; what an
# interrupted run left of those is removed by the next one that has the same lock.

: "${root:?}" "${logs:?}"

kmod_cache=${XDG_CACHE_HOME:-$HOME/.cache}/wic/kmod
kmod_here=$root/kmod/testbed
kmod_tree=		# --tree, an absolute path
kmod_patches=()		# --patch
kmod_type=release	# --build-type
kmod_debug=0		# --debug-kernel
kmod_taken=0		# by kmod_option()
kmod_out=		# the folder of the modules, once they are built
kmod_or_skip=0		# --or-skip: what cannot be had is no failure but a skip, status 77
kmod_format=1		# of the folders; a change of it throws all builds away

# Where the packages come from, whatever the machine has.
kmod_mirror=http://deb.debian.org
kmod_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# ---- options --------------------------------------------------------------

# kmod_option <words>: takes an option of all commands here; kmod_taken is how many words it had,
# 0: none of ours.
kmod_option() {
	kmod_taken=2
	case $1 in
	--tree)
		[[ -n ${2:-} ]] || die "--tree wants a folder"
		kmod_tree=$(realpath -m -- "$2")
		;;
	--patch)
		[[ -f ${2:-} ]] || die "--patch ${2:-}: there is no such file"
		kmod_patches+=("$(realpath -- "$2")")
		;;
	--build-type)
		[[ ${2:-} =~ ^(release|develop|debug)$ ]] || die "--build-type is release, develop or debug"
		kmod_type=$2
		;;
	--debug-kernel)
		kmod_debug=1
		kmod_taken=1
		;;
	*) kmod_taken=0 ;;
	esac
	[[ -z $kmod_tree || ${#kmod_patches[@]} == 0 ]] ||
		die "--tree and --patch exclude each other: apply the patch in the tree"
}

kmod_give_up() {
	say "$*"
	[[ $kmod_or_skip == 0 ]] || exit 77
	exit 1
}

# Why there can be no testbed on this machine; nothing: there can.
kmod_impossible() {
	if [[ $(uname -m) != x86_64 ]]; then
		echo "the testbed runs on x86-64 only"
	elif ! kmod_is_fetched && ! { have apt-get && have dpkg-deb && [[ -r $kmod_keys ]]; }; then
		echo "packages of Debian are fetched with apt-get and dpkg-deb, checked by $kmod_keys: not all three are here"
	fi
}

# ---- packages -------------------------------------------------------------

kmod_is_fetched() { [[ -s $kmod_cache/current && -d $(kmod_debian) ]]; }
kmod_debian() { echo "$kmod_cache/debian/$(<"$kmod_cache/current")"; }

# kmod_apt <apt-get or apt-cache> <arguments...>: with sources, lists and cache of our own.
# "-c" comes after the machine's configuration, whose proxies are kept; what it runs after an
# update is not.
kmod_apt() {
	local tool=$1 dir=$kmod_cache/apt
	shift
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/status"
	printf "deb [signed-by=$kmod_keys] $kmod_mirror/%s main contrib\n" 'debian bookworm' \
		'debian bookworm-updates' 'debian-security bookworm-security' >"$dir/sources.list"
	cat >"$dir/apt.conf" <<-END
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Pre-Invoke;
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir/cache";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Acquire::Retries "2";
		Acquire::http::Timeout "20";
	END
	"$tool" -c "$dir/apt.conf" "$@"
}

# kmod_depends <package> <pattern>: the name of the package it depends on that matches.
kmod_depends() {
	kmod_apt apt-cache show --no-all-versions "$1" |
		sed -n 's/^Depends: //p' | grep -oE "$2" | head -n 1
}

# Prints "name=version" of all that is needed, the newest there is.
kmod_names() {
	local image headers common kbuild name version
	image=$(kmod_depends linux-image-cloud-amd64 'linux-image-[0-9][^ ,]*')
	headers=$(kmod_depends linux-headers-cloud-amd64 'linux-headers-[0-9][^ ,]*')
	common=$(kmod_depends "$headers" 'linux-headers-[^ ,]*-common')
	kbuild=$(kmod_depends "$headers" 'linux-kbuild-[^ ,]*')
	for name in nvidia-open-kernel-source "$image" "$headers" "$common" "$kbuild" busybox-static; do
		version=$(kmod_apt apt-cache show --no-all-versions "$name" | sed -n 's/^Version: //p')
		[[ -n $version ]] || { echo "there is no package $name" >&2 && return 1; }
		echo "$name=$version"
	done
}

# kmod_unpack <folder of .deb files> <folder>
kmod_unpack() {
	local deb name common
	for deb in "$1"/*.deb; do
		# The kernel's own modules, most of its package, are not used.
		case $deb in
		*/linux-image-*) dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$2" --wildcards './boot/vmlinuz-*' ;;
		*) dpkg-deb -x "$deb" "$2" ;;
		esac || return
	done
	mkdir "$2/driver"
	# The binary blobs are of other modules.
	tar -xJf "$2/usr/src/nvidia-open-kernel.tar.xz" -C "$2/driver" --strip-components=2 \
		--exclude='*.o_binary' || return
	rm "$2/usr/src/nvidia-open-kernel.tar.xz"
	common=$(basename "$2"/usr/src/linux-headers-*-common)
	for name in "$2"/usr/src/linux-headers-*-cloud-amd64; do
		# The one absolute path in the headers; their links are relative.
		echo "include \$(dir \$(lastword \$(MAKEFILE_LIST)))../$common/Makefile" >"$name/Makefile"
		ln -s "${name#"$2/"}" "$2/headers"
	done
	ln -s "usr/src/$common" "$2/headers-common"
	for name in "$2"/boot/vmlinuz-*; do
		ln -s "${name#"$2/"}" "$2/vmlinuz"
	done
	[[ -e $2/vmlinuz && -e $2/headers/.config && -e $2/driver/nvidia-uvm/uvm.c &&
		-x $2/bin/busybox ]] || { echo "not all is in the packages" && return 1; }
}

# Fetches and unpacks, once; what was fetched stays as it is when Debian has newer packages.
kmod_fetch() {
	local names hash new
	rm -rf "$kmod_cache"/debian/new.*
	kmod_is_fetched && return
	mkdir -p "$kmod_cache/debian"
	say "fetching packages of Debian into $kmod_cache ..."
	kmod_apt apt-get update >"$logs/kmod-fetch.log" 2>&1 &&
		names=$(kmod_names 2>>"$logs/kmod-fetch.log") || return
	hash=$(sort <<<"$names" | sha256sum | cut -c 1-16)
	new=$(mktemp -d "$kmod_cache/debian/new.XXXXXX")
	mkdir "$new/debs" "$new/files"
	{
		# shellcheck disable=SC2086 # a list of words
		(cd "$new/debs" && kmod_apt apt-get download $names) &&
			kmod_unpack "$new/debs" "$new/files" &&
			echo "$names" >"$new/files/packages"
	} >>"$logs/kmod-fetch.log" 2>&1 || { rm -rf "$new" && return 1; }
	rm -rf "$kmod_cache/debian/$hash"
	mv "$new/files" "$kmod_cache/debian/$hash"
	rm -rf "$new"
	echo "$hash" >"$kmod_cache/current"
	sed 's/^/run:   /' "$(kmod_debian)/packages" >&2
}

# ---- the driver's sources -------------------------------------------------

# kmod_new_tree <folder>: a working copy for somebody who changes the driver, all of it or none.
kmod_new_tree() (
	local new
	local -a git=(env HOME=/nonexistent git -c user.name=wic -c user.email=wic@localhost)
	mkdir -p "$(dirname "$1")" && new=$(mktemp -d "$1.new.XXXXXX") || return
	trap 'rm -rf "$new"' EXIT
	git+=(-C "$new" -c "safe.directory=$new")
	cp -a "$(kmod_debian)/driver/." "$new" || return
	# For `git diff`, whose output --patch takes.
	if have git; then
		{
			"${git[@]}" init -q && "${git[@]}" add -A -f &&
				"${git[@]}" commit -q -m "$(grep nvidia-open "$(kmod_debian)/packages")"
		} || say "$1: git did not take it"
	fi
	mv -T "$new" "$1" || return
	say "$1: made, a copy of the driver's sources"
)

# kmod_patch <folder> <file>: paths in it may begin in the tree, or in NVIDIA's repository.
kmod_patch() {
	local level
	for level in 1 2; do
		if (cd "$1" && patch -p$level -f --dry-run) <"$2" >/dev/null; then
			(cd "$1" && patch -p$level -f --no-backup-if-mismatch) <"$2"
			return
		fi
	done
	(cd "$1" && patch -p1 -f --dry-run) <"$2"
	echo "$2 does not apply to ${kmod_tree:-the driver that was fetched}, neither with -p1 nor with -p2"
	return 1
}

# kmod_sources <folder>: brings there what is built: the driver, fakerm and softgpu.
kmod_sources() {
	local from=${kmod_tree:-$(kmod_debian)/driver} file
	mkdir -p "$1/nvidia" &&
		cp -a "$from/"{Kbuild,Makefile,conftest.sh,common,nvidia-uvm} "$1" &&
		cp -a "$from/nvidia/nvidia.Kbuild" "$1/nvidia" || return
	for file in ${kmod_patches[@]+"${kmod_patches[@]}"}; do
		kmod_patch "$1" "$file" || return
	done
	[[ $kmod_debug == 0 ]] || kmod_patch "$1" "$kmod_here/debug_kernel.patch" || return
	rm -rf "$1/fakerm" "$1/softgpu"
	cp -a "$kmod_here/fakerm" "$kmod_here/softgpu" "$1" || return
	# The driver's build asks nvidia's own module file for the tests of the kernel; that
	# module, which we do not build, has a part in the interface that we do.
	grep -E '^NV_CONFTEST_' "$from/nvidia/nvidia.Kbuild" >"$1/fakerm/conftest.Kbuild"
}

# kmod_hash <folder>: of its sources.
kmod_hash() {
	(cd "$1" && find . -type f ! -name '*.orig' ! -path '*/.git/*' -print0 | sort -z |
		xargs -0 sha256sum) | sha256sum | cut -c 1-16
}

# kmod_sync <from> <to>: files that differ, and none else, so that make sees those alone.
kmod_sync() {
	local file
	(cd "$1" && find . -type f) | while IFS= read -r file; do
		cmp -s "$1/$file" "$2/$file" && continue
		mkdir -p "$(dirname "$2/$file")"
		# As new: an older date of the source must not hide it.
		cp --remove-destination "$1/$file" "$2/$file" && touch "$2/$file" || return
		echo "changed $file"
	done || return
	(cd "$2" && find common nvidia-uvm fakerm softgpu -type f -name '*.[chS]' 2>/dev/null) |
		while IFS= read -r file; do
			[[ -e $1/$file || $file == *.mod.c ]] || rm -f "$2/$file"
		done
}

# ---- modules --------------------------------------------------------------

# The compiler of Debian's kernel, if it is here.
kmod_cc() {
	if have gcc-12; then
		echo gcc-12
	else
		cc_of_build
	fi
}

# kmod_kernel <part>: of the kernel that is used.
kmod_kernel() {
	case $kmod_debug-$1 in
	0-sources) echo "$(kmod_debian)/headers-common" ;;
	0-build) echo "$(kmod_debian)/headers" ;;
	0-image) echo "$(kmod_debian)/vmlinuz" ;;
	1-sources) kmod_debug_sources ;;
	1-build) echo "$(kmod_debug_dir)/obj" ;;
	1-image) echo "$(kmod_debug_dir)/obj/arch/x86/boot/bzImage" ;;
	esac
}

# What builds must have in common that one may begin with a copy of the other.
kmod_family() {
	echo "format $kmod_format packages $(<"$kmod_cache/current") type $kmod_type kernel $(
		[[ $kmod_debug == 0 ]] || kmod_debug_hash) $("$(kmod_cc)" -dumpfullversion)"
}

# kmod_remove_stale: copies of builds that were interrupted, of which the lock is free.
kmod_remove_stale() {
	local left key
	for left in "$kmod_cache"/build/.new.*; do
		key=${left##*/.new.}
		[[ ! -d $left ]] || flock -n "$kmod_cache/build/$key.lock" rm -rf "$left" || true
	done
}

# kmod_seed <folder>: makes it, a copy of a build of the same family if there is one.  Its lock is ours.
kmod_seed() {
	local other new=${1%/*}/.new.${1##*/}
	for other in "$kmod_cache"/build/*/.family; do
		[[ -e ${other%/*}/.complete && $(<"$other") == "$(kmod_family)" ]] || continue
		other=${other%/*}
		rm -rf "$new"
		# Nobody is to build there meanwhile; if somebody does, another will do.
		flock -n "$other.lock" cp -a "$other" "$new" || continue
		rm -f "$new/.complete"
		# Kbuild compares its commands, which have absolute paths, with those it notes here.
		find "$new" \( -name '*.cmd' -o -name '*.mod' -o -name modules.order -o -name Module.symvers \) \
			-exec sed -i "s|$other/|$1/|g; s|$other\\b|$1|g" {} +
		mv "$new" "$1"
		return
	done
	rm -rf "$new"
	mkdir -p "$new"
	kmod_family >"$new/.family"
	mv "$new" "$1"
	say "the driver is compiled for the first time, some minutes ..."
}

# kmod_make <sources> <build folder>: make there, with a log of its own.
kmod_make() {
	local log=$logs/kmod-build.log
	{
		rm -f "$2/.complete"
		kmod_sync "$1" "$2" &&
			env -u MAKEFLAGS -u MAKELEVEL LC_ALL=C nice -n 5 make -C "$2" -j "$(jobs_max)" \
				CC="$(kmod_cc)" ARCH=x86_64 SYSSRC="$(kmod_kernel sources)" \
				SYSOUT="$(kmod_kernel build)" UVM_BUILD_TYPE="$kmod_type" \
				IGNORE_CC_MISMATCH=1 NV_KERNEL_MODULES='fakerm nvidia-uvm' modules &&
			touch "$2/.complete"
	} >"$log" 2>&1 </dev/null && return
	grep -aE -m 6 -A 4 'error:|ERROR|\*\*\* ' "$log" >&2 || tail -n 20 "$log" >&2
	say "build of the modules failed, see $log"
	return 1
}

# kmod_modules: builds what is not there; kmod_out is the folder of the modules.
kmod_modules() {
	mkdir -p "$kmod_cache/build" "$kmod_cache/out" "$logs" && kmod_out=$(kmod_modules_out)
}

# Prints that folder.  A shell of its own, so that its trap is too.
kmod_modules_out() (
	local key sources start=$SECONDS dir out
	sources=$(mktemp -d "${TMPDIR:-/tmp}/wic-kmod.XXXXXX") || return
	trap 'rm -rf "$sources"' EXIT
	if ! kmod_sources "$sources" >"$logs/kmod-sources.log" 2>&1; then
		cat "$logs/kmod-sources.log" >&2
		return 1
	fi
	key=$({
		kmod_family
		echo "tree $kmod_tree"
		cat /dev/null ${kmod_patches[@]+"${kmod_patches[@]}"}
	} | sha256sum | cut -c 1-16)
	dir=$kmod_cache/build/$key
	out=$kmod_cache/out/$({ kmod_family && kmod_hash "$sources"; } | sha256sum | cut -c 1-16)
	if [[ ! -e $out/nvidia-uvm.ko ]]; then
		kmod_remove_stale
		(
			flock 9
			# Somebody else has built them, and may be loading them.
			[[ ! -e $out/nvidia-uvm.ko ]] || exit 0
			[[ -d $dir ]] || kmod_seed "$dir"
			kmod_make "$sources" "$dir" && kmod_keep "$dir" "$out"
		) 9>"$dir.lock" || return
		say "modules built in $((SECONDS - start)) s, with symbols for a debugger in $dir"
	fi
	echo "$out"
)

# kmod_keep <build> <out>: the modules as they are loaded, and not too many of them.
kmod_keep() (
	local new old
	exec 8>"$kmod_cache/out/.lock"
	flock 8
	rm -rf "$kmod_cache"/out/new.*
	new=$(mktemp -d "$kmod_cache/out/new.XXXXXX")
	strip -g -o "$new/nvfakerm.ko" "$1/nvfakerm.ko" &&
		strip -g -o "$new/nvidia-uvm.ko" "$1/nvidia-uvm.ko" || return
	rm -rf "$2"
	mv "$new" "$2"
	find "$kmod_cache/out" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -rn | tail -n +33 |
		while read -r _ old; do
			rm -rf "$old"
		done
)

# ---- the command ----------------------------------------------------------

# All that check-kmod needs, up to the guest's programs.  Status 1: something was not built.
kmod_prepare() {
	local why
	why=$(kmod_impossible)
	[[ -z $why ]] || kmod_give_up "$why"
	mkdir -p "$logs" "$kmod_cache"
	# Two at a time would fetch the same.
	(flock 9 && kmod_fetch) 9>"$kmod_cache/.lock" || {
		grep -aE '^(E:|W:|there is)' "$logs/kmod-fetch.log" >&2 || true
		kmod_give_up "could not fetch Debian's packages, see $logs/kmod-fetch.log"
	}
	[[ -z $kmod_tree || -d $kmod_tree ]] || kmod_new_tree "$kmod_tree" || die "could not make $kmod_tree"
	[[ -z $kmod_tree || -e $kmod_tree/nvidia-uvm/uvm.c ]] || die "$kmod_tree: there is no nvidia-uvm/uvm.c"
	[[ $kmod_debug == 0 ]] || kmod_debug_kernel || return
	kmod_modules && kmod_guest
}

# A build of these packages with these options is there, so that the next takes seconds.
kmod_is_warm() {
	local family
	kmod_is_fetched || return
	for family in "$kmod_cache"/build/*/.family; do
		[[ ! -e ${family%/*}/.complete || $(<"$family") != "$(kmod_family)" ]] || return 0
	done
	return 1
}

kmod_setup() {
	while [[ $# != 0 ]]; do
		kmod_option "$@"
		[[ $kmod_taken != 0 ]] || die "kmod-setup does not know '$1'"
		shift "$kmod_taken"
	done
	need_kmod
	kmod_prepare || exit
	say "ready: modules in $kmod_out, kernel $(kmod_kernel image)"
}
