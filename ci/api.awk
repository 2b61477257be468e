# SPDX-License-Identifier: MIT OR GPL-2.0
# The functions that the public headers declare.  mode=list: "file:line name"
# each; mode=docs: one line for each thing that its kernel-doc lacks.
#
# Names that end in _ are internal, and so are wic_t_..., the primitives of tree.h, which whoever
# includes it gives.  What only nvcc sees is left out: its twins
# for a C compiler carry the documentation.

function trim(s)
{
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

function name_of(s)
{
	s = trim(substr(s, 1, index(s, "(") - 1))
	return match(s, /[A-Za-z_][A-Za-z0-9_]*$/) ? substr(s, RSTART) : ""
}

function lacks(what)
{
	print FILENAME ":" FNR ": " fn "(): " what
}

# Checks the documentation @text of the declaration @s of @fn.
function check(s, text,	part, n, i, returns)
{
	if (text !~ ("^" fn "\\(\\) - ")) {
		lacks("no kernel-doc that starts with its name right above it")
		return
	}
	if (text !~ /(^|\n)Context: [^\n]/)
		lacks("the kernel-doc has no Context:")
	returns = substr(s, 1, index(s, fn) - 1)
	if (returns !~ /(^|[ \t])void[ \t]*$/ && text !~ /(^|\n)Return: [^\n]/)
		lacks("the kernel-doc has no Return:")
	s = substr(s, index(s, "(") + 1)
	sub(/\)[^)]*$/, "", s)
	sub(/\)[ \t]*$/, "", s)
	n = split(s, part, ",")
	for (i = 1; i <= n; i++) {
		gsub(/\[[^]]*\]/, "", part[i])
		part[i] = trim(part[i])
		if (part[i] == "void" || part[i] == "" || !match(part[i], /[A-Za-z_][A-Za-z0-9_]*$/))
			continue
		part[i] = substr(part[i], RSTART)
		if (text !~ ("(^|\n)@" part[i] ": "))
			lacks("the kernel-doc does not name @" part[i])
	}
}

function statement(s)
{
	gsub(/WIC_MUST_CHECK/, "", s)
	s = trim(s)
	if (s !~ /\(/ || s ~ /^(typedef|struct [a-z_]+$)/)
		return
	fn = name_of(s)
	if (fn !~ /^wic_/ || fn ~ /^wic_t_/ || fn ~ /_$/)
		return
	if (mode == "list")
		print FILENAME ":" FNR " " fn
	else
		check(s, doc)
}

FNR == 1 {
	depth = in_comment = in_macro = cuda = 0
	code = doc = ""
}

# Preprocessor lines, and what only nvcc sees.
in_macro || (/^[ \t]*#/ && !in_comment) {
	if (!in_macro) {
		if (cuda && /^#[ \t]*if/)
			cuda++
		else if (/^#ifdef __CUDACC__/)
			cuda = 1
		else if (cuda == 1 && /^#[ \t]*(else|endif)/)
			cuda = 0
		else if (cuda && /^#[ \t]*endif/)
			cuda--
	}
	in_macro = /\\$/
	next
}
cuda { next }

# Comments; a kernel-doc one is kept until the next statement.
!in_comment && /^[ \t]*\/\*/ {
	in_comment = 1
	is_doc = /^\/\*\*([^*]|$)/
	if (is_doc)
		doc = ""
	else if (!depth && code == "")
		doc = ""
}
in_comment {
	line = $0
	if (line ~ /\*\//)
		in_comment = 0
	sub(/^[ \t]*\/?\*+\/?[ \t]?/, "", line)
	if (is_doc)
		doc = doc (doc == "" ? "" : "\n") line
	next
}

{
	line = $0
	gsub(/\/\*[^*]*\*\//, "", line)
	sub(/\/\*.*$/, "", line)
	if (line ~ /^extern "C" \{/)
		next
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (c == "{") {
			if (!depth++) {
				statement(code)
				code = ""
				doc = ""
			}
		} else if (c == "}") {
			if (depth)
				depth--
		} else if (depth) {
			continue
		} else if (c == ";") {
			statement(code)
			code = ""
			doc = ""
		} else {
			code = code c
		}
	}
	if (!depth && trim(code) != "")
		code = code " "
	else if (!depth)
		code = ""
}
