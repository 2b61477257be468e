# SPDX-License-Identifier: MIT OR GPL-2.0
# shellcheck shell=bash
# A guest with the modules and the test programs, in QEMU's emulator; sourced by run after setup.sh.

: "${root:?}" "${logs:?}" "${kmod_cache:?}" "${kmod_here:?}" "${kmod_out?}" "${kmod_debug:?}"

kmod_memory=2048	# MiB
kmod_cpus=2
kmod_programs=		# the folder of the guest's programs, once they are built

# ---- what runs in it ------------------------------------------------------

# kmod_guest: builds the programs that are not there; kmod_programs is their folder.
kmod_guest() {
	mkdir -p "$kmod_cache/guest" && kmod_programs=$(kmod_guest_programs)
}

# Prints that folder.  Each file of guest/ with a main() is a program of its name; all others are
# linked into each.
kmod_guest_programs() (
	local cc=gcc file name names new out log=$logs/kmod-guest.log driver=${kmod_tree:-$(kmod_debian)/driver}
	local -a common=() programs=() flags=(-std=gnu17 -O2 -g0 -static -pthread -Wall -Wextra
		"-I$root" "-I$kmod_here/guest" -isystem "$driver/nvidia-uvm" -isystem "$driver/common/inc")
	have gcc || cc=cc
	out=$kmod_cache/guest/$({
		kmod_hash "$kmod_here/guest"
		cat "$kmod_here"/softgpu/*.h "$driver/nvidia-uvm"/uvm*ioctl.h
		"$cc" --version
	} | sha256sum | cut -c 1-16)
	exec 8>"$kmod_cache/guest/.lock"
	flock 8
	rm -rf "$kmod_cache"/guest/new.*
	[[ ! -d $out ]] || { echo "$out" && return; }
	new=$(mktemp -d "$kmod_cache/guest/new.XXXXXX")
	# A driver of another version may have tests that nobody has looked at yet.
	if ! names=$("$kmod_here/guest/builtin_list.sh" "$driver/nvidia-uvm/uvm_test_ioctl.h"); then
		say "guest/builtin_*.c do not name these tests of $driver: ${names//$'\n'/ }"
		[[ -n ${kmod_tree:-} ]] || return 1
	fi
	for file in "$kmod_here"/guest/*.c; do
		[[ -e $file ]] || continue
		if grep -qE '^int main\(' "$file"; then
			programs+=("$file")
		else
			common+=("$file")
		fi
	done
	for file in ${programs[@]+"${programs[@]}"}; do
		name=$(basename "$file" .c)
		if ! "$cc" "${flags[@]}" "$file" ${common[@]+"${common[@]}"} -o "$new/$name" -lm >"$log" 2>&1; then
			grep -m 6 -A 2 -E 'error:|undefined' "$log" >&2 || tail -n 5 "$log" >&2
			say "$name, a program of the guest, was not built, see $log"
			return 1
		fi
	done
	find "$kmod_cache/guest" -mindepth 1 -maxdepth 1 -type d ! -name 'new.*' -mtime +7 -exec rm -rf {} +
	mv "$new" "$out" && echo "$out"
)

# kmod_initramfs <file>: out of kmod_out, kmod_programs and guest/init.
kmod_initramfs() (
	local dir
	dir=$(mktemp -d "${TMPDIR:-/tmp}/wic-kmod.XXXXXX") || return
	trap 'rm -rf "$dir"' EXIT
	mkdir "$dir/bin" "$dir/mod" "$dir/test" &&
		cp "$(kmod_debian)/bin/busybox" "$dir/bin/" &&
		cp "$kmod_here/guest/init" "$dir/" &&
		cp "$kmod_out"/*.ko "$dir/mod/" &&
		cp -r "$kmod_programs/." "$dir/test/" &&
		(cd "$dir" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$1"
)

# ---- a boot ---------------------------------------------------------------

# kmod_qemu <GPUs> <initramfs> <words for the kernel>: makes kmod_command.  "edu" is a PCI device of
# which only that it can do DMA is used.
kmod_qemu() {
	local gpus=$1 initramfs=$2 i
	shift 2
	set -- "wic.slow=$(kmod_slow)" "$@"
	# The messages before a panic are shown by panic_print, when it comes to that.  Of the clocks the
	# HPET is the one that is right: what the emulated TSC's frequency is measured to be depends
	# on what else the host does, and limits in a guest whose time runs three times faster fail.
	kmod_command=(qemu-system-x86_64 -accel "tcg,thread=multi" -cpu max -smp "$kmod_cpus" -m "$kmod_memory"
		-nodefaults -no-user-config -display none -no-reboot
		-kernel "$(kmod_kernel image)" -initrd "$initramfs"
		-append "console=ttyS0 quiet loglevel=1 log_buf_len=16M panic=-1 oops=panic panic_print=32 $(
			)mitigations=off clocksource=hpet tsc=unstable no_timer_check random.trust_cpu=on $*")
	for ((i = 0; i < gpus; i++)); do
		kmod_command+=(-device edu)
	done
}

# By how much all limits are multiplied: a debug kernel is many times slower.
kmod_slow() {
	if [[ $kmod_debug == 1 ]]; then
		echo 8
	else
		echo 1
	fi
}

# kmod_take <log>: what comes from QEMU goes there.  Notes how long after its start there was a result.
kmod_take() {
	local line after=never start=$SECONDS
	{
		while IFS= read -r line || [[ -n $line ]]; do
			line=${line//$'\r'/}
			printf '%s\n' "$line"
			[[ ! $line =~ ^(ok|fail|skip)\  ]] || after="after $((SECONDS - start)) s"
			[[ $after == never ]] || break
		done
		echo "wic-first-result $after"
		tr -d '\r'
	} >"$1"
}

# kmod_boot <log> <initramfs> <GPUs> <seconds> <wic.* words>: what the guest does goes to the log.
# The guest ends itself after these seconds and says more of what hangs than QEMU could.
kmod_boot() {
	local log=$1 initramfs=$2 gpus=$3 limit rc=0
	limit=$(($4 * $(kmod_slow)))
	shift 4
	kmod_qemu "$gpus" "$initramfs" "wic.limit=$limit" "$@"
	timeout --foreground -k 5 $((limit + 30)) "${kmod_command[@]}" -serial stdio </dev/null 2>&1 |
		kmod_take "$log" || rc=$?
	[[ $rc == 0 ]] || echo "fail boot: QEMU ended with status $rc$([[ $rc != 124 ]] || echo ', out of time')" >>"$log"
}

# kmod_shell <initramfs> <wic.* words>: a boot for a person at a terminal; Ctrl-A X ends it.
kmod_shell() {
	[[ -t 0 ]] || die "--shell is for a terminal; what a script wants to run is a program in kmod/testbed/guest"
	kmod_qemu 2 "$1" wic.limit=86400 wic.tests=shell "${@:2}"
	"${kmod_command[@]}" -serial mon:stdio
}

# kmod_parse <log>: prints "passed NAME", "failed NAME: WHY", "skipped NAME: WHY".  A guest that
# did not come to its end has failed whatever it had passed.
kmod_parse() {
	awk '
		/^ok [^ ]+$/ { print "passed " $2; next }
		/^fail [^ :]+: ./ { print "failed " substr($0, 6); next }
		/^skip [^ :]+: ./ { print "skipped " substr($0, 6); next }
		/^(ok|fail|skip) / { print "failed protocol: a line that is not understood: " $0 }
		/^wic-begin / { begun = 1 }
		/^wic-end / { ended = 1 }
		/(BUG|Oops): / && !cause { cause = $0 }
		/^Kernel panic|Kernel panic - / { panic = $0 }
		END {
			if (panic)
				print "failed panic: " (cause ? cause : panic)
			else if (!begun)
				print "failed boot: the guest did not start"
			else if (!ended)
				print "failed end: the guest died"
		}' "$1"
}
