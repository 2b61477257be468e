#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Rows: each line is JSON with exactly the documented keys, in their order.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v python3 >/dev/null || skip "no python3 to read JSON with"

cat >check.py <<'END'
import json, math, re, sys

BENCH = ["app", "method", "backend", "mode", "size", "threads", "devices", "sms", "tags",
         "producer_delay", "turn_percent", "threads_pinned", "seed", "correct", "t_run_ms", "t_bare_ms",
         "t_prod_ms", "bound_ratio", "tax", "overlap", "speedup_naive", "best_rival",
         "ratio_best", "parked_pct", "checks_per_comm", "consumer_overhead_pct",
         "host_overhead_pct", "commit", "machine", "date"]
PERF = ["test", "backend", "case", "value", "unit", "baseline", "ratio", "lo", "hi", "commit",
        "machine", "date"]
PROBE = ["name", "works", "text", "machine"]
KINDS = {"bench": BENCH, "perf": PERF, "probe": PROBE}

def no_constant(name):
    raise ValueError("not JSON: " + name)

def is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)

def check_bench(r):
    assert r["correct"] is True, r
    assert list(r["t_run_ms"]) == ["p10", "p50", "p90"], r
    t = r["t_run_ms"]
    assert 0 < t["p10"] <= t["p50"] <= t["p90"], r
    for key in ("t_bare_ms", "t_prod_ms", "bound_ratio"):
        assert is_number(r[key]), (key, r)
    own_launch = r["method"] in ("split", "thread-futex")
    assert is_number(r["checks_per_comm"]) != own_launch, r
    for key in ("threads", "devices", "sms", "tags", "turn_percent"):
        assert isinstance(r[key], int) and r[key] > 0, (key, r)
    want = t["p50"] / max(r["t_bare_ms"], r["t_prod_ms"])
    assert abs(r["bound_ratio"] - want) < 0.01 * want, r
    if r["overlap"] is not None:
        want = (r["t_bare_ms"] + r["t_prod_ms"] - t["p50"]) / min(r["t_bare_ms"], r["t_prod_ms"])
        assert abs(r["overlap"] - want) < 0.01 + 0.01 * abs(want), r
    assert (r["method"] == "wic") == (r["mode"] in ("pull", "push")), r
    assert (r["method"] == "wic") == (r["parked_pct"] is not None), r
    if r["method"] == "wic" and r["best_rival"] is not None:
        assert list(r["ratio_best"]) == ["v", "lo", "hi"], r
        assert r["ratio_best"]["lo"] <= r["ratio_best"]["v"] <= r["ratio_best"]["hi"], r
    else:
        assert r["ratio_best"] is None, r

kind, path, want = sys.argv[1], sys.argv[2], int(sys.argv[3])
lines = open(path, encoding="utf-8").read().split("\n")
assert lines.pop() == "", "the last line does not end"
assert len(lines) == want or want < 0, "%d rows, not %d" % (len(lines), want)
for line in lines:
    row = json.loads(line, parse_constant=no_constant)
    assert list(row) == KINDS[kind], "keys: %s" % list(row)
    if "date" in row:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["date"]), row
        assert row["commit"] and row["machine"], row
    if kind == "bench":
        check_bench(row)
    if kind == "perf":
        assert row["lo"] <= row["ratio"] <= row["hi"], row
END

rows() {
	python3 check.py "$@" || fail "rows of $2"
}

# All methods at two R; everything for people goes to stderr when rows go to stdout.
named=naive,leader,warp,split,thread-futex,wic
expect_rc 0 "$WIC" bench "${quick[@]}" --methods $named --producer-delay 0.9,0 --no-out --json - --csv rows.csv
rows bench stdout 12
expect_in stderr "T_bare"
expect_not_in stderr $'\033'
head -n 1 rows.csv | tr ',' '\n' >head.txt
[[ $(wc -l <rows.csv) == 13 ]] || fail "lines of the CSV"
for key in app t_run_ms.p50 ratio_best.hi date; do
	grep -qx "$key" head.txt || fail "no $key in the CSV"
done
# Every field of every row says what the JSON says, in the same order.
python3 - <<'END' || fail "fields of the CSV"
import csv, json

def flat(row):
    for key, value in row.items():
        if isinstance(value, dict):
            for k, v in value.items():
                yield key + "." + k, v
        elif key == "ratio_best":
            for k in ("v", "lo", "hi"):
                yield key + "." + k, None
        else:
            yield key, value

def same(text, value):
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, (int, float)):
        return abs(float(text) - value) < 1e-9
    return text == value

rows = list(csv.reader(open("rows.csv")))
lines = [dict(flat(json.loads(l))) for l in open("stdout")]
assert len(lines) == len(rows) - 1
for fields, line in zip(rows[1:], lines):
    assert rows[0] == list(line), list(line)
    assert len(fields) == len(line), fields
    for key, text in zip(rows[0], fields):
        assert same(text, line[key]), (key, text, line[key])
END

# No methods named: all at the first R; then naive, wic and the best other.
expect_rc 0 "$WIC" bench "${quick[@]}" --producer-delay 0.9,0 --no-out --json few.jsonl
expect_in stdout "to have them everywhere"
python3 - <<'END' || fail "rows of the default methods"
import json
rows = [json.loads(l) for l in open("few.jsonl")]
first = [r["method"] for r in rows if r["producer_delay"] == 0.9]
then = [r["method"] for r in rows if r["producer_delay"] == 0]
best = [r["best_rival"] for r in rows if r["method"] == "wic"][0]
assert first == ["naive", "leader", "warp", "split", "thread-futex", "wic"], first
assert then == [m for m in first if m in ("naive", best, "wic")], (then, best)
END

