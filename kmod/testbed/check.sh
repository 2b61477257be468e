# SPDX-License-Identifier: MIT OR GPL-2.0
# shellcheck shell=bash
# `./run check-kmod` and `./run soak-kmod`: which boots there are, and what came of them.  Sourced
# by run after setup.sh, boot.sh and ci/check.sh, whose sum it uses.

: "${root:?}" "${logs:?}" "${kmod_cache:?}" "${passed:?}" "${failed:?}"

kmod_long=0		# --long
kmod_or_skip=0		# --or-skip: what cannot be had is a skip, status 77, and no failure
kmod_soak_boots=20
kmod_wanted=()		# boots, or programs of the guest with their arguments

# Prepared: the files below, and what must be in the log of a boot that has to fail.
kmod_image=

# name | short or long | GPUs | seconds | wic.tests | wic.uvm | wic.fakerm
kmod_boots='load|short|2|30||||
no-gpu|short|0|60|builtin_test:0|uvm_debug_prints=0|
one-gpu|short|1|60|builtin_test:1||
two-gpus|short|2|60|builtin_test:2||
fuzz|short|2|90|fuzz||'

# kmod_columns <name>: its line of the table.
kmod_boot_line() { grep -m 1 "^$1|" <<<"$kmod_boots"; }

# kmod_result <boot> <log> <seconds>: counts, and prints a line for each test.
kmod_result() {
	local name=$1 log=$2 kind rest
	kmod_parse "$log" >"$log.result"
	while read -r kind rest; do
		printf '%-7s %s\n' "$kind" "$name.$rest"
	done <"$log.result" | sed 's/^passed /ok     /; s/^failed /FAIL   /; s/^skipped /skip /'
	sed -i "s/^\(failed\|skipped\) /&$name./; s/^passed .*/passed 1/" "$log.result"
	if grep -q '^failed' "$log.result"; then
		echo "  the end of $log:"
		tail -n 25 "$log" | sed 's/^/  | /'
	fi
	tally "kmod: $name" "$3" "$log.result"
}

# kmod_run <name> <GPUs> <seconds> <tests> [uvm] [fakerm]: one boot and its result.
kmod_run() {
	local name=$1 log=$logs/kmod-$1.log start=$SECONDS
	kmod_boot "$log" "$kmod_image" "$2" "$3" ${4:+"wic.tests=$4"} ${5:+"wic.uvm=$5"} ${6:+"wic.fakerm=$6"}
	kmod_result "$name" "$log" $((SECONDS - start))
}
