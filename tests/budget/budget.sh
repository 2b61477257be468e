#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# What a wait costs a kernel, from ptxas and its instructions; needs nvcc and no GPU.
#
#	tests/budget/budget.sh            the limits below hold
#	tests/budget/budget.sh --table    docs/occupancy.md's tables
#
# WIC_NVCC=<nvcc>.  Exit status 77: a reason why nothing was measured.
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
architectures=(80 90)

# Limits of what nvcc 13.0 makes; a reason where that is more than the budget.  Registers of
# slow paths compiled alone: the waiter's part 16, the watcher of wic_tree_wait_word() 24,
# with lines 32.  A hit: 12 instructions.  Loads and stores of spilled registers in loops: 0.
limits() {
	cat <<'EOF'
80 waiter 17 budget 16; the truth is read once more before an error
90 waiter 18 budget 16; it parks on an mbarrier, on sm_80 on a word
80 plain 24
90 plain 24
80 lines 32
90 lines 32
80 poll 32
90 poll 32
80 hit 19 budget 12; of it NULL, value and epoch of 64 bits 6, result 2, vote 1, constants 2
90 hit 17 budget 12; of it NULL, value and epoch of 64 bits 6, result 2, vote 1
80 hit_word 15 budget 12; of it NULL, alignment and value of 64 bits, result, vote
90 hit_word 15 budget 12; of it NULL, alignment and value of 64 bits, result, vote
80 lines_12_256 90 budget 0; values and slow path are more than 32 registers
80 lines_12_1024 90 budget 0; values and slow path are more than 32 registers
80 lines_36_256 138 budget 0; values and slow path are more than 48 registers
80 lines_100_256 0
80 plain_12_256 0
80 plain_12_1024 0
80 plain_36_256 46 budget 0; values and slow path are more than 48 registers
80 plain_100_256 0
90 lines_12_256 180 budget 0; values and slow path are more than 32 registers
90 lines_12_1024 161 budget 0; values and slow path are more than 32 registers
90 lines_36_256 18 budget 0; values and slow path are more than 48 registers
90 lines_100_256 8 budget 0; values and slow path are more than 128 registers
90 plain_12_256 0
90 plain_12_1024 0
90 plain_36_256 0
90 plain_100_256 0
EOF
}

skip() { echo "budget.sh: $*" >&2 && exit 77; }
die() { echo "budget.sh: $*" >&2 && exit 1; }

