#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# The models of the interrupt tree, by spin.
#
#	run.sh quick|full|big [regex of names]	the cases of a mode; full has those of quick too
#	run.sh replay <name>			the shortest counterexample, step by step
#
# A line a case: "ok   name: states, seconds" or "FAIL name: what".  Exit status 1 if one
# failed, 77 without spin.
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# search:	safety; collapse (safety in less memory, slower); bitstate (a part of what is
#		larger than memory); livelock (any cycle); fair (the claim, weak fairness)
# what must happen: "none", or the assertion or cycle that must be found
cases() {
	cat <<'END'
# mode | name | model | search | options | the error
quick | tree_1x2_deadlines | tree | safety | -DWAITS=2 -DEPOCHS=2 -DDEADLINES=1 | none
quick | tree_2x1_deadlines | tree | safety | -DBLOCKS=2 -DWARPS=1 -DWAITS=2 -DEPOCHS=2 -DDEADLINES=1 -DTAGS_BY=ROUND | none
full | tree_1x3_deadlines | tree | safety | -DWARPS=3 -DDEADLINES=1 | none
full | tree_2x1_two_lines | tree | safety | -DBLOCKS=2 -DWARPS=1 -DLINES=2 -DWAITS=2 -DEPOCHS=2 -DDEADLINES=1 -DTAGS_BY=ROUND | none
full | tree_2+1_deadlines | tree | safety | -DBLOCKS=2 -DSTARTED=3 -DDEADLINES=1 | none
full | tree_2x2 | tree | collapse | -DBLOCKS=2 -DTAGS_BY=NONE | none
full | tree_1x2_cancel | tree | safety | -DCANCEL=1 -DDEADLINES=1 | none
full | tree_2+1_cancel | tree | safety | -DBLOCKS=2 -DSTARTED=3 -DCANCEL=1 -DTAGS_BY=NONE | none
full | tree_1x2_stopped | tree | safety | -DPAYLOAD=1 -DEPOCHS=2 -DWAITS=2 | none
full | tree_2x1_peer_stopped | tree | safety | -DBLOCKS=2 -DWARPS=1 -DPEER=1 -DPAYLOAD=1 -DDEADLINES=1 -DWAITS=2 -DTAGS_BY=ROUND | none
full | tree_2+1_peer | tree | safety | -DBLOCKS=2 -DSTARTED=3 -DPEER=1 -DDEADLINES=1 | none
full | tree_1x2_fine | tree | safety | -DFINE -DDEADLINES=1 -DCANCEL=1 | none
full | tree_2x1_fine | tree | safety | -DFINE -DBLOCKS=2 -DWARPS=1 -DDEADLINES=1 -DWAITS=2 -DEPOCHS=2 -DTAGS_BY=ROUND | none
full | tree_1x2_all_deadlines | tree | safety | -DDEADLINES=2 -DWAITS=2 | none
full | tree_1x2_no_livelock | tree | livelock | -DDEADLINES=2 -DCANCEL=1 | none
full | tree_2x1_no_livelock | tree | livelock | -DBLOCKS=2 -DWARPS=1 -DDEADLINES=2 -DCANCEL=1 | none
full | tree_1x2_fair | tree | fair | -DPOLL | none
full | tree_2x1_fair | tree | fair | -DPOLL -DBLOCKS=2 -DWARPS=1 -DTAGS_BY=NONE | none
quick | next_laps | next | safety | | none
full | next_3_consumers | next | safety | -DCONSUMERS=3 -DWAITS=1 -DPUBLISHED=3 | none
full | next_no_livelock | next | livelock | -DPUBLISHED=3 -DWAITS=1 -DCONSUMERS=3 -DSIZE=1 | none
quick | credit_readers | credit | safety | -DLANES=1 | none
full | credit_lanes | credit | safety | -DREADERS=1 | none
full | credit_no_livelock | credit | livelock | -DLANES=1 | none
big | tree_2x2_deadlines | tree | collapse | -DBLOCKS=2 -DTAGS_BY=NONE -DDEADLINES=1 | none
big | tree_2x2_deadlines_cancel | tree | bitstate | -DBLOCKS=2 -DDEADLINES=1 -DCANCEL=1 | none
big | credit_readers_lanes | credit | safety | | none
big | next_3_consumers_2_waits | next | bitstate | -DCONSUMERS=3 | none
#
# Rule 1 of the token rules.
full | arrive_for_all | tree | safety | -DWAITS=2 -DEPOCHS=2 -DDEADLINES=1 -DBROKEN=ARRIVE_FOR_ALL | ==parity[
full | arrive_at_itself | tree | safety | -DBROKEN=ARRIVE_AT_ITSELF | ==parity[
quick | stray_arrive | tree | safety | -DDEADLINES=1 -DBROKEN=STRAY_ARRIVE | ==parity[
full | park_not_owed | tree | safety | -DDEADLINES=1 -DBROKEN=PARK_NOT_OWED | !(lost_wakeup)
# Rule 2.
full | no_owed_park | tree | safety | -DDEADLINES=1 -DBROKEN=NO_OWED_PARK | ==parity[
# Rule 3.
full | word_before_id | tree | safety | -DBROKEN=WORD_BEFORE_ID | watcher[b]!=(w+1)
quick | id_not_compared | tree | safety | -DBROKEN=ID_NOT_COMPARED | !(role_lost)
full | timeout_before_id | tree | safety | -DDEADLINES=1 -DBROKEN=TIMEOUT_BEFORE_ID | watcher[b]!=(w+1)
full | bit_not_set_again | tree | safety | -DBROKEN=BIT_NOT_SET_AGAIN | !(lost_wakeup)
full | watcher_by_inference | tree | safety | -DWAITS=2 -DEPOCHS=2 -DDEADLINES=1 -DBROKEN=WATCHER_BY_INFERENCE | watcher[b]==(w+1)
quick | no_reregistration | tree | safety | -DWAITS=2 -DEPOCHS=2 -DDEADLINES=1 -DBROKEN=NO_REREGISTRATION | word[(w%2)]>=
# Rule 4.
quick | role_without_look | tree | safety | -DBROKEN=ROLE_WITHOUT_LOOK | !(lost_wakeup)
full | winner_does_not_park | tree | safety | -DBROKEN=WINNER_DOES_NOT_PARK | ==parity[
# Rule 5.
full | token_not_taken | tree | safety | -DDEADLINES=1 -DBROKEN=TOKEN_NOT_TAKEN | ==parity[
full | gone_ignored | tree | safety | -DDEADLINES=1 -DBROKEN=GONE_IGNORED | ==parity[
quick | id_after_arrive | tree | safety | -DBROKEN=ID_AFTER_ARRIVE | !(role_lost)
quick | last_does_not_look | tree | safety | -DBROKEN=LAST_DOES_NOT_LOOK | !(role_lost)
full | last_keeps_role | tree | safety | -DBROKEN=LAST_KEEPS_ROLE | watcher[b]!=(w+1)
# Rule 6.
full | deadline_not_checked | tree | safety | -DDEADLINES=2 -DBROKEN=DEADLINE_NOT_CHECKED | !(deadline_missed)
full | own_bit_left | tree | safety | -DDEADLINES=1 -DBROKEN=OWN_BIT_LEFT | ==parity[
full | no_hand_over | tree | safety | -DDEADLINES=1 -DBROKEN=NO_HAND_OVER | watcher[b]!=(w+1)
full | status_late | tree | safety | -DCANCEL=1 -DBROKEN=STATUS_LATE | (told[b]&(1<<w))==0
full | cancel_not_told | tree | safety | -DCANCEL=1 -DBROKEN=CANCEL_NOT_TOLD | (told[b]&(1<<w))==0
# Rule 7.
full | parity_restarts | tree | safety | -DWAITS=2 -DEPOCHS=2 -DBROKEN=PARITY_RESTARTS | ==parity[
# Lines and words.
quick | line_kept | tree | safety | -DBLOCKS=2 -DWARPS=1 -DTAGS_BY=BLOCK -DBROKEN=LINE_KEPT | !(lost_wakeup)
quick | own_tags_only | tree | safety | -DBLOCKS=2 -DWARPS=1 -DTAGS_BY=BLOCK -DBROKEN=OWN_TAGS_ONLY | !(lost_wakeup)
full | line_read_once | tree | safety | -DBLOCKS=2 -DWARPS=1 -DTAGS_BY=BLOCK -DBROKEN=LINE_READ_ONCE | !(lost_wakeup)
full | words_not_seen | tree | safety | -DBLOCKS=2 -DWARPS=1 -DTAGS_BY=BLOCK -DBROKEN=WORDS_NOT_SEEN | !(lost_wakeup)
full | peer_not_seen | tree | safety | -DPEER=1 -DBROKEN=WORDS_NOT_SEEN | !(lost_wakeup)
full | two_owners | tree | safety | -DBLOCKS=2 -DWARPS=1 -DTAGS_BY=BLOCK -DBROKEN=TWO_OWNERS | owners[line]==1
full | two_owners_store | tree | safety | -DBLOCKS=2 -DWARPS=1 -DTAGS_BY=BLOCK -DBROKEN=TWO_OWNERS_STORE | word[(b%2)]>=
full | word_before_payload | tree | safety | -DPAYLOAD=1 -DBROKEN=WORD_BEFORE_PAYLOAD | payload[(w%2)]>=
# The searches for cycles can find one.
full | livelock_is_found | tree | livelock | -DPOLL | non-progress cycle
full | unfair_is_found | tree | fair | -DPOLL -DBROKEN=LAST_DOES_NOT_LOOK | acceptance cycle
# next.
quick | closed_without_cas | next | safety | -DBROKEN=CLOSED_WITHOUT_CAS | !(tag_lost)
full | closer_drops_tag | next | safety | -DBROKEN=CLOSER_DROPS_TAG | !(tag_lost)
full | closed_not_passed | next | safety | -DBROKEN=CLOSED_NOT_PASSED | !(tag_lost)
quick | slot_is_copy | next | safety | -DSIZE=4 -DPUBLISHED=2 -DWAITS=1 -DCONSUMERS=3 -DBROKEN=SLOT_IS_COPY | !(starved)
full | two_queue_owners | next | safety | -DBROKEN=TWO_OWNERS | !(tag_lost)
full | truth_without_lap | next | safety | -DBROKEN=TRUTH_WITHOUT_LAP | was_delivered[tag]==0
full | slot_without_lap | next | safety | -DBROKEN=SLOT_WITHOUT_LAP | (tag>=1)&&(tag<=4)
full | ticket_without_slot | next | safety | -DBROKEN=TICKET_WITHOUT_SLOT | !(tag_lost)
full | tag_not_awaited | next | safety | -DBROKEN=TAG_NOT_AWAITED | !(starved)
full | no_credit | next | safety | -DBROKEN=NO_CREDIT | !(starved)
# Release and credits.
quick | credit_before_reads | credit | safety | -DBROKEN=CREDIT_BEFORE_READS | page[
full | lanes_not_awaited | credit | safety | -DBROKEN=LANES_NOT_AWAITED | page[
full | credit_by_each | credit | safety | -DLANES=1 -DBROKEN=CREDIT_BY_EACH | page[
full | credit_by_tag | credit | safety | -DLANES=1 -DBROKEN=CREDIT_BY_TAG | page[
full | credit_by_watcher | credit | safety | -DLANES=1 -DBROKEN=CREDIT_BY_WATCHER | truth==3
END
}

usage() {
	sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
	exit 2
}

trim() { sed 's/^ *//; s/ *$//' <<<"$1"; }

# seconds_since <time of date +%s%N>
seconds_since() {
	local ms=$((($(date +%s%N) - $1) / 1000000))
	printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100))
}

# build_pan <model> <search> <options> <gcc options...>: pan, here; prints what went wrong.
build_pan() {
	local model=$1 search=$2
	local -a options flags=("${@:4}")
	read -ra options <<<"$3"
	case $search in
	safety) flags+=(-DSAFETY) ;;
	collapse) flags+=(-DSAFETY -DCOLLAPSE) ;;
	bitstate) flags+=(-DSAFETY -DBITSTATE) ;;
	livelock) flags+=(-DNP -DNOFAIR -DNOCLAIM) ;;
	fair) flags+=(-DNFAIR=3 -DCOLLAPSE) ;;
	*) echo "there is no search $search" && return 1 ;;
	esac
	rm -f pan*
	if ! spin -a "${options[@]}" "$here/$model.pml" >spin.log 2>&1; then
		head -n 3 spin.log
		return 1
	fi
	# What spin writes is not ours to keep free of warnings.
	if ! gcc -w "${flags[@]}" -o pan pan.c >gcc.log 2>&1; then
		head -n 3 gcc.log
		return 1
	fi
}

# search <search> <seconds> <log2 of the hash table's size>: into the file out.
search() {
	local -a options=(-m100000 "-w$3")
	case $1 in
	bitstate) options=(-E -m100000 -w33 -k3) ;;
	livelock) options+=(-E -l) ;;
	fair) options+=(-a -f -N no_lost_wakeup) ;;
	*) options+=(-E) ;;
	esac
	timeout -s INT -k 10 "$2" ./pan "${options[@]}" >out 2>&1 || true
}

# What the search in the file out found: an error, and why it is not all that there is.
error_of() {
	sed -nE '/^pan:[0-9]+: /{
		s///
		s/ *\(at depth [0-9]+\).*//
		s/^(assertion violated|claim violated!) *//
		/cycle/!s/ //g
		p
		q
	}' out
}

