# SPDX-License-Identifier: MIT OR GPL-2.0
# shellcheck shell=bash
# `./run check-kmod` and `./run soak-kmod`: which boots there are, and what came of them.  Sourced
# by run after setup.sh, boot.sh and ci/check.sh, whose sum it uses.

: "${root:?}" "${logs:?}" "${kmod_cache:?}" "${kmod_programs?}" "${kmod_taken?}" "${scratch?}"

kmod_long=0		# --long
kmod_limit=		# --limit, seconds of a boot that is named
kmod_prefix=		# of the names of boots: which modules
kmod_wanted=()		# boots, or programs of the guest with their arguments

kmod_image=		# the initramfs

# name | short or long | GPUs | seconds | wic.tests | wic.uvm | wic.fakerm
# SEED in wic.tests is another number each time.
kmod_boots='load|short|2|30|hello|||
builtin-0|short|1|120|testbed:builtin:0||
builtin-1|short|1|240|testbed:builtin:1||
builtin-2|short|2|240|testbed:builtin:2||
sanity-1|short|1|120|testbed:builtin:1:CHANNEL_SANITY||
sanity-2|short|2|120|testbed:builtin:2:CHANNEL_SANITY||
basic-1|short|1|120|testbed:basic:1||
basic-2|short|2|120|testbed:basic:2||
fuzz|short|2|120|testbed:fuzz:2:1,testbed:fuzz:2:2||
defects|short|2|300|testbed:control||
oversubscribed|long|2|300|testbed:fuzz:2:3:memory=64||vidmem_mb=32
pmm-2|long|2|300|testbed:builtin:2:PMM_SANITY||
pmm-full|long|1|900|testbed:builtin:1:PMM_SANITY_FULL||
fuzz-long|long|2|240|testbed:fuzz:120s:SEED||'

# Boots that are functions here.
kmod_others='control tracker'

# What a guest's program says of a test that hangs.
kmod_hang='^fail builtin/FAULT_BUFFER_FLUSH: not done within'

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
		kmod_cause "$log"
	fi
	# In it the guest's start and the loading of the modules.
	sed -n "s/^wic-first-result/$name: first result/p" "$log"
	tally "kmod: $name" "$3" "$log.result"
}

# kmod_cause <log>: the lines of it that say most of a failure.
kmod_cause() {
	local from
	# Of an oops the first lines, of a hang who waits for what, else the end.
	if from=$(grep -n -m 1 -E '(BUG|Oops): |sysrq: Show Blocked State' "$1"); then
		echo "  $1, from line ${from%%:*}:"
		tail -n "+${from%%:*}" "$1" | head -n 60 | sed 's/^/  | /'
	else
		echo "  the end of $1:"
		tail -n 25 "$1" | sed 's/^/  | /'
	fi
}

