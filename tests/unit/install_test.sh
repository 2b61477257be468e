#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0
# Install the library into an empty folder and build examples/minimal.c against it,
# once through pkg-config, once through find_package().
# usage: install_test.sh SOURCE_DIR BUILD_DIR CC CMAKE
set -eu
src=$1 build=$2 cc=$3 cmake=$4
wanted="sum of 1024 halves: 512"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$cmake" --install "$build" --prefix "$tmp/prefix" --component library >"$tmp/log" ||
	{ cat "$tmp/log"; exit 1; }
pc=$(find "$tmp/prefix" -name wic.pc)
lib=${pc%/pkgconfig/wic.pc}
export LD_LIBRARY_PATH="$lib"

run() {
	"$1" >"$tmp/out" || { cat "$tmp/out"; echo "$1 failed"; exit 1; }
	grep -qx "$wanted" "$tmp/out" || { cat "$tmp/out"; echo "$1: wrong result"; exit 1; }
}

if command -v pkg-config >/dev/null; then
	export PKG_CONFIG_PATH="${pc%/wic.pc}"
	flags=$(pkg-config --define-variable=prefix="$tmp/prefix" --cflags --libs wic)
	# shellcheck disable=SC2086 # flags are words
	"$cc" -std=c17 -O2 -o "$tmp/by_pkg_config" "$src/examples/minimal.c" $flags
	run "$tmp/by_pkg_config"
	echo "pkg-config: ok"
fi

mkdir "$tmp/project"
cp "$src/examples/minimal.c" "$tmp/project/"
cat >"$tmp/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(wic 0.1 REQUIRED)
add_executable(by_find_package minimal.c)
target_link_libraries(by_find_package PRIVATE wic::wic)
END
"$cmake" -S "$tmp/project" -B "$tmp/project/build" -DCMAKE_PREFIX_PATH="$tmp/prefix" \
	-DCMAKE_C_COMPILER="$cc" >"$tmp/log" || { cat "$tmp/log"; exit 1; }
"$cmake" --build "$tmp/project/build" >"$tmp/log" || { cat "$tmp/log"; exit 1; }
run "$tmp/project/build/by_find_package"
echo "find_package: ok"
