#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# --help of everything, and what is not promised there.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

expect_rc 0 "$WIC" --help
for c in bench run perf trace doctor info gen-scene; do
	expect_in stdout "$c"
done
expect_rc 0 "$WIC" --version
expect_in stdout "wic "

for c in bench run perf doctor info gen-scene; do
	expect_rc 0 "$WIC" "$c" --help
	expect_in stdout "Usage: wic $c"
	expect_in stdout "Exit status"
	[[ ! -s stderr ]] || fail "$c --help writes to stderr"
done

expect_rc 0 "$WIC" bench --help
for option in apps methods backend size threads devices producer-delay repeat seed json csv mode \
	budget out; do
	expect_in stdout "--$option"
done

expect_rc 0 "$WIC" perf --help
for test in cycle latency rate interference engine; do
	expect_in stdout "$test:"
done
for option in backend repeat tags samples idle-ms rates work pages-max pending-max json; do
	expect_in stdout "--$option"
done

expect_rc 0 "$WIC" info
expect_in stdout "C_SRS"
expect_in stdout "leader"
expect_in stdout "commit"
# No colour where it is no terminal.
expect_not_in stdout $'\033'
