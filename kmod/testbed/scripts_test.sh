#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# What the testbed's scripts, and the step of check-full that calls them, make of logs, trees and patches; nothing is fetched, built or booted.
#
# Options are set, and functions replaced, in the subshells of one test:
# shellcheck disable=SC2030,SC2031,SC2317
set -euo pipefail
export LC_ALL=C
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
logs=$folder/logs
mkdir "$logs"
export XDG_CACHE_HOME=$folder/cache
failures=0

# What run has.
say() { printf '%s\n' "run: $*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
cc_of_build() { echo true; }
may_install=0
required_kmod='true||'
# shellcheck source=ci/check.sh
. "$root/ci/check.sh"
# shellcheck source=kmod/testbed/setup.sh
. "$root/kmod/testbed/setup.sh"
# shellcheck source=kmod/testbed/boot.sh
. "$root/kmod/testbed/boot.sh"
# shellcheck source=kmod/testbed/check.sh
. "$root/kmod/testbed/check.sh"
# shellcheck source=kmod/testbed/debug_kernel.sh
. "$root/kmod/testbed/debug_kernel.sh"
scratch=$folder	# what check.sh takes for it

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
	printf '%s\n' "$@" >"$folder/log"
	kmod_parse "$folder/log" | paste -sd ';'
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
	is parse_oops 'failed panic: [ 1.0] BUG: kernel NULL pointer dereference, address: 0' \
		"$(parse "$begin" '[ 1.0] BUG: kernel NULL pointer dereference, address: 0' \
			'[ 1.0] Kernel panic - not syncing: Fatal exception')"
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
	local from=$folder/from to=$folder/to before
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
	files "$folder/hash" a=1 d/b=2
	one=$(kmod_hash "$folder/hash")
	touch "$folder/hash/a"
	is hash_same "$one" "$(kmod_hash "$folder/hash")"
	files "$folder/hash" d/b=3
	two=$(kmod_hash "$folder/hash")
	is hash_differs yes "$([[ $one != "$two" ]] && echo yes)"
}

patches() {
	local tree=$folder/tree
	files "$tree" nvidia-uvm/a.c=old
	for where in a a/kernel-open; do
		printf -- '--- %s/nvidia-uvm/a.c\n+++ %s/nvidia-uvm/a.c\n@@ -1 +1 @@\n-old\n+new\n' $where $where >"$folder/p"
		files "$tree" nvidia-uvm/a.c=old
		kmod_patch "$tree" "$folder/p" >/dev/null || true
		is "patch_of_$where" new "$(<"$tree/nvidia-uvm/a.c")"
	done
	is patch_not "$folder/p does not apply to the driver that was fetched, neither with -p1 nor with -p2" \
		"$(kmod_patch "$tree" "$folder/p" | tail -n 1)"
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
	(
		flock() { command flock "$@" && (cd "$build" && echo */.complete) >"$folder/seen"; }
		kmod_seed "$build/two"
	)
	is seed_half_is_hidden one/.complete "$(<"$folder/seen")"
	is seed_paths "cmd_$build/two/a.o := cc -I$build/two -I$build/two/common" "$(<"$build/two/nvidia-uvm/.a.o.cmd")"
	is seed_order "$build/two/nvidia-uvm.ko" "$(<"$build/two/modules.order")"
	is seed_not_complete no "$([[ -e $build/two/.complete ]] && echo yes || echo no)"
	(kmod_type=develop && kmod_seed "$build/three") 2>/dev/null
	is seed_other_type .family "$(cd "$build/three" && echo .f* *.order)"
}

# Of a copy that was interrupted nothing is used, and nothing stays.
stale() {
	local build=$kmod_cache/build
	files "$build/.new.four" .complete= a.o=o
	kmod_family >"$build/.new.four/.family"
	rm -rf "$build/one"
	is stale_is_not_warm no "$(mkdir -p "$(kmod_debian)" && kmod_is_warm && echo yes || echo no)"
	(kmod_seed "$build/four") 2>/dev/null
	is stale_is_no_seed .family "$(ls -A "$build/four")"
	mkdir -p "$build/.new.five" "$build/.new.six"
	exec 7>"$build/six.lock"
	flock 7
	kmod_remove_stale
	exec 7>&-
	is stale_is_removed .new.six "$(cd "$build" && echo .new.*)"
}

