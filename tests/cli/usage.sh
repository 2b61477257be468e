#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Wrong command lines: status 2, a text that says what would do, nothing done.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	local text=$1
	shift
	expect_rc 2 "$WIC" "$@"
	expect_in stderr "$text"
	[[ ! -s stdout ]] || fail "writes to stdout: $*"
	expect_no_file out
}

expect_rc 2 "$WIC"
expect_in stderr "usage: wic"
usage "no command 'benhc'" benhc
usage "gen-scene" benhc

usage "no application 'C_XXX'; there are: C_SRS" bench --apps C_XXX
usage "no application ''" bench --apps ''
usage "named twice" bench --apps C_SRS,C_SRS
usage "no application 'all'" bench --apps C_SRS,all
usage "one application" run --app all
usage "no method 'spin'; there are: none, naive, leader, leader-acq, warp, libcupp, split, thread-futex, wic" \
	bench --methods spin
usage "named twice" bench --methods wic,wic
usage "compares nothing" bench --methods none
usage "no back-end 'gpu'; there are: auto, cpu" bench --backend gpu
usage "tiny, small, default, large" bench --size huge
usage "push, pull" bench --mode pul
usage "--no-such-option" bench --no-such-option
usage "unexpected argument 'C_SRS'" bench C_SRS
usage "cannot both go to stdout" bench --json - --csv -

for bad in -1 0 1.5 abc '' ' 7' 7x 99999999999999999999 257; do
	usage "--repeat: '$bad' is not a number from 1 to 256" bench --repeat="$bad"
done
for bad in -1 abc '' nan inf 101 1e999 0x; do
	usage "--producer-delay: '$bad' is not a number" bench --producer-delay="$bad"
done
usage "--producer-delay: '' is not a number" bench --producer-delay=0.9,
usage "named twice" bench --producer-delay=1,1.0
usage "--threads: '0' is not a number" bench --threads 0
usage "--threads: 7 is not a multiple of 32" bench --threads 7
usage "--budget: '0x10' is not a number" bench --budget 0x10
usage "--sms: '5000' is not a number" bench --sms 5000
usage "--tags: '0'" bench --tags 0
usage "--seed: '-3'" bench --seed=-3
for bad in 0 -5 x '' 10001; do
	usage "--turn-percent: '$bad' is not a number from 1 to 10000" bench --turn-percent="$bad"
done
usage "--turn-percent: '' is not a number" bench --turn-percent=25,,100
usage "--turn-percent: 50 is named twice" bench --turn-percent=50,100,50
usage "--turn-percent: more than 8 values" bench --turn-percent=1,2,3,4,5,6,7,8,9
usage "--plots: with --no-out there is no place" bench --plots --no-out
usage "--devices: '0'" bench --devices 0
usage "is the application's choice" bench --devices 2
usage "--budget: 'x'" bench --budget x

usage "named twice" run --app C_SRS,C_SRS
usage "one method" run --method wic,naive
usage "no method 'x'" run --method x
usage "one value" run --producer-delay 1,2
usage "--turn-percent: one value" run --turn-percent 50,100
usage "which test? there are: cycle, latency, rate, interference, engine, record" perf
usage "no test 'cycles'; there are: cycle" perf cycles
usage "unexpected argument 'cycle'" perf cycle cycle
usage "--tags: '8193'" perf cycle --tags 8193
usage "--samples: '0'" perf latency --samples 0
usage "--idle-ms: '0'" perf latency --idle-ms 0
usage "--work: '0'" perf interference --work 0
usage "--pages-max: '1023'" perf engine --pages-max 1023
usage "--pending-max: '65537'" perf engine --pending-max 65537
for bad in 0 -5 x '' 1.5 10000001; do
	usage "--rates: '$bad'" perf rate --rates="$bad"
done
usage "--rates: '10' is not above" perf rate --rates=20,10
usage "--rates: more than 16" perf rate --rates=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
usage "tiny, small, default, large" perf record --size huge
usage "which part of trace? there are: record, export, stat" trace
usage "no part 'recrod' of trace; there are: record, export, stat" trace recrod
usage "unexpected argument 'x'" trace record x
usage "--events: '0' is not a number from 1 to 67108864" trace record --events 0
usage "one method" trace record --method wic,naive
usage "which file?" trace stat
usage "which file?" trace export
usage "unexpected argument 'b'" trace stat a b
usage "--top: '-1'" trace stat --top=-1 a
usage "unexpected argument 'b'" trace export a b
usage "unexpected argument 'x'" doctor x
usage "unexpected argument 'x'" info x
usage "where to?" gen-scene
usage "power of two" gen-scene --feature-px 100 x.ppm
usage "--width: '0'" gen-scene --width 0 x.ppm
usage "unexpected argument 'y.ppm'" gen-scene x.ppm y.ppm
expect_no_file x.ppm
