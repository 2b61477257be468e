#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Each application with each method on a GPU, data before and after the launch, at the smallest
# size and at one that fills it.  Without a GPU a skip.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rc=0
"$WIC" run --backend cuda --size tiny --method none >stdout 2>stderr || rc=$?
if [[ $rc != 0 ]] && grep -qE 'not in this build|does not work here|no GPU|libcuda' stdout stderr; then
	cat stdout stderr >&2
	exit 77
fi
[[ $rc == 0 ]] || fail "wic run --backend cuda: $(cat stdout stderr)"

for app in C_SRS C_H3D G_BS; do
	methods="none naive leader leader-acq warp libcupp wic"
	[[ $app != C_SRS ]] || methods+=" split"
	for size in tiny small; do
		for m in $methods; do
			for delay in ready 0; do
				expect_rc 0 "$WIC" run --backend cuda --app $app --size $size \
					--method "$m" --producer-delay $delay
				expect_in stdout "$app, $m: correct"
			done
		done
	done
done
expect_rc 1 "$WIC" run --backend cuda --size tiny --method thread-futex
expect_in stdout "thread-futex: only where warps are emulated"
exit 0
