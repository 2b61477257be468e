#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# The CUDA examples compile and run, with plain nvcc as a user calls it.  Without nvcc a skip; without
# a GPU they are compiled, and say themselves that they skip.
#
#	examples/cuda/build_test.sh INCLUDE_DIR LIBRARY_DIR
#
# WIC_NVCC=<nvcc>; WIC_CUDA_ARCH=<sm_..> (default: that of this machine's GPU, sm_90 without one).
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
include=$1 library=$2

nvcc=${WIC_NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[[ -x $nvcc ]] || { echo "build_test.sh: there is no nvcc" >&2 && exit 77; }
arch=${WIC_CUDA_ARCH:-native}
if [[ $arch == native && ! -e /dev/nvidiactl ]]; then
	arch=sm_90
fi
dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT

# example <name> [option...]: build and run it; 77: it says why it cannot run.
example() {
	local name=$1 rc=0
	shift
	"$nvcc" -std=c++14 "-arch=$arch" -Werror all-warnings -Xcompiler=-Wall,-Wextra "-I$include" \
		"$here/$name.cu" "$@" -o "$dir/$name"
	timeout 60 "$dir/$name" || rc=$?
	case $rc in
	0) echo "ok   $name" ;;
	77) printf 'ok   %s, compiled\nskip %s-run: there is no GPU\n' "$name" "$name" ;;
	*) echo "FAIL $name: status $rc" >&2 && exit 1 ;;
	esac
}

example wait_word
example consume "-L$library" -lwic -ldl -lpthread "-Xlinker=-rpath,$library"
