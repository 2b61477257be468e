# SPDX-License-Identifier: MIT OR GPL-2.0
# Helpers of the command's tests.  $WIC is the command; each test runs in a folder of
# its own, which is removed at the end.
# shellcheck shell=bash
set -u

: "${WIC:?set WIC to the wic command}"
WIC=$(realpath "$WIC")
# What a user's environment says must not decide these tests.
for name in $(compgen -e | grep '^WIC_' || true); do
	unset "$name"
done
dir=$(mktemp -d)
cd "$dir" || exit 1
trap 'cd /; rm -rf "$dir"' EXIT

# A run that measures next to nothing, but all of it: under a sanitizer on a loaded machine
# the default budget has cut points.
whole=(--budget 1e6)
quick=(--apps C_SRS --size tiny --tags 64 --repeat 1 --producer-delay 0.9 "${whole[@]}")

fail() {
	printf 'FAIL: %s\n' "$*" >&2
	[[ -s stdout ]] && sed 's/^/  stdout: /' stdout | head -n 30 >&2
	[[ -s stderr ]] && sed 's/^/  stderr: /' stderr | head -n 30 >&2
	exit 1
}

# expect_rc <status> <command...>: run it, keep stdout and stderr.
expect_rc() {
	local want=$1 got=0
	shift
	"$@" >stdout 2>stderr </dev/null || got=$?
	((got == want)) || fail "exit status $got, not $want: $*"
}

# expect_in <file> <text>
expect_in() {
	grep -qF -- "$2" "$1" || fail "no '$2' in $1"
}

expect_not_in() {
	! grep -qF -- "$2" "$1" || fail "'$2' in $1"
}

expect_no_file() {
	[[ ! -e $1 ]] || fail "$1 is there"
}

# Half-written files are named .<name>.XXXXXX.
expect_no_temp() {
	local left
	left=$(find "$1" -name '.*.??????' 2>/dev/null)
	[[ -z $left ]] || fail "left behind: $left"
}

skip() {
	printf 'skip: %s\n' "$*"
	exit 77
}
