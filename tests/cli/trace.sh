#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# wic trace: what is recorded, exported and said fits together; broken files are refused.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Without a name: the help of each part, and which there are.
expect_rc 0 "$WIC" trace --help
for part in record export stat; do
	expect_in stdout "$part"
done
for part in record export stat; do
	expect_rc 0 "$WIC" trace "$part" --help
	expect_in stdout "Usage: wic trace $part"
	expect_in stdout "Exit status"
done

expect_rc 0 "$WIC" trace record --apps C_SRS --method wic --size tiny --producer-delay 3 \
	--output wic.trace
expect_in stdout "C_SRS, wic: correct"
expect_in stdout "written: wic.trace"
expect_rc 0 "$WIC" trace record --method naive --producer-delay 3 --output naive.trace
expect_rc 0 "$WIC" trace record --method none --producer-delay ready --output none.trace
# Rings that are too small lose the oldest, and say so.
expect_rc 0 "$WIC" trace record --sms 1 --events 256 --output small.trace
expect_in stderr "the ring was too small"
for f in wic naive none small; do
	[[ $(stat -c %a $f.trace) == 644 ]] || fail "mode of $f.trace"
done
expect_no_temp .

# Everything for people; no colour off a terminal, nothing on stderr.
expect_rc 0 "$WIC" trace stat wic.trace
expect_in stdout "C_SRS, wic: correct"
expect_in stdout "no event was lost"
expect_in stdout "parked"
expect_in stdout "longest waits, 10 of "
expect_not_in stdout $'\033'
[[ ! -s stderr ]] || fail "stat writes to stderr"
expect_rc 0 "$WIC" trace stat --top 0 wic.trace
expect_not_in stdout "longest waits"
expect_rc 0 "$WIC" trace stat small.trace
expect_in stdout "events are lost, the oldest: the ring held 256 an SM"
expect_rc 0 "$WIC" trace stat none.trace
expect_in stdout "park 0, wake 0"

# To stdout, by pipe, and under the default name.
expect_rc 0 "$WIC" trace record --output -
expect_in stderr "C_SRS, wic: correct"
cp stdout piped.trace
expect_rc 0 "$WIC" trace stat piped.trace
mkfifo pipe
cat wic.trace >pipe &
expect_rc 0 "$WIC" trace stat pipe
expect_in stdout "C_SRS, wic: correct"
wait
expect_rc 0 "$WIC" trace export wic.trace
expect_in stdout "written: wic.trace.json"
expect_rc 0 "$WIC" trace export wic.trace --json -
cmp stdout wic.trace.json || fail "stdout and file differ"

# Refused: nothing is written, what was there stays.
refused() {
	expect_rc 1 "$WIC" trace stat "$1"
	expect_in stderr "cannot read $1: $2"
	[[ ! -s stdout ]] || fail "stat of $1 writes to stdout"
	expect_rc 1 "$WIC" trace export "$1" --json out.json
	expect_in stderr "cannot read $1: $2"
	expect_no_file out.json
	expect_no_temp .
}
bytes=$(stat -c %s wic.trace)
refused missing.trace "No such file or directory"
mkdir folder
refused folder "Is a directory"
: >empty.trace
refused empty.trace "it is empty"
printf 'P6\n64 64\n255\n' >scene.ppm
refused scene.ppm "it is no trace of wic"
head -c 100 wic.trace >head.trace
refused head.trace "cut off: 100 of the 672 bytes of its head"
head -c $((bytes - 1)) wic.trace >cut.trace
refused cut.trace "cut off: "
{ cat wic.trace && echo; } >long.trace
refused long.trace "damaged: bytes follow"
cp wic.trace changed.trace
printf 'x' | dd of=changed.trace bs=1 seek=$((bytes - 40)) conv=notrunc status=none
refused changed.trace "damaged: the sum of its events is wrong"
cp wic.trace later.trace
printf '\002' | dd of=later.trace bs=1 seek=8 conv=notrunc status=none
refused later.trace "a trace of version 2, this wic reads version 1"

# Not writable: known before the run; a full device at the end.
expect_rc 1 "$WIC" trace record --output missing/x
expect_in stderr "missing/x: No such file"
expect_rc 1 "$WIC" trace export wic.trace --json missing/x
expect_in stderr "missing/x: No such file"
expect_rc 1 "$WIC" trace stat wic.trace --json=missing/x
expect_in stderr "missing/x: No such file"
if [[ -w /dev/full ]]; then
	expect_rc 1 "$WIC" trace record --output /dev/full
	expect_in stderr "/dev/full: No space left on device"
	expect_rc 1 "$WIC" trace export wic.trace --json /dev/full
	expect_in stderr "/dev/full: No space left on device"
	rc=0
	"$WIC" trace stat wic.trace >/dev/full 2>stderr || rc=$?
	((rc == 1)) || fail "exit status $rc, not 1: trace stat >/dev/full"