limit_of() {
	if grep -qE 'reached -DMEMLIM|out of memory' out; then
		echo "the memory limit"
	elif grep -q 'max search depth too small' out; then
		echo "the depth limit"
	elif grep -q 'Interrupted' out; then
		echo "the time limit"
	elif ! grep -q 'states, stored' out; then
		echo "pan broke off: $(tail -n 1 out)"
	fi
}

# run_case <mode> <name> <model> <search> <options> <expected>
run_case() {
	local mode=$1 name=$2 expected=$6 start limit error states level=1 hash=22 seconds=240 memory=3000
	local -a flags
	start=$(date +%s%N)
	# The search must be long to win back what gcc takes: -O2 is one second more than -O1.
	if [[ $expected != none ]]; then
		level=0
		hash=18
	elif [[ $mode == big || $4 == collapse ]]; then
		level=2
		hash=25
	fi
	if [[ $mode == big ]]; then
		seconds=480
		memory=5800
	fi
	flags=("-O$level" "-DMEMLIM=$memory")
	if ! error=$(build_pan "$3" "$4" "$5" "${flags[@]}"); then
		printf 'FAIL %s: %s\n' "$name" "$error"
		return 1
	fi
	search "$4" "$seconds" "$hash"
	error=$(error_of)
	limit=$(limit_of)
	states=$(awk '/states, stored/ { printf "%.0f", $1; exit }' out)
	states="${states:-0} states, $(seconds_since "$start") s"
	if [[ $expected != none ]]; then
		if [[ $error == *"$expected"* ]]; then
			printf 'ok   %s: %s, found %s\n' "$name" "$states" "$error"
			return
		fi
		printf 'FAIL %s: %s, found %s and not %s%s\n' "$name" "$states" "${error:-nothing}" \
			"$expected" "${limit:+, $limit}"
		return 1
	fi
	if [[ -n $error ]]; then
		printf 'FAIL %s: %s, found %s\n' "$name" "$states" "$error"
	elif [[ -z $limit ]]; then
		printf 'ok   %s: %s%s\n' "$name" "$states" \
			"$([[ $4 != bitstate ]] || echo ', by bitstate: maybe not all')"
		return
	elif [[ $mode == big ]]; then
		printf 'ok   %s: %s, a part: %s\n' "$name" "$states" "$limit"
		return
	else
		printf 'FAIL %s: %s, not complete: %s\n' "$name" "$states" "$limit"
	fi
	return 1
}

