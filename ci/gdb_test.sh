#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# ci/gdb_test.sh <program>: a program that parks runs under gdb with the two options
# that CONTRIBUTING.md names, and a backtrace in the handler of the fault leads
# through it to the kernel of the warp.
set -euo pipefail
export LC_ALL=C
command -v gdb >/dev/null || { echo "there is no gdb" && exit 77; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
timeout -k 5 120 gdb -batch -nx -ex 'set debuginfod enabled off' \
	-ex 'handle SIGSEGV SIGBUS nostop noprint pass' \
	-ex 'set breakpoint pending on' -ex 'break fault.c:handler' -ex run \
	-ex backtrace -ex delete -ex continue "$1" >"$out" 2>&1 </dev/null || true
if grep -qE 'ptrace: Operation not permitted|Cannot create process|personality' "$out" &&
	! grep -q 'exited normally' "$out"; then
	echo "gdb may not trace here: $(grep -m 1 -E 'ptrace|create process' "$out")"
	exit 77
fi
for wanted in 'signal handler called' 'wic_request' 'warp_main' 'exited normally'; do
	grep -q "$wanted" "$out" || { cat "$out"; echo "no '$wanted' in what gdb said"; exit 1; }
done