trees() {
	local tree=$folder/trees/mine
	files "$(kmod_debian)" packages=nvidia-open=1 driver/nvidia-uvm/uvm.c=c
	chmod 755 "$(kmod_debian)/driver"
	kmod_new_tree "$tree" 2>/dev/null
	is tree_made 'c 755' "$(cat "$tree/nvidia-uvm/uvm.c") $(stat -c %a "$tree")"
	is tree_alone mine "$(ls -A "$folder/trees")"
	is tree_interrupted '' "$(
		cp() { command cp "$@" && return 1; }
		kmod_new_tree "$folder/trees/half" 2>/dev/null || (cd "$folder/trees" && echo half*))"
}

# Of somebody who is killed meanwhile no folder stays in /tmp.
temporaries() {
	is temporary_removed '' "$(
		export TMPDIR=$folder/tmp
		mkdir -p "$TMPDIR" "$kmod_cache/out"
		kmod_sources() { kill -TERM "$BASHPID" && sleep 1; }
		kmod_modules >/dev/null 2>&1 || ls -A "$TMPDIR")"
}

# announced <lines of the kernel's log...>: which of them init complains of after these expectations.
announced() {
	(
		dmesg() { cat kernel; }
		# shellcheck source=kmod/testbed/guest/init
		. <(sed '$d' "$root/kmod/testbed/guest/init")
		cd "$folder"
		printf '%s\n' 'noise' 'expect-log BUG: [ab]$' 'ok s/one' 'expect-log BUG: c' 'fail s/two: why' |
			expectations 2 >expected
		printf 'expect-log BUG: d\n' | expectations 3 >>expected
		[[ ${nothing:-} != 1 ]] || : >expected
		printf '%s\n' '<4>[ 0.1] BUG: early' '<6>[ 0.2] wic: begin' "$@" >kernel
		check_log | sed -n 's/^  log: //p; /^ok/p' | paste -sd ';'
	)
}

announces() {
	local p='<12>[ 1.0] wic-program' t='<12>[ 1.0][  T1] wic-test' a='<4>[ 1.0] BUG: a' c='<4>[ 1.0] BUG: c' d='<4>[ 1.0] BUG: d'
	is log_announced 'ok log' "$(announced "$p 2 x" "$a" "$c" "$p 0" "$p 3 y" "$d" "$p 0")"
	is log_before "$a" "$(announced "$a" "$p 2 x")"
	is log_between "$a" "$(announced "$p 2 x" "$p 0" "$a")"
	is log_other_program "$d;$a" "$(announced "$p 2 x" "$d" "$p 0" "$p 3 y" "$a")"
	is log_of_test 'ok log' "$(announced "$p 2 x" "$t s/one" "$a" "$t s/two" "$c")"
	is log_other_test "$a" "$(announced "$p 2 x" "$t s/one" "$t s/two" "$a")"
	is log_ours '<3>[ 1.0] fakerm: no' "$(announced '<3>[ 1.0] fakerm: no' '<6>[ 1.0] fakerm: yes')"
	is log_nothing_expected "$a" "$(nothing=1 announced "$a")"
}

# checked <name> <seconds> <lines of a script>: what the step of check-full makes of such a check-kmod.
checked() {
	printf '#!/bin/sh\n%s\n' "${@:3}" >"$folder/run"
	chmod +x "$folder/run"
	step "$1" bash -c "$(declare -f kmod_check_in)"$'\nkmod_check_in "$@"' bash "$2" "$folder/run" "$folder/output" |
		sed -n 's/ *[0-9]* s$//; s/.*passed *\([0-9]*\) failed *\([0-9]*\) skipped/\1 \2/p'
	sed -n 's/^skipped //p' "$(log_of "$1").result" | paste -sd ';'
}

