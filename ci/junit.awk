# SPDX-License-Identifier: MIT OR GPL-2.0
# Reads what `ctest --output-junit` wrote, prints one line a result:
#
#	passed <n>			test cases that passed in one program
#	skipped <test>: <why>
#	failed <test>: <how>		followed by the end of its output, indented
#
# A test program says "ok   <case>" and "skip <case>: <why>"; one that says
# neither is one case.

function text(s)
{
	gsub(/&lt;/, "<", s)
	gsub(/&gt;/, ">", s)
	gsub(/&quot;/, "\"", s)
	gsub(/&apos;/, "'", s)
	gsub(/&#10;/, "\n", s)
	gsub(/&amp;/, "\\&", s)
	return s
}

function attribute(line, key,	at)
{
	at = index(line, " " key "=\"")
	if (!at)
		return ""
	line = substr(line, at + length(key) + 3)
	return text(substr(line, 1, index(line, "\"") - 1))
}

function output_line(line)
{
	line = text(line)
	if (line ~ /^ok +[^ ]/)
		oks++
	else if (line ~ /^skip [^ :]+: ./)
		reasons[skips++] = substr(line, 6)
	if (line !~ /^[ \t]*$/)
		lines[count++] = line
}

function finish(	i)
{
	if (status == "fail") {
		print "failed " name ": " (how != "" ? how : (count ? "see below" : "no output"))
		for (i = count > 40 ? count - 40 : 0; i < count; i++)
			print "\t" lines[i]
		return
	}
	for (i = 0; i < skips; i++)
		print "skipped " name "/" reasons[i]
	if (status == "skip" && !skips)
		print "skipped " name ": " (count ? lines[count - 1] : "it gave no reason")
	else if (status == "run" && (oks || !skips))
		print "passed " (oks ? oks : 1)
}

/<testcase / {
	name = attribute($0, "name")
	status = attribute($0, "status") == "run" ? "run" : "fail"
	how = ""
	oks = skips = count = inside = 0
}
/<failure / && !inside { how = attribute($0, "message") }
/<skipped / && !inside {
	how = attribute($0, "message")
	status = how ~ /^SKIP_/ ? "skip" : "fail"
}
/<disabled / && !inside { status = "fail"; how = "disabled" }
/<system-out>/ && !inside {
	sub(/^.*<system-out>/, "")
	inside = 1
}
inside {
	line = $0
	if (sub(/<\/system-out>.*/, "", line))
		inside = 0
	output_line(line)
}
/<\/testcase>/ && !inside { finish() }
