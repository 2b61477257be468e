#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# The conformance programs where little is allowed.
#
#	tests/conform/sandbox.sh user|namespace FILTER_RUN PROGRAM...
#
# user: as an ordinary user without privileges.  namespace: in a user namespace as uid 65534,
# under a seccomp filter, with every file system read-only and a /dev of null, zero and urandom:
# no /dev/shm, no /dev/userfaultfd.  There once with userfaultfd and once without.
# Exit status 77: not possible here, with the reason.
#
# What the inner shells run stays as it is:
# shellcheck disable=SC2016
set -euo pipefail

kind=$1 filter=$2
shift 2
# Leaks are looked for with ptrace, which the filter refuses.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
unset WIC_MECHANISM

skip() { echo "skip: $*" && exit 77; }

# programs <command...>: each program under it; the number of failures is the status.
programs() {
	local program failed=0 status
	for program in "${list[@]}"; do
		status=0
		"$@" "$program" >"$log" 2>&1 || status=$?
		case $status in
		0) echo "ok   ${program##*/}" ;;
		77) echo "skip ${program##*/}" && cat "$log" ;;
		*)
			echo "FAIL ${program##*/}: exit status $status" && tail -n 20 "$log"
			failed=$((failed + 1))
			;;
		esac
	done
	return "$failed"
}

as_user() {
	local as=()
	if [[ $(id -u) == 0 ]]; then
		command -v setpriv >/dev/null || skip "there is no setpriv to become an ordinary user"
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --no-new-privs)
		"${as[@]}" test -x "$filter" || skip "uid 65534 may not read $filter"
	fi
	programs "${as[@]}" env
}

# What the inner shell does before it gives up its rights: argument 1 is an empty directory.
make_namespace='
set -euo pipefail
empty=$1
shift
mount -t tmpfs tmpfs "$empty"
for node in null zero urandom; do
	: >"$empty/$node"
	mount --bind "/dev/$node" "$empty/$node"
done
mount --rbind "$empty" /dev
# Flags that came with a mount stay on it, or the kernel refuses.
while read -r _ _ _ _ where flags _; do
	case $where in /proc* | /sys*) continue ;; esac
	[[ -e $where ]] || continue
	mount -o "remount,bind,ro,${flags#r[ow],}" "$(printf %b "$where")" 2>/dev/null || true
done <<<"$(cat /proc/self/mountinfo)"
exec unshare -U --map-user=65534 --map-group=65534 "$@"'

in_namespace() {
	local with failed=0
	command -v unshare >/dev/null || skip "there is no unshare"
	unshare -Urm bash -c "$make_namespace" bash "$empty" true 2>"$log" ||
		skip "no user namespace here: $(tail -n 1 "$log")"
	check_namespace
	for with in "" --no-userfaultfd; do
		echo "in a namespace ${with:-with userfaultfd}:"
		programs unshare -Urm bash -c "$make_namespace" bash "$empty" "$filter" \
			${with:+"$with"} || failed=1
	done
	return "$failed"
}

# The sandbox is what it says it is, or nothing that follows means anything.
check_namespace() {
	unshare -Urm bash -c "$make_namespace" bash "$empty" "$filter" "$BASH" -c '
		fail() { echo "the sandbox is none: $*" && exit 1; }
		[[ $(id -u) == 65534 ]] || fail "uid $(id -u)"
		for place in / "$1" /tmp /var/tmp "$HOME" /dev; do
			! touch "$place/wic-sandbox" 2>/dev/null || fail "$place can be written to"
		done
		[[ ! -e /dev/shm && ! -e /dev/userfaultfd ]] || fail "/dev has what it should not"
		grep -q "^Seccomp:.*2" /proc/self/status || fail "no filter"
		grep -q "^CapEff:.*[^0[:space:]]" /proc/self/status && fail "capabilities"
		exit 0' bash "${filter%/*}"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log empty=$work/empty
mkdir "$empty"
list=("$@")
case $kind in
user) as_user ;;
namespace) in_namespace ;;
*) echo "unknown kind $kind" && exit 2 ;;
esac
