#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0
# lib/wic.map lists exactly the functions that include/wic/*.h declare and the
# library defines.  usage: exports_test.sh SOURCE_DIR
set -eu
src=$1
# Declarations at the left margin that end in ");" and are not static inline.
declared=$(cat "$src"/include/wic/*.h | awk '
	/^(int|void|uint64_t|const char \*|struct wic_handle) ?\*?wic_[a-z_]+\(/ { print }
	/^extern __thread/ { print "x " $NF }' |
	sed -E 's/^.*[ *](wic_[a-z0-9_]+)[(;].*$/\1/' | sort -u)
listed=$(sed -n 's/^\t\(wic_[a-z0-9_]*\);$/\1/p' "$src/lib/wic.map" | sort -u)
if [ "$declared" != "$listed" ]; then
	echo "declared in include/wic but not in lib/wic.map, or the other way round:"
	echo "$declared" >"${TMPDIR:-/tmp}/wic_declared.$$"
	echo "$listed" | diff "${TMPDIR:-/tmp}/wic_declared.$$" - || :
	rm -f "${TMPDIR:-/tmp}/wic_declared.$$"
	exit 1
fi
echo "$(echo "$listed" | wc -l) functions"
