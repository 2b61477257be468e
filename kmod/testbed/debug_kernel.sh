# SPDX-License-Identifier: MIT OR GPL-2.0
# shellcheck shell=bash
# A kernel with checks that packaged ones have off, out of Debian's sources of the same one: leaks,
# lock order, use after free, sleeping where it is forbidden.  Some 20 minutes on two cores, once.
# Sourced by run after setup.sh.

: "${root:?}" "${logs:?}" "${kmod_cache:?}" "${kmod_here:?}"

kmod_debug_config=$root/kmod/testbed/debug_kernel.config
kmod_debug_package=linux-source-6.1

# Of the kernel's version, of its configuration and of what compiles it.
kmod_debug_hash() {
	{
		grep '^linux-image' "$(kmod_debian)/packages"
		cat "$kmod_debug_config"
		"$(kmod_cc)" -dumpfullversion
	} | sha256sum | cut -c 1-16
}

kmod_debug_dir() { echo "$kmod_cache/kernel/$(kmod_debug_hash)"; }
kmod_debug_version() { sed -n 's/^linux-image[^=]*=//p' "$(kmod_debian)/packages"; }
kmod_debug_sources() { echo "$kmod_cache/kernel/source-$(kmod_debug_version)"; }

# The sources of the kernel that the packages have, which several builds share.
kmod_debug_fetch() (
	local dir new
	dir=$(kmod_debug_sources)
	exec 8>"$kmod_cache/kernel/.lock"
	flock 8
	rm -rf "$kmod_cache"/kernel/new.*
	[[ ! -d $dir ]] || return 0
	new=$(mktemp -d "$kmod_cache/kernel/new.XXXXXX")
	mkdir "$new/deb" "$new/src" &&
		(cd "$new/deb" && kmod_apt apt-get download "$kmod_debug_package=$(kmod_debug_version)") &&
		dpkg-deb --fsys-tarfile "$new"/deb/*.deb |
		tar -xO "./usr/src/$kmod_debug_package.tar.xz" |
			tar -xJ -C "$new/src" --strip-components=1 &&
		mv "$new/src" "$dir"
	rm -rf "$new"
	[[ -d $dir ]]
)

# kmod_debug_configure <folder>: status 1 and the lines if some are not taken.
kmod_debug_configure() {
	local lost
	mkdir -p "$1/obj"
	kmod_debug_make "$1" KCONFIG_ALLCONFIG="$kmod_debug_config" allnoconfig || return
	lost=$(grep '^CONFIG_' "$kmod_debug_config" | grep -vxFf "$1/obj/.config" || true)
	[[ -z $lost ]] || { printf 'ERROR: the configuration does not take:\n%s\n' "$lost" && return 1; }
}

kmod_debug_make() {
	local dir=$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL LC_ALL=C nice -n 19 make -C "$(kmod_debug_sources)" O="$dir/obj" ARCH=x86_64 \
		CC="$(kmod_cc)" KBUILD_BUILD_USER=wic KBUILD_BUILD_HOST=wic -j "$(jobs_max)" "$@"
}

# kmod_debug_build <folder>: no modules of its own; symbols are listed for ours.
kmod_debug_build() {
	kmod_debug_configure "$1" &&
		kmod_debug_make "$1" bzImage modules_prepare || return
	cp "$1/obj/vmlinux.symvers" "$1/obj/Module.symvers"
}

# Interrupted, it goes on where it was.
kmod_debug_kernel() {
	local dir log=$logs/kmod-kernel.log start=$SECONDS
	dir=$(kmod_debug_dir)
	[[ ! -e $dir/.complete ]] || return 0
	mkdir -p "$dir"
	# Two at a time would spoil each other.
	(
		flock 9
		[[ ! -e $dir/.complete ]] || exit 0
		say "building a kernel with checks in $dir, some 20 minutes; its log is $log ..."
		kmod_debug_fetch >"$log" 2>&1 &&
			kmod_debug_build "$dir" >>"$log" 2>&1 &&
			touch "$dir/.complete"
	) 9>"$dir.lock" </dev/null || {
		grep -aE -m 6 -A 4 'error:|ERROR|\*\*\* |^E: ' "$log" >&2 || tail -n 20 "$log" >&2
		say "build of the kernel failed, see $log"
		return 1
	}
	say "kernel built in $((SECONDS - start)) s"
}
