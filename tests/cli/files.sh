#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Files that cannot be written: said before the measuring where that can be known,
# status 1, and no part of a file that looks like a whole one.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Not writable: known at once, so nothing is measured.
touch plain
expect_rc 1 "$WIC" bench "${quick[@]}" --out plain
expect_in stderr "plain: Not a directory"
expect_not_in stdout "T_bare"
expect_rc 1 "$WIC" bench "${quick[@]}" --out plain/below
expect_in stderr "plain/below"
expect_rc 1 "$WIC" bench "${quick[@]}" --no-out --json missing/rows.jsonl
expect_in stderr "missing/rows.jsonl: No such file or directory"
expect_not_in stdout "T_bare"
mkdir folder
expect_rc 1 "$WIC" bench "${quick[@]}" --no-out --csv folder
expect_in stderr "folder: Is a directory"
expect_rc 1 "$WIC" bench "${quick[@]}" --no-out --json ''
expect_rc 1 "$WIC" run --json=missing/x
expect_in stderr "missing/x: No such file"
expect_rc 1 "$WIC" doctor --json=missing/x
expect_rc 1 "$WIC" info --json=missing/x
expect_rc 1 "$WIC" perf cycle --json missing/x
expect_rc 1 "$WIC" gen-scene --width 64 --height 64 missing/x.ppm
expect_in stderr "missing/x.ppm"
expect_rc 2 "$WIC" gen-scene --width 64 --height 64 x.gif
expect_in stderr "does not end in .ppm or .png"
expect_rc 0 "$WIC" gen-scene --width 64 --height 64 upper.PPM
expect_no_file x.gif

# Full devices: known at the end only.
if [[ -w /dev/full ]]; then
	expect_rc 1 "$WIC" bench "${quick[@]}" --methods wic --no-out --json /dev/full \
		--csv /dev/full
	expect_in stderr "/dev/full: No space left on device"
	[[ $(grep -c "No space left" stderr) == 2 ]] || fail "one of the two was not said"
	[[ -c /dev/full ]] || fail "/dev/full was replaced"
	for c in "info" "info --json" "doctor" "doctor --json" "--help" "--version" "run --size tiny"; do
		rc=0
		# shellcheck disable=SC2086
		"$WIC" $c >/dev/full 2>stderr || rc=$?
		((rc == 1)) || fail "exit status $rc, not 1: wic $c >/dev/full"
		expect_in stderr "stdout"
	done
fi

# As an ordinary user in a folder of somebody else's.
if ((EUID == 0)) && command -v setpriv >/dev/null; then
	mkdir -m 755 closed
	chmod 755 "$dir"
	other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if "${other[@]}" "$WIC" --version >/dev/null 2>&1; then
		expect_rc 1 "${other[@]}" "$WIC" bench "${quick[@]}" --out closed/out
		expect_in stderr "closed/out: Permission denied"
		expect_rc 1 "${other[@]}" "$WIC" bench "${quick[@]}" --out closed
		expect_in stderr "Permission denied"
	fi
fi

# A file system without room: nothing half-written, and an old report stays as it was.
if ((EUID == 0)) && unshare -m true 2>/dev/null; then
	mkdir small
	cat >in_small.sh <<'END'
# One page for what is there, one for all that is new: the report does not fit.
mount -t tmpfs -o size=8k tmpfs small || exit 77
echo old >small/bench.html
"$@" >stdout 2>stderr </dev/null
echo $? >rc
cp small/bench.html kept
find small -name '.*.??????' >left
END
	rc=0
	unshare -m bash in_small.sh "$WIC" bench "${quick[@]}" --methods wic --out small || rc=$?
	if ((rc != 77)); then
		[[ $(cat rc) == 1 ]] || fail "exit status $(cat rc) on a full disk"
		expect_in stderr "No space left on device"
		[[ $(cat kept) == old ]] || fail "the old report was touched"
		[[ ! -s left ]] || fail "left behind: $(cat left)"
	fi
fi

# Drawings as files: our own SVG, and PNG by a gnuplot: a stand-in, so that the test
# needs none and knows what it says.
mkdir bin
draw=(--methods "leader,wic" --producer-delay "0.9,0" --turn-percent "100,200" --plots)
cat >bin/gnuplot <<'END'
#!/bin/sh
cat >>script
echo picture
END
chmod +x bin/gnuplot
PATH=$PWD/bin:$PATH expect_rc 0 "$WIC" bench "${quick[@]}" "${draw[@]}" --out plots
expect_in stdout "plots/*.svg, the curves as *.png too"
for f in methods warps-wic r-bound r-overlap turn-bound turn-overlap; do
	expect_in "plots/C_SRS-$f.svg" 'xmlns="http://www.w3.org/2000/svg"'
	tail -n 1 "plots/C_SRS-$f.svg" | grep -q '</svg>' || fail "C_SRS-$f.svg does not end"
done
for f in r-bound r-overlap turn-bound turn-overlap; do
	[[ $(cat "plots/C_SRS-$f.png") == picture ]] || fail "C_SRS-$f.png"
done
expect_in script 'title "leader"'
expect_in script 'set xtics (100, 200)'
if command -v xmllint >/dev/null; then
	xmllint --noout plots/*.svg || fail "SVG that is not XML"
fi
# One that fails, and none at all.
printf '#!/bin/sh\nexit 3\n' >bin/gnuplot
PATH=$PWD/bin:$PATH expect_rc 1 "$WIC" bench "${quick[@]}" "${draw[@]}" --out failed
expect_in stderr "gnuplot ended with status 3"
[[ -z $(find failed -name '*.png') ]] || fail "a picture out of nothing"
PATH=$PWD/none expect_rc 0 "$(command -v "$WIC")" bench "${quick[@]}" "${draw[@]}" --out without
expect_in stdout "no PNG: gnuplot is not installed"
[[ -z $(find without -name '*.png') ]] || fail "a picture without gnuplot"
mkdir -p taken/C_SRS-methods.svg
expect_rc 1 "$WIC" bench "${quick[@]}" --methods leader --plots --out taken
expect_in stderr "taken/C_SRS-methods.svg: Is a directory"
expect_no_temp .

# And where all is well: whole files, ordinary modes, nothing left.
umask 022
expect_rc 0 "$WIC" bench "${quick[@]}" --methods naive,wic --out new/deep --json rows.jsonl --csv rows.csv
for f in new/deep/bench.html new/deep/bench.jsonl rows.jsonl rows.csv; do
	[[ -s $f ]] || fail "$f is missing or empty"
	[[ $(stat -c %a "$f") == 644 ]] || fail "mode of $f"
done
expect_no_temp .
cmp new/deep/bench.jsonl rows.jsonl || fail "the two files of rows differ"
tail -n 1 new/deep/bench.html | grep -q '</html>' || fail "the page does not end"
for outside in 'src=' 'href=' 'url(' '@import' '<script'; do
	expect_not_in new/deep/bench.html "$outside"
done
exit 0
