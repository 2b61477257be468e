# SPDX-License-Identifier: MIT OR GPL-2.0
# Reads the instructions of a kernel, 16 bytes each, as `od -An -v -tx4 -w16` prints them:
# there need be no cuobjdump.  Encodings are those of sm_75 to sm_90; -v arch=80 or 90.
#
#	-v want=hit      instructions from entry to the acquire, the shortest way, calls left
#	                 out: a hit.  What only fetches arguments or numbers of the thread
#	                 (LDC, ULDC, S2R, moves from constant memory) and NOPs are not counted.
#	-v want=loops    loads and stores of local memory inside loops that compute (FFMA)

function hex(s,	i, v) {
	for (i = 1; i <= length(s); i++)
		v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}

{
	op[n] = substr($1, 6)
	always[n] = substr($1, 5, 1) == "7"
	if (op[n] == "947") {
		# A signed offset of 48 bits in words from the next instruction; sm_90 has 8 more.
		v = int(hex($2) / 4) + (hex($3) % 262144) * 1073741824
		if (v >= 140737488355328)
			v -= 281474976710656
		if (arch >= 90)
			v = v * 256 + hex(substr($1, 3, 2))
		to[n] = n + 1 + v / 4
	}
	move[n] = op[n] == "a02" || op[n] == "624" && substr($1, 1, 2) == "ff"
	n++
}

function counts(i) {
	return op[i] !~ /^(b82|ab9|919|9c3|918)$/ && !move[i]
}

# The least that is counted from i to the acquire (CCTL), or a lot.
function way(i, sum) {
	for (; i < n && sum < 1000; i++) {
		if (op[i] == "98f")
			return sum + 1
		if (op[i] ~ /^(943|944|950)$/ || op[i] == "94d" && always[i])
			break
		sum += counts(i)
		if (op[i] != "947")
			continue
		if (to[i] <= i)
			break
		if (!always[i])
			return least(way(to[i], sum), way(i + 1, sum))
		i = to[i] - 1
	}
	return 1000
}

function least(a, b) { return a < b ? a : b }

END {
	if (want == "hit") {
		print way(0, 0)
		exit
	}
	for (i in to) {
		if (to[i] > i)
			continue
		ffma = spills = 0
		for (j = to[i]; j <= i; j++) {
			ffma += op[j] ~ /^[28a]23$/
			spills += op[j] ~ /^(983|387|987)$/
		}
		if (ffma) {
			loops++
			all += spills
		}
	}
	print loops + 0, all + 0
}
