#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Images that are none, as input: status 1 and a text, never a crash or a result.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

refused() {
	expect_rc 1 "$WIC" run --size tiny --input "$@"
	expect_in stderr "$1"
	[[ ! -s stdout ]] || fail "a result from $1"
}

: >empty.ppm
printf 'hello' >text.ppm
printf 'P6\n64 64\n255\n' >short.ppm
printf 'P6\n99999 99999\n255\nabc' >huge.ppm
printf 'P6\n-1 64\n255\nabc' >negative.ppm
printf '\x89PNG\r\n\x1a\n0000' >broken.png
mkdir nothing
for f in empty.ppm text.ppm short.ppm huge.ppm negative.ppm broken.png nothing missing.ppm; do
	refused "$f"
done

expect_rc 0 "$WIC" gen-scene --width 512 --height 512 scene.ppm
expect_rc 0 "$WIC" run --size tiny --input scene.ppm
expect_in stdout "correct"
head -c 5000 scene.ppm >cut.ppm
refused cut.ppm
# Seeds decide what is written, and nothing else does.
expect_rc 0 "$WIC" gen-scene --width 64 --height 64 --seed 2 a.ppm
expect_rc 0 "$WIC" gen-scene --width 64 --height 64 --seed 2 b.ppm
expect_rc 0 "$WIC" gen-scene --width 64 --height 64 --seed 3 c.ppm
cmp -s a.ppm b.ppm || fail "one seed, two scenes"
! cmp -s a.ppm c.ppm || fail "two seeds, one scene"
exit 0