replay() {
	local mode name model search options expected
	while IFS='|' read -r mode name model search options expected; do
		[[ $(trim "$name") == "$1" ]] || continue
		model=$(trim "$model")
		search=$(trim "$search")
		[[ $search != safety ]] || set -- "$1" -DBFS
		# The trail lies here under the model's name, and spin looks for it beside the model.
		cp "$here/$model.pml" .
		build_pan "$model" "$search" "$options" -O1 "${@:2}" || return
		search "$search" 240 22
		read -ra options <<<"$options"
		ls ./*.trail >/dev/null 2>&1 || { echo "there is no error" && return; }
		spin -t -p -g -l "${options[@]}" "$model.pml"
		return
	done < <(cases | grep -v '^#')
	echo "there is no case $1"
	return 1
}

[[ $# -ge 1 && $# -le 2 ]] || usage
[[ $1 == quick || $1 == full || $1 == big || $1 == replay && $# == 2 ]] || usage
if ! command -v spin >/dev/null || ! command -v gcc >/dev/null; then
	echo "skip: there is no $(command -v spin >/dev/null && echo gcc || echo spin)"
	exit 77
fi
scratch=$(mktemp -d)
trap 'cd /; rm -rf "$scratch"' EXIT
cd "$scratch"
if [[ $1 == replay ]]; then
	replay "$2"
	exit
fi

status=0
count=0
while IFS='|' read -r mode name model search options expected; do
	mode=$(trim "$mode")
	name=$(trim "$name")
	[[ $mode == "$1" || $1 == full && $mode == quick ]] || continue
	[[ $name =~ ${2:-.} ]] || continue
	count=$((count + 1))
	run_case "$mode" "$name" "$(trim "$model")" "$(trim "$search")" "$options" \
		"$(trim "$expected")" || status=1
done < <(cases | grep -v '^#')
[[ $count != 0 ]] || { echo "FAIL: there is no such case" && status=1; }
exit $status
