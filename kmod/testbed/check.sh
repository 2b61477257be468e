# SPDX-License-Identifier: MIT OR GPL-2.0
# shellcheck shell=bash
# `./run check-kmod` and `./run soak-kmod`: which boots there are, and what came of them.  Sourced
# by run after setup.sh, boot.sh and ci/check.sh, whose sum it uses.

: "${root:?}" "${logs:?}" "${kmod_cache:?}" "${kmod_programs?}" "${kmod_taken?}" "${scratch?}"

kmod_long=0		# --long
kmod_prefix=		# of the names of boots: which modules
kmod_wanted=()		# boots, or programs of the guest with their arguments

kmod_image=		# the initramfs

# name | short or long | GPUs | seconds | wic.tests | wic.uvm | wic.fakerm
kmod_boots='load|short|2|30||||
builtin-0|short|1|120|testbed:builtin:0||
builtin-1|short|1|240|testbed:builtin:1||
builtin-2|short|2|240|testbed:builtin:2||
sanity-1|short|1|120|testbed:builtin:1:CHANNEL_SANITY||
sanity-2|short|2|120|testbed:builtin:2:CHANNEL_SANITY||
basic-1|short|1|120|testbed:basic:1||
basic-2|short|2|120|testbed:basic:2||
fuzz|short|2|120|testbed:fuzz:2:1,testbed:fuzz:2:2||
defects|short|2|300|testbed:control||
oversubscribed|long|2|300|testbed:fuzz:2:3:memory=64||vidmem_mb=32'

# Its line of the table.
kmod_boot_line() { grep -m 1 "^$1|" <<<"$kmod_boots"; }

# kmod_result <boot> <log> <seconds>: counts, and prints a line for each test.
kmod_result() {
	local name=$1 log=$2 kind rest
	kmod_parse "$log" >"$log.result"
	while read -r kind rest; do
		printf '%-7s %s\n' "$kind" "$name.$rest"
	done <"$log.result" | sed 's/^passed /ok     /; s/^failed /FAIL   /; s/^skipped /skip /'
	sed -i 's/^passed .*/passed 1/' "$log.result"
	if grep -q '^failed' "$log.result"; then
		echo "  the end of $log:"
		tail -n 25 "$log" | sed 's/^/  | /'
	fi
	tally "kmod: $name" "$3" "$log.result"
}

# kmod_run <name> <GPUs> <seconds> <tests> [uvm] [fakerm]: one boot and its result.
kmod_run() {
	local name=$kmod_prefix$1 log=$logs/kmod-$kmod_prefix$1.log start=$SECONDS
	kmod_boot "$log" "$kmod_image" "$2" "$3" ${4:+"wic.tests=$4"} ${5:+"wic.uvm=$5"} ${6:+"wic.fakerm=$6"}
	kmod_result "$name" "$log" $((SECONDS - start))
}

# ---- boots ----------------------------------------------------------------

# kmod_table <short or long>: the boots of the table, long ones too if wanted.
kmod_table() {
	local name kind gpus seconds tests uvm fakerm
	while IFS='|' read -r name kind gpus seconds tests uvm fakerm; do
		[[ $kind == short || $kmod_long == 1 ]] || continue
		kmod_run "$name" "$gpus" "$seconds" "$tests" "$uvm" "$fakerm"
	done <<<"$kmod_boots"
}

# kmod_chosen <name>: a boot of the table, or a program with its arguments, PROGRAM[:ARGUMENT]...
kmod_chosen() {
	local line name kind gpus seconds tests uvm fakerm
	if [[ $1 == control ]]; then
		kmod_control
	elif line=$(kmod_boot_line "$1"); then
		IFS='|' read -r name kind gpus seconds tests uvm fakerm <<<"$line"
		kmod_run "$name" "$gpus" "$seconds" "$tests" "$uvm" "$fakerm"
	elif [[ -x $kmod_programs/${1%%:*} ]]; then
		kmod_run "${1//[^A-Za-z0-9_.-]/-}" 2 120 "$1"
	else
		fail_step "kmod: $1" "there is no such boot ($(cut -d '|' -f 1 <<<"$kmod_boots" |
			paste -sd ' ') control) and no such program ($(cd "$kmod_programs" && echo *))"
	fi
}