nvcc=${WIC_NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[[ -x $nvcc ]] || skip "there is no nvcc"
for tool in readelf od awk; do
	command -v "$tool" >/dev/null || skip "there is no $tool"
done
dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT

# compile <architecture> <name> <option...>: <name>.<architecture>.cubin and .log
compile() {
	local out=$dir/$2.$1 arch=$1
	shift 2
	"$nvcc" -std=c++14 -O3 "-arch=sm_$arch" -cubin -Xptxas -v "-I$root/include" "$@" \
		-o "$out.cubin" "$here/budget.cu" >"$out.log" 2>&1 ||
		{ cat "$out.log" >&2 && die "nvcc failed"; }
}

# Of each kernel in a log: name, registers, bytes of shared memory, bytes spilled.
usage() {
	awk 'function row() { if (name) print name, regs, shared + 0, spilled + 0 }
		/Compiling entry function/ {
			row()
			gsub(/\047/, "")
			name = $6
			shared = spilled = 0
			for (i = 1; i < NF; i++)
				if ($i == "function")
					name = $(i + 1)
		}
		/bytes spill stores/ { spilled += $5 }
		/ Used [0-9]+ registers/ {
			for (i = 1; i < NF; i++) {
				if ($(i + 1) ~ /^registers/) regs = $i
				if ($(i + 1) == "bytes" && $(i + 2) ~ /^smem/) shared = $i
			}
		}
		END { row() }' "$dir/$2.$1.log"
}

# field <architecture> <name> <kernel> <2: registers, 3: shared memory, 4: spilled>
field() {
	usage "$1" "$2" | awk -v name="$3" -v i="$4" '$1 == name { print $i; found = 1 }
		END { exit !found }' || die "there is no kernel $3 in $2.$1"
}

# read_sass <architecture> <name> <kernel> <hit | loops>
read_sass() {
	local offset size cubin=$dir/$2.$1.cubin
	read -r offset size < <(readelf -SW "$cubin" 2>/dev/null | awk -v name=".text.$3" '
		{ sub(/^ *\[ *[0-9]+\]/, "") }
		$1 == name { print $4, $5 }')
	[[ -n $size ]] || die "there is no code of $3 in $2.$1"
	od -An -v -tx4 -w16 "-j$((16#$offset))" "-N$((16#$size))" "$cubin" |
		awk -v arch="$1" -v want="$4" -f "$here/sass.awk"
}

# blocks <registers> <threads> <bytes of shared memory>: resident on an SM of sm_80 or
# sm_90: 65,536 registers in 4 parts, 256 at a time; 64 warps; 32 blocks.  Shared memory
# does not limit here: 163 KiB (sm_80) and 227 (sm_90), 128 bytes at a time and 1 KiB a block.
blocks() {
	local warps=$(($2 / 32)) registers=$((($1 * 32 + 255) / 256 * 256)) n part shared
	part=$((16384 / registers))
	n=$((part * 4 / warps))
	shared=$((163 * 1024 / (($3 + 127) / 128 * 128 + 1024)))
	[[ $n -le $((64 / warps)) ]] || n=$((64 / warps))
	[[ $n -le 32 ]] || n=32
	[[ $n -le $shared ]] || n=$shared
	echo "$n"
}

held=("12 256" "12 1024" "36 256" "100 256")

measure() {
	local arch=$1 row values threads options=()
	compile "$arch" base -DBUDGET_BASE
	for row in "${held[@]}"; do
		read -r values threads <<<"$row"
		options+=("-DBLOCKS_${values}_$threads=$(blocks \
			"$(field "$arch" base "hold_$values" 2)" "$threads" 0)")
	done
	compile "$arch" wait_lines -DBUDGET_WAIT "${options[@]}"
	compile "$arch" wait_plain -DBUDGET_WAIT -DWIC_TREE_PLAIN_ONLY "${options[@]}"
	compile "$arch" lines
	compile "$arch" plain -DWIC_TREE_PLAIN_ONLY
}

status=0

# check <architecture> <what> <number>
check() {
	local limit why
	read -r limit why < <(limits | awk -v arch="$1" -v what="$2" '
		$1 == arch && $2 == what { sub(/^[^ ]+ [^ ]+ /, ""); print }') || true
	[[ -n $limit ]] || die "there is no limit for $2 on sm_$1"
	if (($3 > limit)); then
		echo "FAIL sm_$1 $2: $3, $limit allowed" && status=1
	else
		echo "ok   sm_$1 $2: $3 of $limit${why:+ ($why)}"
	fi
}

check_slow() {
	local arch=$1 row name kernel what spilled
	for row in plain:waiter:waiter plain:slow:plain lines:slow:lines lines:poll:poll; do
		IFS=: read -r name kernel what <<<"$row"
		check "$arch" "$what" "$(field "$arch" "$name" "$kernel" 2)"
		spilled=$(field "$arch" "$name" "$kernel" 4)
		[[ $spilled == 0 ]] || { echo "FAIL sm_$arch $what: spills $spilled bytes" && status=1; }
	done
	check "$arch" hit "$(read_sass "$arch" lines hit hit)"
	check "$arch" hit_word "$(read_sass "$arch" plain hit hit)"
}

# check_held <architecture> <lines | plain>
check_held() {
	local arch=$1 form=$2 row values threads kernel before after loops spills
	for row in "${held[@]}"; do
		read -r values threads <<<"$row"
		kernel=bound_${values}_$threads
		before=$(blocks "$(field "$arch" base "hold_$values" 2)" "$threads" 0)
		after=$(blocks "$(field "$arch" "wait_$form" "$kernel" 2)" "$threads" \
			"$(field "$arch" "wait_$form" "$kernel" 3)")
		if [[ $before == "$after" ]]; then
			echo "ok   sm_$arch $form $kernel: $after blocks an SM, as without a wait"
		else
			echo "FAIL sm_$arch $form $kernel: $after blocks an SM, $before without a wait"
			status=1
		fi
		read -r loops spills < <(read_sass "$arch" "wait_$form" "$kernel" loops)
		((loops >= 2)) || die "$kernel of sm_$arch has $loops loops that compute, not C1 and C2"
		check "$arch" "${form}_${values}_$threads" "$spills"
	done
}

table() {
	local arch row what name kernel budget values threads form
	echo "| registers, compiled alone | sm_80 | sm_90 | budget |"
	echo "|---|---|---|---|"
	while IFS=: read -r what name kernel budget; do
		echo "| $what | $(field 80 "$name" "$kernel" 2) | $(field 90 "$name" "$kernel" 2) | $budget |"
	done <<-'EOF'
		`wic_tree_wait_word()`, a waiter's part:plain:waiter:16
		`wic_tree_wait_word()` in a build of `WIC_TREE_PLAIN_ONLY`:plain:slow:24
		with lines:lines:slow:32
		with lines, without a lot:lines:poll:32
	EOF
	echo
	echo "| instructions, the data is there | sm_80 | sm_90 | budget |"
	echo "|---|---|---|---|"
	echo "| \`wic_tree_wait()\` | $(read_sass 80 lines hit hit) | $(read_sass 90 lines hit hit) | 12 |"
	echo "| \`wic_tree_wait_word()\` | $(read_sass 80 plain hit hit) | $(read_sass 90 plain hit hit) | 12 |"
	echo
	echo "| | values, threads | no wait: registers, blocks | wait: registers, blocks | wait, bounded: registers, blocks | spills: in loops, bytes |"
	echo "|---|---|---|---|---|---|"
	for arch in "${architectures[@]}"; do
		for form in lines plain; do
			for row in "${held[@]}"; do
				read -r values threads <<<"$row"
				table_row "$arch" "$values" "$threads" "$form"
			done
		done
	done
}

table_row() {
	local arch=$1 values=$2 threads=$3 bound=bound_$2_$3 form=$4 base wait with shared
	base=$(field "$arch" base "hold_$values" 2)
	wait=$(field "$arch" "wait_$form" "hold_$values" 2)
	with=$(field "$arch" "wait_$form" "$bound" 2)
	shared=$(field "$arch" "wait_$form" "$bound" 3)
	echo "| sm_$arch, $form | $values, $threads" \
		"| $base, $(blocks "$base" "$threads" 0)" \
		"| $wait, $(blocks "$wait" "$threads" "$shared")" \
		"| $with, $(blocks "$with" "$threads" "$shared")" \
		"| $(read_sass "$arch" "wait_$form" "$bound" loops | cut -d' ' -f2), $(field "$arch" "wait_$form" "$bound" 4) |"
}

# The tables in the docs are those of nvcc 13.0.
check_docs() {
	local line missing=0
	if ! "$nvcc" --version | grep -q 'release 13\.0'; then
		echo "skip docs/occupancy.md: its tables are of nvcc 13.0" && return
	fi
	while read -r line; do
		grep -qxF -- "$line" "$root/docs/occupancy.md" || missing=1
	done < <(table | grep '^|')
	if [[ $missing == 0 ]]; then
		echo "ok   docs/occupancy.md"
	else
		echo "FAIL docs/occupancy.md: not what tests/budget/budget.sh --table prints" && status=1
	fi
}

jobs=()
for arch in "${architectures[@]}"; do
	measure "$arch" &
	jobs+=($!)
done
for job in "${jobs[@]}"; do
	wait "$job" || exit 1
done
if [[ ${1:-} == --table ]]; then
	table
else
	for arch in "${architectures[@]}"; do
		check_slow "$arch"
		check_held "$arch" lines
		check_held "$arch" plain
	done
	check_docs
fi
exit $status