# kmod_run <name> <GPUs> <seconds> <tests> [uvm] [fakerm]: one boot and its result.
kmod_run() {
	local name=$kmod_prefix$1 log=$logs/kmod-$kmod_prefix$1.log start=$SECONDS tests seed
	tests=$4
	if [[ $tests == *SEED* ]]; then
		seed=$((RANDOM << 15 | RANDOM))
		tests=${tests//SEED/$seed}
		echo "$name: $tests"
	fi
	kmod_boot "$log" "$kmod_image" "$2" "$3" ${tests:+"wic.tests=$tests"} ${5:+"wic.uvm=$5"} ${6:+"wic.fakerm=$6"}
	kmod_result "$name" "$log" $((SECONDS - start))
}

# ---- boots ----------------------------------------------------------------

# The boots of the table, long ones too if --long wants them.
kmod_table() {
	local name kind gpus seconds tests uvm fakerm
	while IFS='|' read -r name kind gpus seconds tests uvm fakerm; do
		[[ $kind == short || $kmod_long == 1 ]] || continue
		kmod_run "$name" "$gpus" "$seconds" "$tests" "$uvm" "$fakerm"
	done <<<"$kmod_boots"
}

# On the debug kernel, without the driver's own tests: LOCK_SANITY breaks lock orders on purpose, and
# lockdep, once it has said so, looks away.
kmod_debug_table() {
	local name
	for name in load basic-1 basic-2 fuzz; do
		kmod_chosen "$name"
	done
}

# kmod_chosen <name>: a boot of the table, or a program with its arguments, PROGRAM[:ARGUMENT]...
kmod_chosen() {
	local line name kind gpus seconds tests uvm fakerm
	if [[ " $kmod_others " == *" $1 "* ]]; then
		"kmod_$1"
	elif line=$(kmod_boot_line "$1"); then
		IFS='|' read -r name kind gpus seconds tests uvm fakerm <<<"$line"
		kmod_run "$name" "$gpus" "${kmod_limit:-$seconds}" "$tests" "$uvm" "$fakerm"
	elif [[ -x $kmod_programs/${1%%:*} ]]; then
		kmod_run "${1//[^A-Za-z0-9_.-]/-}" 2 "${kmod_limit:-120}" "$1"
	else
		fail_step "kmod: $1" "there is no such boot ($(cut -d '|' -f 1 <<<"$kmod_boots" |
			paste -sd ' ') $kmod_others) and no such program ($(cd "$kmod_programs" && echo *))"
	fi
}