# The lengths of a turn: R is swept at 100 where that is named, the rest at the first R.
expect_rc 0 "$WIC" bench "${quick[@]}" --methods leader,wic --producer-delay 0.9,0 \
	--turn-percent 25,100,400 --no-out --json turns.jsonl
rows bench turns.jsonl 8
expect_in stdout "Over the length of a turn"
python3 - <<'END' || fail "rows over turns"
import json
rows = [json.loads(l) for l in open("turns.jsonl")]
assert [(r["producer_delay"], r["turn_percent"]) for r in rows[::2]] == \
    [(0.9, 100), (0.9, 25), (0.9, 400), (0, 100)], rows
assert all(r["tax"] is not None for r in rows), rows
END

# 1,088 warps: more than thread-futex takes.  Named alone there is nothing left.
many=(--apps C_SRS --size tiny --tags 136 --sms 17)
why="thread-futex: the launch has 1088 warps, it takes at most 1024"
expect_rc 1 "$WIC" run "${many[@]}" --method thread-futex
expect_in stderr "$why"
expect_in stdout "C_SRS, $why"
expect_rc 0 "$WIC" bench "${many[@]}" --repeat 1 --producer-delay 0.9 \
	--methods thread-futex,leader --no-out --json many.jsonl
expect_in stdout "left out:"
expect_in stdout "$why"
rows bench many.jsonl 1
expect_in many.jsonl '"method":"leader"'
expect_rc 1 "$WIC" bench "${many[@]}" --methods thread-futex --no-out
expect_in stderr "has no method to measure: $why"

# One method alone: there is no rival to compare with, and no naive.
expect_rc 0 "$WIC" bench "${quick[@]}" --methods wic --no-out --json one.jsonl
rows bench one.jsonl 1
expect_in stdout "No verdict"
python3 -c '
import json
r = json.loads(open("one.jsonl").read())
assert r["best_rival"] is None and r["speedup_naive"] is None, r' || fail "a rival out of nothing"

# A budget of nothing cuts all values of R but the first, and says so.
expect_rc 0 "$WIC" bench --size tiny --tags 64 --repeat 1 --methods leader --budget 0 --no-out --json cut.jsonl
rows bench cut.jsonl 1
expect_in cut.jsonl '"app":"C_SRS"'
expect_in stdout "not measured, the budget of 0 s is spent: R = 1.5, 0, 1, 0.5, 3"
expect_rc 0 "$WIC" bench "${quick[@]}" --methods leader --budget 0 --turn-percent 50,200 --no-out --json cut.jsonl
rows bench cut.jsonl 1
expect_in stdout "not measured, the budget of 0 s is spent: turns of % = 200"

expect_rc 0 "$WIC" bench --apps all --size tiny --tags 64 --repeat 1 --methods leader --budget 0 --no-out --json all.jsonl
rows bench all.jsonl 3

# Several channels, a host that takes, two devices; G_BS's R is its kernels' own, so there is
# one point of it.
expect_rc 0 "$WIC" bench --apps C_H3D,G_BS --size tiny --tags 64 --repeat 1 --methods naive,leader,wic \
	"${whole[@]}" --producer-delay 0.9,0 --no-out --json apps.jsonl --csv apps.csv
rows bench apps.jsonl 9
expect_in stdout "At its own R: T_bare"
expect_not_in stdout nan
python3 - <<'END' || fail "rows of C_H3D and G_BS"
import csv, json
rows = [json.loads(line) for line in open("apps.jsonl")]
h3d = [r for r in rows if r["app"] == "C_H3D"]
g_bs = [r for r in rows if r["app"] == "G_BS"]
assert [r["producer_delay"] for r in h3d] == [0.9] * 3 + [0] * 3, h3d
assert [(r["producer_delay"], r["devices"]) for r in g_bs] == [(None, 2)] * 3, g_bs
assert all(r["devices"] == 1 and r["tags"] % (2 * 26 * 25) == 0 for r in h3d), h3d
assert all(r["threads"] % 2 == 0 and r["tags"] % 16 == 0 for r in g_bs), g_bs
assert [r["producer_delay"] for r in csv.DictReader(open("apps.csv"))] == \
	["0.9"] * 3 + ["0"] * 3 + [""] * 3
END

expect_rc 0 "$WIC" run --size tiny --method leader --json
python3 -c 'import json; assert json.load(open("stdout"))["correct"] is True' || fail "wic run --json"
# The counters of a run with wic: all of them, and as far as they must, they agree.
expect_rc 0 "$WIC" run --size tiny --method wic --json
python3 - <<'END' || fail "counters of wic run"
import json
r = json.load(open("stdout"))
assert 0 < r["hits"] + r["parks"] <= r["requests"], r
assert r["faults"] <= r["parks"] <= r["replays"] and r["fills"] > 0, r
assert r["pages_closed"] <= r["faults"] and r["monitor_cpu_ns"] > 0, r
for key in ("batches", "looks", "turns", "fill_bytes", "invalidates", "checks", "pool_waits",
            "publishes", "monitor_sleeps"):
    assert r[key] >= 0, key
assert r["events"] == r["events_lost"] == r["timeouts"] == 0, r
END
expect_rc 0 "$WIC" info --json
python3 -c 'import json; assert "C_SRS" in json.load(open("stdout"))["apps"]' || fail "wic info --json"
expect_rc 0 "$WIC" doctor --json
rows probe stdout -1
[[ ! -s stderr ]] || fail "wic doctor has something to complain of"
expect_rc 0 "$WIC" doctor
expect_in stdout "carries nothing"
# What carries nothing computes nothing.
expect_rc 1 "$WIC" run --size tiny --method wic --backend nil
exit 0
