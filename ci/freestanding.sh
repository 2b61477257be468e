#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# core/ must link into a kernel module: it compiles freestanding, as gnu11 and as
# C17, without floating point, with small stack frames; it has no writable data;
# it calls nothing but itself, wic_assert_failed() and the four functions that
# every freestanding compiler wants.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
flags=(-I. -ffreestanding -nostdlib -fno-stack-protector -O2 -Wall -Wextra -Wconversion
	-Wno-sign-conversion -Wshadow -Wvla -Wframe-larger-than=2048 -Werror)
case $(uname -m) in
x86_64 | aarch64) flags+=(-mgeneral-regs-only) ;;
esac

# What the library has of core/; tests lie beside it.
mapfile -t sources < <(sed -n '/^set(WIC_CORE_SOURCES/,/)/p' core/CMakeLists.txt |
	sed 's/set(WIC_CORE_SOURCES//; s/).*//' | xargs -n 1)
sources=("${sources[@]/#/core/}")
[[ ${#sources[@]} != 0 ]] || { echo "core/CMakeLists.txt names no sources"; exit 1; }

# build <compiler> <standard>: the objects, and all of them as one, all.o.
build() {
	local compiler=$1 standard=$2 source
	local -a objects=()
	for source in "${sources[@]}"; do
		objects+=("$scratch/$(basename "$source").o")
		"$compiler" "${flags[@]}" "-std=$standard" -c "$source" -o "${objects[-1]}" || return
	done
	"$compiler" -r -nostdlib "${objects[@]}" -o "$scratch/all.o"
}

# Prints what all.o should not have.
strangers() {
	nm -u "$scratch/all.o" | awk '$2 !~ /^(wic_assert_failed|mem(cpy|set|move|cmp))$/ {
		print "core calls " $2 }'
	nm "$scratch/all.o" | awk '$2 ~ /^[BbCDd]$/ { print "core has the variable " $3 }'
	nm -g --defined-only "$scratch/all.o" | awk '$3 !~ /^wic_/ { print "core exports " $3 }'
}

for compiler in gcc clang; do
	if ! command -v $compiler >/dev/null; then
		echo "skip $compiler: there is no $compiler"
		continue
	fi
	for standard in gnu11 c17; do
		name=$compiler-$standard
		if ! build $compiler $standard >"$scratch/out" 2>&1; then
			cat "$scratch/out"
			echo "FAIL $name: does not compile freestanding"
			status=1
		elif strangers >"$scratch/out" && [[ -s $scratch/out ]]; then
			cat "$scratch/out"
			echo "FAIL $name"
			status=1
		else
			echo "ok   $name"
		fi
		rm -f "$scratch"/*.o
	done
done
exit $status
