#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# What the testbed's scripts make of logs, trees and patches; nothing is fetched, built or booted.
set -euo pipefail
export LC_ALL=C
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
logs=$scratch/logs
mkdir "$logs"
export XDG_CACHE_HOME=$scratch/cache
failures=0

# What run has.
say() { printf '%s\n' "run: $*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
cc_of_build() { echo true; }
# shellcheck source=kmod/testbed/setup.sh
. "$root/kmod/testbed/setup.sh"
# shellcheck source=kmod/testbed/boot.sh
. "$root/kmod/testbed/boot.sh"

# is <name> <want> <got>
is() {
	if [[ $2 == "$3" ]]; then
		echo "ok   $1"
	else
		printf 'FAIL %s\n\twant: %s\n\tgot:  %s\n' "$1" "$2" "$3"
		failures=$((failures + 1))
	fi
}

# parse <lines...>: kmod_parse's lines of such a log, joined.
parse() {
	printf '%s\n' "$@" >"$scratch/log"
	kmod_parse "$scratch/log" | paste -sd ';'
}

parses() {
	local begin='wic-begin at 1 s' end='wic-end at 2 s'
	is parse_passes 'passed load;passed a' "$(parse "$begin" 'ok load' 'noise' 'ok a' "$end")"
	is parse_fails 'failed a: it is 3: not 4;skipped b: no' \
		"$(parse "$begin" 'fail a: it is 3: not 4' 'skip b: no' "$end")"
	is parse_no_start 'failed boot: the guest did not start' "$(parse 'SeaBIOS')"
	is parse_empty 'failed boot: the guest did not start' "$(parse)"
	is parse_no_end 'passed a;failed end: the guest died' "$(parse "$begin" 'ok a')"
	is parse_panic 'passed a;failed panic: [ 1.0] Kernel panic - not syncing: why' \
		"$(parse "$begin" 'ok a' '[ 1.0] Kernel panic - not syncing: why')"
	is parse_qemu 'passed a;failed boot: QEMU ended with status 124, out of time;failed end: the guest died' \
		"$(parse "$begin" 'ok a' 'fail boot: QEMU ended with status 124, out of time')"
	is parse_no_reason 'failed protocol: a line that is not understood: fail a' \
		"$(parse "$begin" 'fail a' "$end")"
}

# files <folder> <name=text...>
files() {
	local file
	for file in "${@:2}"; do
		mkdir -p "$(dirname "$1/${file%%=*}")"
		echo "${file#*=}" >"$1/${file%%=*}"
	done
}

syncs() {
	local from=$scratch/from to=$scratch/to before
	files "$from" Kbuild=k nvidia-uvm/a.c=1 nvidia-uvm/b.c=2 common/c.h=3
	is sync_first 4 "$(kmod_sync "$from" "$to" | grep -c changed)"
	files "$to" nvidia-uvm/a.o=o nvidia-uvm.mod.c=m nvidia-uvm/gone.c=x
	before=$(stat -c %y "$to/nvidia-uvm/b.c")
	files "$from" nvidia-uvm/a.c=new
	touch -d 2001-01-01 "$from/nvidia-uvm/a.c"
	is sync_one 'changed ./nvidia-uvm/a.c' "$(kmod_sync "$from" "$to")"
	is sync_new_date new "$([[ $to/nvidia-uvm/a.c -nt $to/nvidia-uvm/a.o ]] && cat "$to/nvidia-uvm/a.c")"
	is sync_leaves "$before" "$(stat -c %y "$to/nvidia-uvm/b.c")"
	is sync_keeps_built 'm o' "$(cat "$to/nvidia-uvm.mod.c" "$to/nvidia-uvm/a.o" | paste -sd ' ')"
	is sync_removes no "$([[ -e $to/nvidia-uvm/gone.c ]] && echo yes || echo no)"
}

hashes() {
	local one two
	files "$scratch/hash" a=1 d/b=2
	one=$(kmod_hash "$scratch/hash")
	touch "$scratch/hash/a"
	is hash_same "$one" "$(kmod_hash "$scratch/hash")"
	files "$scratch/hash" d/b=3
	two=$(kmod_hash "$scratch/hash")
	is hash_differs yes "$([[ $one != "$two" ]] && echo yes)"
}

patches() {
	local tree=$scratch/tree
	files "$tree" nvidia-uvm/a.c=old
	for where in a a/kernel-open; do
		printf -- '--- %s/nvidia-uvm/a.c\n+++ %s/nvidia-uvm/a.c\n@@ -1 +1 @@\n-old\n+new\n' $where $where >"$scratch/p"
		files "$tree" nvidia-uvm/a.c=old
		kmod_patch "$tree" "$scratch/p" >/dev/null || true
		is "patch_of_$where" new "$(<"$tree/nvidia-uvm/a.c")"
	done
	is patch_not "$scratch/p does not apply" "$(kmod_patch "$tree" "$scratch/p" || true)"
	is patch_not_left new "$(<"$tree/nvidia-uvm/a.c")"
}

# A build that begins as a copy of another one must not compile all again.
seeds() {
	local build=$kmod_cache/build
	mkdir -p "$build" "$kmod_cache"
	echo packages >"$kmod_cache/current"
	files "$build/one" "nvidia-uvm/.a.o.cmd=cmd_$build/one/a.o := cc -I$build/one -I$build/one/common" \
		"modules.order=$build/one/nvidia-uvm.ko" .complete=
	kmod_family >"$build/one/.family"
	(kmod_seed "$build/two")
	is seed_paths "cmd_$build/two/a.o := cc -I$build/two -I$build/two/common" "$(<"$build/two/nvidia-uvm/.a.o.cmd")"
	is seed_order "$build/two/nvidia-uvm.ko" "$(<"$build/two/modules.order")"
	is seed_not_complete no "$([[ -e $build/two/.complete ]] && echo yes || echo no)"
	(kmod_type=develop && kmod_seed "$build/three") 2>/dev/null
	is seed_other_type .family "$(cd "$build/three" && echo .f* *.order)"
}

# option_fails <name> <words...>
option_fails() { is "$1" 1 "$( (kmod_option "${@:2}") >/dev/null 2>&1 && echo 0 || echo 1)"; }

options() {
	(kmod_option --debug-kernel x && [[ $kmod_taken == 1 && $kmod_debug == 1 ]]) && is option_flag 0 0
	is option_tree "$scratch/new" "$(cd "$scratch" && kmod_option --tree new && echo "$kmod_tree")"
	is option_other 0 "$(kmod_option --long && echo "$kmod_taken")"
	option_fails option_no_tree --tree
	option_fails option_no_patch --patch /nonexistent
	option_fails option_type --build-type fast
	is option_both 1 "$( (kmod_option --tree x && kmod_option --patch "$scratch/p") >/dev/null 2>&1 && echo 0 || echo 1)"
}

shopt -s nullglob
parses
syncs
hashes
patches
seeds
options
[[ $failures == 0 ]]
