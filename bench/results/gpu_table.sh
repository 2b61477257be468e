#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# README's table of a GPU, from the rows of `wic perf` that are recorded here.
#
#	bench/results/gpu_table.sh PREFIX	prints it; PREFIX as in PREFIX-latency.jsonl
#	bench/results/gpu_table.sh --check	is README's table that of the prefix it names?
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
readme=$here/../../README.md

table() {
	cat "$here/$1"-{interference,latency,rate}.jsonl | awk -v prefix="$1" '
		function field(name,	at, rest) {
			at = index($0, "\"" name "\":")
			rest = substr($0, at + length(name) + 3)
			sub(/^"/, "", rest)
			sub(/["]?[,}].*/, "", rest)
			return rest
		}
		{
			name = field("test") " " field("case")
			value[name] = field("value")
			unit[name] = field("unit")
			ratio[name] = sprintf("%.3f [%.3f, %.3f]", field("ratio"), field("lo"), field("hi"))
		}
		function of(work, method,	w, text, sep) {
			for (w = 15; w <= 28; w += 13) {
				text = text sep ratio["interference " work "/w" w "/t1/mean/" method]
				sep = " / "
			}
			return text
		}
		function row(text, name) {
			printf "| %s | %.2f %s | %s |\n", text, value[name], unit[name], ratio[name]
		}
		END {
			print "<!-- made by bench/results/gpu_table.sh " prefix " -->"
			print "What waiting costs the warps that compute: their time, 15 / 28 of 32 warps of each block"
			print "waiting, over that with those warps at a plain barrier."
			print ""
			print "| the others compute | `wic` | `leader` | `leader-acq` | `warp` | `one-word` |"
			print "|---|---|---|---|---|---|"
			split("fma stream l1-16k l1-64k gather tensor", works, " ")
			for (i = 1; i <= 6; i++)
				printf "| %s | %s | %s | %s | %s | %s |\n", works[i], of(works[i], "wic"),
					of(works[i], "leader"), of(works[i], "leader-acq"), of(works[i], "warp"),
					of(works[i], "one-word")
			print ""
			print "Round trip, the host publishes until it sees the store of the warp, over one that spins at a pinned word:"
			print ""
			print "| | p50 | over the spin |"
			print "|---|---|---|"
			split("0 20 200", gaps, " ")
			split("watcher parked other-line write-value", cases, " ")
			for (c = 1; c <= 4; c++)
				for (g = 1; g <= 3; g++)
					row(cases[c] ", " gaps[g] " us between publishes",
					    "latency " cases[c] "/" gaps[g] "us/p50")
			print ""
			print "| | | over the other |"
			print "|---|---|---|"
			row("all warps of the GPU, each its own tag, 200 rounds / the producer alone", "rate parked/run")
			row("tags seen by parked warps / published by the producer alone", "rate parked/tags")
			row("host-to-device copies beside waiting blocks / undisturbed", "rate copy/beside-waiting-blocks")
		}'
}

if [[ ${1-} != --check ]]; then
	table "${1:?a prefix}"
	exit
fi
prefix=$(sed -n 's/^<!-- made by bench\/results\/gpu_table.sh \(.*\) -->$/\1/p' "$readme")
[[ -n $prefix ]] || { echo "README.md: no table made by bench/results/gpu_table.sh" && exit 1; }
diff <(table "$prefix") <(sed -n '/^<!-- table: gpu -->$/,/^<!-- end -->$/p' "$readme" | sed '1d;$d') >&2 ||
	{ echo "README.md: its table is not what bench/results/gpu_table.sh $prefix prints" && exit 1; }
echo "ok   gpu table"