full_steps_kmod() {
	local slow='echo "skip b.y: because"; exec sleep 60'
	is full_passes '0 1;b.y: because' "$(checked a 9 'echo ok a.x; echo "skip b.y: because"' | tail -n 2 | paste -sd ';')"
	is full_slow '0 2;b.y: because;not done within 1 s' "$(checked b 1 'echo ok a.x' "$slow" | paste -sd ';')"
	is full_slow_failed '1 1;b.y: because' "$(checked c 1 'echo "FAIL   a.x: why"' "$slow" | paste -sd ';')"
	is full_no_reason_twice 'b.y: because' "$(checked d 9 'echo "skip b.y: because"; exit 77' | tail -n 1)"
}

# control <lines>: what kmod_control makes of a log of these.
control() {
	printf '%s\n' 'wic-begin at 1 s' "$@" >"$folder/log"
	kmod_control_result "$folder/log" | sed 's/^failed control.no_invalidate: //; s/, see .*//'
}

controls() {
	is control_found 'passed 1' "$(control 'fail fuzz/random: mismatch: x' wic-end)"
	is control_passed 'a driver without an invalidate passed the fuzz' "$(control 'ok fuzz/random' 'wic-end at 2 s')"
	is control_hangs 'it failed in another way than by a mismatch (hang: not done within 9 s)' \
		"$(control 'fail hang: not done within 9 s')"
}

# What comes out of QEMU and how long it took.
takes() {
	is take_lines 'a;ok b;wic-first-result after 0 s;c;ok d' \
		"$(printf 'a\r\nok b\r\nc\r\nok d' | kmod_take "$folder/log" && paste -sd ';' "$folder/log")"
	is take_none 'a;wic-first-result never' "$(printf 'a\r' | kmod_take "$folder/log" && paste -sd ';' "$folder/log")"
}

# The names of boots in the usage are those that there are.
usages() {
	local name
	for name in $(cut -d '|' -f 1 <<<"$kmod_boots") $kmod_others; do
		is "usage_$name" yes "$("$root/run" help | grep -qw -- "$name" && echo yes)"
	done
	is limit 7 "$(kmod_check_arguments --limit 7 && echo "$kmod_limit")"
	is limit_bad 1 "$( (kmod_check_arguments --limit 7s) >/dev/null 2>&1 && echo 0 || echo 1)"
	is limit_none 1 "$( (kmod_check_arguments --limit) >/dev/null 2>&1 && echo 0 || echo 1)"
	is slow '1 8' "$(kmod_slow) $(kmod_debug=1 && kmod_slow)"
}

# Other modules' variables are not those of the boots that follow.
withs() {
	is with_restores $'release b-debug-other\nb-mine' "$(
		kmod_prefix=b- kmod_out=mine
		need_kmod() { :; }
		kmod_prepare() { kmod_out=other kmod_programs=other; }
		kmod_initramfs() { :; }
		show() { echo "$kmod_type $kmod_prefix$kmod_out"; }
		kmod_with release 1 show
		echo "$kmod_prefix$kmod_out")"
}

# option_fails <name> <words...>
option_fails() { is "$1" 1 "$( (kmod_option "${@:2}") >/dev/null 2>&1 && echo 0 || echo 1)"; }

options() {
	is option_flag '1 1' "$(kmod_option --debug-kernel x && echo "$kmod_taken $kmod_debug")"
	is option_tree "$folder/new" "$(cd "$folder" && kmod_option --tree new && echo "$kmod_tree")"
	is option_other 0 "$(kmod_option --long && echo "$kmod_taken")"
	option_fails option_no_tree --tree
	option_fails option_no_patch --patch /nonexistent
	option_fails option_type --build-type fast
	is option_both 1 "$( (kmod_option --tree x && kmod_option --patch "$folder/p") >/dev/null 2>&1 && echo 0 || echo 1)"
}

shopt -s nullglob
parses
syncs
hashes
patches
seeds
options
stale
trees
temporaries
announces
full_steps_kmod
controls
takes
usages
withs
[[ $failures == 0 ]]