# kmod_is_debians <name>: whether the driver is, whose sources that needs; else a skip.
kmod_is_debians() {
	[[ -n $kmod_tree || ${#kmod_patches[@]} != 0 ]] || return 0
	skip_step "kmod: $1" "it is made of Debian's sources, without --tree and --patch"
	return 1
}

# kmod_control_result <log>: prints a line for tally().  A hang or a fault that kills would be a find
# too, but not the one that this is about.
kmod_control_result() {
	local parsed
	parsed=$(kmod_parse "$1")
	if grep -q '^failed fuzz/random: mismatch' <<<"$parsed"; then
		echo "passed 1"
	elif grep -q '^failed' <<<"$parsed"; then
		echo "failed control.no_invalidate: it failed in another way than by a mismatch ($(
			grep -m 1 '^failed' <<<"$parsed" | cut -d ' ' -f 2-)), see $1"
	else
		echo "failed control.no_invalidate: a driver without an invalidate passed the fuzz, see $1"
	fi
}

# A driver with one TLB invalidate removed: the fuzz must see it, or it could see nothing.
kmod_control() {
	local log=$logs/kmod-control.log start=$SECONDS
	kmod_is_debians control || return 0
	if ! (
		kmod_patches=("$kmod_here/controls/no_invalidate.patch")
		kmod_modules && kmod_initramfs "$scratch/control.gz"
	); then
		fail_step "kmod: control" "the driver with a defect was not built"
		return
	fi
	kmod_boot "$log" "$scratch/control.gz" 2 "${kmod_limit:-240}" wic.tests=testbed:fuzz:20:1:remap=0
	kmod_control_result "$log" >"$log.result"
	if grep -q '^passed' "$log.result"; then
		echo "ok      control.no_invalidate"
	else
		echo "FAIL    control.no_invalidate"
	fi
	tally "kmod: control" $((SECONDS - start)) "$log.result"
}

# What docs/testbed.md says of the replay tracker: these tests hang the driver, by chance, and with a
# patch they do not.
kmod_tracker() {
	local boots=6 tests=testbed:builtin:1:FAULT_BUFFER_FLUSH:CHANNEL_SANITY:FAULT_BUFFER_FLUSH
	kmod_is_debians tracker || return 0
	kmod_tracker_hangs $boots "$tests"
	local kmod_patches=("$kmod_here/patches/replay_tracker.patch")
	kmod_with "$kmod_type" "$kmod_debug" kmod_tracker_passes $boots "$tests" || true
}

# kmod_tracker_hangs <boots> <tests>: if none hung, that none does with the patch would say nothing.
kmod_tracker_hangs() {
	local i hung=0 log result=$logs/kmod-tracker.result start=$SECONDS
	if [[ $kmod_debug == 1 ]]; then
		skip_step "kmod: tracker" "a debug kernel does not give a freed address away at once, which the hang needs"
		return
	fi
	for ((i = 1; i <= $1; i++)); do
		log=$logs/kmod-${kmod_prefix}tracker-$i.log
		kmod_boot "$log" "$kmod_image" 1 "${kmod_limit:-100}" "wic.tests=$2"
		! grep -qE "$kmod_hang" "$log" || hung=$((hung + 1))
	done
	if [[ $hung != 0 ]]; then
		echo "ok      tracker.hangs ($hung of $1 boots)"
		echo "passed 1" >"$result"
	else
		echo "FAIL    tracker.hangs"
		echo "failed tracker.hangs: none of $1 boots of the driver without the patch hung, see $log" >"$result"
	fi
	tally "kmod: tracker" $((SECONDS - start)) "$result"
}

# kmod_tracker_passes <boots> <tests>
kmod_tracker_passes() {
	local i
	for ((i = 1; i <= $1; i++)); do
		kmod_run "tracker-patched-$i" 1 "${kmod_limit:-120}" "$2"
	done
}

# kmod_repeat <count> <name>: one boot of the table again and again; each counts.
kmod_repeat() {
	local i gpus seconds tests uvm fakerm
	IFS='|' read -r _ _ gpus seconds tests uvm fakerm <<<"$(kmod_boot_line "$2")"
	for ((i = 1; i <= $1; i++)); do
		kmod_run "$2-$i" "$gpus" "$seconds" "$tests" "$uvm" "$fakerm"
	done
}

# kmod_with <build type> <debug kernel> <function...>: with other modules; its variables of what is built
# are its own.  Status 1: not built, which is counted as a failure.
kmod_with() {
	local kmod_type=$1 kmod_debug=$2 kmod_prefix=$kmod_prefix kmod_out kmod_programs kmod_image
	[[ $kmod_type == release ]] || kmod_prefix+=$kmod_type-
	[[ $kmod_debug == 0 ]] || kmod_prefix+=debug-
	shift 2
	kmod_image=$(mktemp "$scratch/image.XXXXXX")
	# need_kmod ends the shell if something is missing.
	if ! (need_kmod) || ! kmod_prepare || ! kmod_initramfs "$kmod_image"; then
		fail_step "kmod: ${kmod_prefix%-}" "it was not built"
		return 1
	fi
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
		--limit)
			[[ ${2:-} =~ ^[1-9][0-9]{0,5}$ ]] || die "--limit wants a number of seconds"
			kmod_limit=$2
			shift
			;;
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
	kmod_prepare || exit
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
			kmod_tracker
			kmod_repeat 20 builtin-2
			kmod_with develop 0 kmod_table || true
		fi
	fi
	end
}

soak_kmod() {
	local boots=50 is_built=1
	if [[ ${1:-} =~ ^[0-9]+$ ]]; then
		boots=$1
		shift
	fi
	kmod_check_arguments "$@"
	[[ ${#kmod_wanted[@]} == 0 ]] || die "soak-kmod takes a number of boots"
	need_kmod
	kmod_prepare || exit
	begin
	kmod_long=1
	kmod_image=$scratch/initramfs.gz
	kmod_initramfs "$kmod_image" || die "could not make the initramfs"
	# The debug kernel first: what it wants is to be known before hours have passed.
	kmod_with develop 1 true || is_built=0
	kmod_repeat "$boots" builtin-2
	kmod_repeat "$boots" fuzz
	[[ $is_built == 0 ]] || kmod_with develop 1 kmod_debug_table || true
	end
}
