#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Each method runs, data before and after the launch, and is correct.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

all="none naive leader warp split thread-futex wic"
expect_rc 0 "$WIC" info
for m in $all; do
	grep -q "^  $m " stdout || fail "wic info does not name $m"
done
for m in $all; do
	expect_rc 0 "$WIC" run --size tiny --tags 64 --method "$m"
	expect_in stdout "C_SRS, $m: correct"
	expect_rc 0 "$WIC" run --size tiny --tags 64 --method "$m" --producer-delay ready
	expect_in stdout "C_SRS, $m: correct"
done
# What only a GPU has is refused with a reason.
for m in leader-acq libcupp; do
	expect_rc 1 "$WIC" run --backend cpu --size tiny --tags 64 --method "$m"
	expect_in stdout "$m: only on a GPU, back-end cuda"
done
exit 0
