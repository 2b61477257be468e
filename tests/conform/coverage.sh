#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Each test that COVERAGE.md names exists; tests/conform/coverage.sh ROOT
set -euo pipefail
cd -- "$1"
missing=0
# Names with an underscore, in the tables; a star stands for any rest.
while read -r name; do
	if [[ $name == *_test ]]; then
		program=${name#core_} && program=${program#cpu_}
		[[ -n $(find core backends tests -name "$program.c") ]] && continue
	fi
	grep -Eqrs --include='*_test.c' "TEST\(${name//\*/[a-z0-9_]*}\)" core backends tests && continue
	echo "tests/conform/COVERAGE.md: no test is called $name" && missing=1
done < <(sed -n '/^|/p' tests/conform/COVERAGE.md | grep -oE '\b[a-z0-9]+(_[a-z0-9]+)*_[a-z0-9]*(\*|\b)' |
	grep -v '^wic_' | sort -u)
exit "$missing"
