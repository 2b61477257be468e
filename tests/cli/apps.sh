#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Each further application with each method that it is written for, with data that comes
# in time and data that is there; other grids and lengths of a turn.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

expect_rc 0 "$WIC" info
for app in C_H3D G_BS; do
	expect_in stdout "$app"
done
for app in C_H3D G_BS; do
	for m in none naive leader warp thread-futex wic; do
		expect_rc 0 "$WIC" run --app $app --size tiny --method $m
		expect_in stdout "$app, $m: correct"
		expect_rc 0 "$WIC" run --app $app --size tiny --method $m --producer-delay ready
		expect_in stdout "$app, $m: correct"
	done
	expect_rc 1 "$WIC" run --app $app --size tiny --method split
	expect_in stdout "$app, split: the kernel of $app is not written for it"
	for grid in "--threads 32" "--threads 160 --turn-percent 10" "--sms 3" "--tags 5300"; do
		# shellcheck disable=SC2086 # words
		expect_rc 0 "$WIC" run --app $app --size tiny --method wic $grid
		expect_in stdout "$app, wic: correct"
	done
done
exit 0
