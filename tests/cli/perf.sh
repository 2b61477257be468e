#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# wic perf: the rows of each test at small sizes.  The figures themselves are recorded,
# not tested, as they depend on the machine.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

expect_rc 0 "$WIC" perf cycle --repeat 1 --tags 256 --json cycle.jsonl
expect_in stdout "request-release-hit"
expect_in stdout "park-fill-replay/mprotect"
expect_rc 0 "$WIC" perf engine --repeat 1 --pages-max 4096 --pending-max 64 --json engine.jsonl
expect_in stdout "request/scattered/pages-4096"
expect_in stdout "same-tag/pending-64"
expect_rc 0 "$WIC" perf latency --repeat 1 --samples 20 --idle-ms 1000 --json latency.jsonl
expect_in stdout "of the waits parked"
expect_rc 0 "$WIC" perf rate --repeat 1 --samples 20 --rates 1000,4000 --json rate.jsonl
expect_in stdout "load-1000/p99.9"
expect_rc 0 "$WIC" perf interference --repeat 1 --work 2 --json interference.jsonl
expect_in stdout "gather/w1000/t32/slowest/wic"

expect_rc 0 "$WIC" perf record --repeat 1 --tags 256 --size tiny --json record.jsonl
expect_in stdout "C_SRS, wic"

expect_rc 0 "$WIC" perf tree --repeat 1 --samples 20 --json tree.jsonl
expect_in stdout "hand-over/200us/p50"
expect_rc 0 "$WIC" perf api --backend nil --repeat 2 --json api.jsonl
expect_in stdout "ns are the API's"
expect_rc 1 "$WIC" perf api --backend cpu
expect_in stderr "measures the back-end nil, not cpu"

# Of stdout and a file alike: text goes to stderr, rows to stdout.
expect_rc 0 "$WIC" perf engine --repeat 1 --pages-max 1024 --pending-max 16 --json -
expect_not_in stdout "interval"
expect_in stderr "interval"

command -v python3 >/dev/null || exit 0
python3 - <<'END' || fail "rows of perf"
import json

def rows_of(test):
    rows = [json.loads(line) for line in open(test + ".jsonl")]
    for r in rows:
        assert list(r) == ["test", "backend", "case", "value", "unit", "baseline", "ratio", "lo",
                           "hi", "commit", "machine", "date"], r
        assert r["test"] == test and r["backend"] == ("nil" if test == "api" else "cpu"), r
        assert r["value"] > 0, r
        if r["unit"] == "%":
            assert r["baseline"] is None and r["ratio"] is None, r
        else:
            assert r["baseline"] > 0, r
    cases = [r["case"] for r in rows]
    assert len(set(cases)) == len(cases), cases
    return {r["case"]: r for r in rows}

assert len(rows_of("cycle")) in (2, 3)

tree = rows_of("tree")
for name in "watcher", "parked", "other-line", "hand-over", "32-waiters", "wait-word":
    for gap in 0, 200:
        q = [tree[f"{name}/{gap}us/{p}"]["value"] for p in ("p50", "p90", "p99")]
        assert q == sorted(q), (name, q)

assert set(rows_of("api")) == {"stage+publish", "producer-stage+publish", "publish", "publish-range-16",
                              "host-wait", "host-request+release"}

engine = rows_of("engine")
# Two sizes of five costs over pages, two of three over pending.
assert len(engine) == 2 * 5 + 2 * 3, engine.keys()
for name in "request", "publish", "take+give", "request/scattered", "publish/scattered":
    assert engine[name + "/pages-1024"]["ratio"] == 1, name
assert engine["same-tag/pending-16"]["ratio"] == 1

latency = rows_of("latency")
for kind in "wait", "request":
    for waiters in 1, 32:
        for gap in 0, 20, 200:
            name = f"{kind}-{waiters}/{gap}us/"
            q = [latency[name + p]["value"] for p in ("p50", "p90", "p99", "p99.9", "max")]
            assert q == sorted(q), (name, q)
            assert (name + "p50/spin" in latency) == (waiters == 1), name
            assert latency[name + "max"]["ratio"] is None
            # The time limit of a wait.
            assert q[-1] < 20e6, (name, q)
assert latency["first-after-idle/p50"]["value"] <= latency["first-after-idle/p90"]["value"]
# A Monitor that polled would take all of a core; what it takes is a figure (bench/results).
assert latency["idle-monitor"]["value"] <= 20, latency["idle-monitor"]

rate = rows_of("rate")
assert len(rate) == 2 + 2 * 5, rate.keys()
assert rate["load-1000/achieved"]["baseline"] == 1000
q = [rate["load-1000/" + p]["value"] for p in ("p50", "p90", "p99", "p99.9")]
assert q == sorted(q), q

interference = rows_of("interference")
want = {f"{work}/w{w}/t{t}/{what}/{method}" for work in ("fma", "stream", "l1", "gather")
        for w in (32, 1000) for t in (1, 32) for what in ("mean", "slowest")
        for method in ("naive", "leader", "wic")}
assert set(interference) == want, want ^ set(interference)
for name, r in interference.items():
    if "/mean/" in name:
        assert r["value"] <= interference[name.replace("mean", "slowest")]["value"], r

record = rows_of("record")
assert list(record) == ["park-fill-replay", "C_SRS, wic"], record
for r in record.values():
    # With one pair the interval is a point, and what it says is the quotient of the two.
    assert abs(r["ratio"] - r["value"] / r["baseline"]) < 0.01 * r["ratio"], r
END
exit 0