# A driver with one TLB invalidate removed: the fuzz must see it, or it could see nothing.
kmod_control() {
	local log=$logs/kmod-control.log start=$SECONDS
	if [[ -n $kmod_tree || ${#kmod_patches[@]} != 0 ]]; then
		skip_step "kmod: control" "the driver with a defect is made of Debian's sources, without --tree and --patch"
		return
	fi
	if ! (
		kmod_patches=("$kmod_here/controls/no_invalidate.patch")
		kmod_modules && kmod_initramfs "$scratch/control.gz"
	); then
		fail_step "kmod: control" "the driver with a defect was not built"
		return
	fi
	kmod_boot "$log" "$scratch/control.gz" 2 90 wic.tests=testbed:fuzz:20:1:remap=0
	kmod_parse "$log" >"$log.result"
	if grep -q '^failed fuzz/random: mismatch' "$log.result"; then
		echo "passed 1" >"$log.result"
		echo "ok      control.no_invalidate"
	else
		echo "FAIL    control.no_invalidate"
		{
			echo "failed control.no_invalidate: a driver without an invalidate passed the fuzz, see $log"
			sed 's/^/note: /' "$log.result"
		} >"$log.result.new"
		mv "$log.result.new" "$log.result"
	fi
	tally "kmod: control" $((SECONDS - start)) "$log.result"
}

# kmod_repeat <count> <name>: one boot of the table again and again; each counts.
kmod_repeat() {
	local i gpus seconds tests uvm fakerm
	IFS='|' read -r _ _ gpus seconds tests uvm fakerm <<<"$(kmod_boot_line "$2")"
	for ((i = 1; i <= $1; i++)); do
		kmod_run "$2-$i" "$gpus" "$seconds" "$tests" "$uvm" "$fakerm"
	done
}

# kmod_with <build type> <debug kernel> <function...>: with other modules, and back.
kmod_with() {
	local kmod_type=$1 kmod_debug=$2 kmod_prefix=$1-
	[[ $kmod_debug == 0 ]] || kmod_prefix+=debug-
	shift 2
	kmod_prepare
	kmod_initramfs "$kmod_image" || die "could not make the initramfs"
	"$@"
}

# ---- commands -------------------------------------------------------------

kmod_check_arguments() {
	while [[ $# != 0 ]]; do
		kmod_option "$@"
		if [[ $kmod_taken != 0 ]]; then
			shift "$kmod_taken"
			continue
		fi
		case $1 in
		--long) kmod_long=1 ;;
		--or-skip) kmod_or_skip=1 ;;
		--shell) kmod_wanted=(--shell) ;;
		-*) die "check-kmod does not know '$1'" ;;
		*) kmod_wanted+=("$1") ;;
		esac
		shift
	done
}

check_kmod() {
	local name
	kmod_check_arguments "$@"
	need_kmod
	kmod_prepare
	if [[ ${kmod_wanted[*]:-} == --shell ]]; then
		kmod_image=$(mktemp)
		trap 'rm -f "$kmod_image"' EXIT
		kmod_initramfs "$kmod_image" || die "could not make the initramfs"
		kmod_shell "$kmod_image"
		return
	fi
	begin
	kmod_image=$scratch/initramfs.gz
	kmod_initramfs "$kmod_image" || die "could not make the initramfs"
	if [[ ${#kmod_wanted[@]} != 0 ]]; then
		for name in "${kmod_wanted[@]}"; do
			kmod_chosen "$name"
		done
	else
		kmod_table
		kmod_control
		if [[ $kmod_long == 1 ]]; then
			kmod_repeat 20 two-gpus
			kmod_with develop 0 kmod_table
		fi
	fi
	end
}

soak_kmod() {
	local boots=50
	if [[ ${1:-} =~ ^[0-9]+$ ]]; then
		boots=$1
		shift
	fi
	kmod_check_arguments "$@"
	[[ ${#kmod_wanted[@]} == 0 ]] || die "soak-kmod takes a number of boots"
	need_kmod
	kmod_prepare
	begin
	kmod_long=1
	kmod_image=$scratch/initramfs.gz
	kmod_initramfs "$kmod_image" || die "could not make the initramfs"
	kmod_repeat "$boots" two-gpus
	kmod_repeat "$boots" fuzz
	kmod_with develop 1 kmod_table
	end
}
