#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0
# bad_input_rows.sh passes this tree, and finds a function without a row, a row without a
# function, and headers without functions.
set -eu
ci=$(cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fresh() {
	rm -rf "$tree/include" "$tree/tests"
	mkdir -p "$tree/include" "$tree/tests/conform"
	cp -R "$ci/../include/wic" "$tree/include/"
	cp "$ci"/../tests/conform/bad_*.c "$tree/tests/conform/"
}

# finds <text>: the check fails and says the text.
finds() {
	if out=$("$ci/bad_input_rows.sh" "$tree"); then
		echo "FAIL: passed, wanted: $1"
		exit 1
	fi
	case $out in
	*"$1"*) echo "ok   $1" ;;
	*)
		printf '%s\nFAIL: wanted: %s\n' "$out" "$1"
		exit 1
		;;
	esac
}

fresh
"$ci/bad_input_rows.sh" "$tree"
echo "int wic_new_thing(void);" >>"$tree/include/wic/wic.h"
finds "wic_new_thing(): no row"
fresh
echo "static inline WIC_MUST_CHECK int wic_inline_thing(void) { return 0; }" >>"$tree/include/wic/stats.h"
finds "wic_inline_thing(): no row"
for name in wic_publish wic_wait wic_turn wic_block_id wic_atomic_add_u32; do
	fresh
	sed -i "s/ROW($name\([,)]\)/ROW(wic_other\1/" "$tree"/tests/conform/bad_*.c
	finds "$name(): no row"
	finds "wic_other(): a row of bad input, but no header"
done
fresh
rm "$tree"/include/wic/*.h
echo "/* nothing */" >"$tree/include/wic/wic.h"
finds "no functions were found"
