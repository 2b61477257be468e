#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0
# Each function that the public headers declare has a row in the table of bad input
# (tests/conform/bad_*.c), and each row a function; but those of tree.h, whose callers are the
# back-ends and kernels without a context: tests/tree has theirs.  usage: bad_input_rows.sh [SOURCE_DIR]
set -eu
ci=$(cd -- "$(dirname -- "$0")" && pwd)
src=${1:-$ci/..}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

awk -v mode=list -f "$ci/api.awk" "$src"/include/wic/*.h | sed '/\/\(tree[a-z_]*\|push\)\.h:/d; s/.* //' | sort -u >"$tmp/functions"
# Macros that end in ROW( are rows, but for their definitions.
sed -nE '/#define/d; s/^\t(.*_)?[A-Z_]*ROW\((wic_[a-z0-9_]+)[,)].*$/\2/p' "$src"/tests/conform/bad_*.c |
	sort -u >"$tmp/rows"
comm -23 "$tmp/functions" "$tmp/rows" | sed 's/$/(): no row of bad input in tests\/conform\/bad_*.c/' >"$tmp/found"
comm -13 "$tmp/functions" "$tmp/rows" | sed 's/$/(): a row of bad input, but no header declares it/' >>"$tmp/found"
[ -s "$tmp/functions" ] || echo "include/wic: no functions were found" >>"$tmp/found"
cat "$tmp/found"
[ ! -s "$tmp/found" ]
