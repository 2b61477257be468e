#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Each application's kernel compiles under nvcc with each method that a GPU has, for sm_90 only, and
# keeps within the registers by which bench sizes its grids: 4 blocks of 256 threads an SM.
# Without nvcc a skip.
#
#	apps/cuda_test.sh [--table]	what each takes: registers, spilled bytes, shared memory
#
# WIC_NVCC=<nvcc>.
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/.." && pwd)
registers_max=64

nvcc=${WIC_NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[[ -x $nvcc ]] || { echo "cuda_test.sh: there is no nvcc" >&2 && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT

# As cmake/WicCuda.cmake and apps/CMakeLists.txt have it.
compile() {
	local app=$1 method=$2 out=$dir/$1.$2
	local -a options=(-std=c++14)
	[[ $app != c_srs ]] || options+=(-maxrregcount=64)
	# CCCL asks for it.
	[[ $method != libcupp ]] || options[0]=-std=c++17
	"$nvcc" -O3 -fmad=false -arch=sm_90 -cubin -Xptxas -v -Werror all-warnings \
		"-I$root/include" "-I$root" "${options[@]}" "-DWIC_METHOD=$method" \
		-x cu "$root/apps/$app/kernel.c" -o "$out.cubin" >"$out.log" 2>&1 || {
		cat "$out.log" >&2
		return 1
	}
}

usage() {
	awk -v name="$1" '/bytes spill stores/ && !kernel { spilled = $5 + $9; kernel = 1 }
		/ Used [0-9]+ registers/ {
			for (i = 1; i < NF; i++)
				if ($(i + 1) ~ /^registers/) regs = $i
		}
		END { print name, regs, spilled }' "$dir/$1.log"
}

methods=(none naive leader leader_acq warp libcupp)
[[ ! -e $root/include/wic/device.cuh ]] || methods+=(wic)
jobs=()
for app in c_srs c_h3d g_bs; do
	for method in "${methods[@]}"; do
		jobs+=("$app $method")
	done
done
jobs+=("c_srs split")

# Two at a time, as in the rest of the build.
failed=0
for ((i = 0; i < ${#jobs[@]}; i += 2)); do
	pids=()
	for job in "${jobs[@]:i:2}"; do
		# shellcheck disable=SC2086 # two words
		compile $job &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
done
[[ $failed == 0 ]] || exit 1
for job in "${jobs[@]}"; do
	row=$(usage "${job/ /.}")
	[[ ${1:-} != --table ]] || echo "$row"
	read -r name registers _ <<<"$row"
	[[ $registers -le $registers_max ]] || {
		echo "cuda_test.sh: $name takes $registers registers, at most $registers_max" >&2
		failed=1
	}
done
exit $failed