fi

command -v python3 >/dev/null || exit 0
cat >check.py <<'END'
import collections, json, sys

def no_constant(name):
    raise ValueError("not JSON: " + name)

def ns(us):
    """Times are written in us with all their digits: back to whole ns."""
    assert abs(us * 1e3 - round(us * 1e3)) < 1e-3, us
    return round(us * 1e3)

name = sys.argv[1]
stat = json.load(open(name + ".stat"), parse_constant=no_constant)
doc = json.load(open(name + ".json"), parse_constant=no_constant)
run_ns = round(stat["run_ms"] * 1e6)
spans, wakes, parked, names = collections.defaultdict(list), 0, [], {}
for e in doc["traceEvents"]:
    lane = (e["pid"], e.get("tid"))
    if e["ph"] == "M":
        assert e["args"], e
        names[(e["name"],) + lane] = e["args"]
    elif e["ph"] == "X":
        assert e["name"] in stat["states"] and e["dur"] >= 0, e
        if e["name"] in ("looking", "parked") and "tag" in e["args"]:
            assert list(e["args"]) == ["channel", "tag", "epoch"], e
            assert e["args"]["tag"] < stat["tags"] and e["args"]["epoch"] > 0, e
        spans[lane].append((ns(e["ts"]), ns(e["dur"]), e["name"]))
    elif e["ph"] == "i":
        assert e["name"] == "wake" and e["s"] == "t", e
        wakes += 1
    else:
        assert e["ph"] == "C", e
        parked.append((ns(e["ts"]), e["args"]["parked"]))

# A lane's spans follow each other, the next begins where the last ended, in [0, end].
sums, counts = collections.Counter(), collections.Counter()
for lane, list_ in spans.items():
    assert ("thread_name",) + lane in names and ("process_name", lane[0], None) in names, lane
    at = list_[0][0]
    assert at >= 0, list_[0]
    for start, length, state in list_:
        assert start == at, (lane, start, at)
        at = start + length
        sums[state] += length
        counts[state] += 1
    assert at <= run_ns, (lane, at, run_ns)

# The export and the figures are of one trace.
assert wakes == stat["kinds"]["wake"]
# Of a warp whose other events were lost, DONE alone makes no span.
assert len(spans) == stat["warps"] or name == "small"
for state, s in stat["states"].items():
    assert (sums[state], counts[state]) == (s["sum_ns"], s["count"]), (state, s)
    assert s["p50_ns"] <= s["p90_ns"] <= s["p99_ns"] <= s["max_ns"] <= s["sum_ns"] + (not s["count"]), s
assert abs(sum(s["pct"] for s in stat["states"].values()) - 100) < 1e-6
assert sum(stat["kinds"].values()) == stat["events"]
waits = stat["states"]["parked"]["sum_ns"] + stat["states"]["looking"]["sum_ns"]
assert sum(w["sum_ns"] for w in stat["waits"]) == waits and len(stat["waits"]) == stat["wait_tags"]
assert all(a["sum_ns"] >= b["sum_ns"] for a, b in zip(stat["waits"], stat["waits"][1:]))

# The counter: time goes on, its area is the time parked, and at the end nobody is.
assert parked[0] == (0, 0) and parked[-1][1] == 0, parked[-1]
assert all(a[0] < b[0] for a, b in zip(parked, parked[1:]))
assert all(0 <= n <= stat["warps"] for _, n in parked)
area = sum(a[1] * (b[0] - a[0]) for a, b in zip(parked, parked[1:]))
assert area == sums["parked"], (area, sums["parked"])

kinds, states = stat["kinds"], stat["states"]
if name == "small":
    assert stat["events"] == 256 and stat["events_lost"] > 0, stat
else:
    assert stat["events_lost"] == 0 and stat["correct"] is True, stat
    assert stat["warps_done"] == stat["warps"] == kinds["done"], stat
if name == "wic":
    # Each wake ends a park and is followed by a turn; who waited for pages parks twice.
    assert 0 < kinds["wake"] == states["ready"]["count"] <= kinds["park"], kinds
    assert kinds["look"] == 0, kinds
if name == "naive":
    # Its looks depend on who came first; that a warp stops at the block's barrier does not.
    assert kinds["park"] > 0 and kinds["wake"] == 0, kinds
if name == "none":
    assert kinds["compute"] == kinds["done"] and kinds["park"] == 0, kinds
END
for f in wic naive none small; do
	expect_rc 0 "$WIC" trace stat $f.trace --top 1000 --json=$f.stat
	expect_rc 0 "$WIC" trace export $f.trace --json $f.json
	python3 check.py $f || fail "trace of $f"
done
exit 0
