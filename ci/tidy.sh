#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# The rules of STYLE.md that a script can check, on the files as they lie here.
#
#	ci/tidy.sh [--root DIR] [--build DIR] [check...]
#
# Without names: all checks that need no build.  Each finding is one line, "file:line:
# what"; each check ends with "ok   name", "skip name: why" or "FAIL name".
# ci/tidy_test.sh feeds each check something bad.
#
# The checks are called by name, and awk's programs stay as they are:
# shellcheck disable=SC2317,SC2016
set -euo pipefail
export LC_ALL=C

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
build=
here=$root/ci
names=()
while [[ $# != 0 ]]; do
	case $1 in
	--root) root=$2 && shift ;;
	--build) build=$(cd -- "$2" && pwd) && shift ;;
	*) names+=("$1") ;;
	esac
	shift
done
[[ ${#names[@]} != 0 ]] || names=(format lengths headers docs callers includes leftovers shell readme)
cd -- "$root"

# files <find's tests>: our files, sorted; nothing that was built.
files() {
	find . \( -path ./.git -o -path ./build -o -path './build-*' -o -path ./out \) -prune -o -type f \( "$@" \) -print |
		sed 's|^\./||' | sort
}

c_files() { files -name '*.c' -o -name '*.h'; }

# Another version formats in another way, so only this one decides.
check_format() {
	local tool
	for tool in clang-format-14 clang-format; do
		command -v "$tool" >/dev/null || continue
		[[ $("$tool" --version) =~ version\ 14\. ]] || continue
		c_files | xargs "$tool" --dry-run -Werror --ferror-limit=1 2>&1 | sed -n '/^Error/p
			s/: error: code should be clang-formatted.*/: not as clang-format 14 writes it/p'
		return 0
	done
	echo "there is no clang-format 14" && return 77
}

# Functions of at most 70 lines, .c files of at most 800.
check_lengths() {
	c_files | xargs awk '
		FNR == 1 { open = 0 }
		FNR == 801 && FILENAME ~ /\.c$/ {
			print FILENAME ":801: the file has more than 800 lines"
		}
		/^{/ { open = FNR }
		/^}/ {
			if (open && FNR - open + 1 > 70)
				print FILENAME ":" open ": the function has " FNR - open + 1 " lines, 70 are allowed"
			open = 0
		}'
}

# Licence line on each source; include guards named after the path.
check_headers() {
	local file guard
	files -name '*.c' -o -name '*.h' -o -name '*.S' -o -name '*.sh' -o -name '*.awk' \
		-o -name '*.cmake' -o -name '*.py' -o -name '*.pml' -o -name CMakeLists.txt -o -path ./run -o -path ./.ci/run |
		while read -r file; do
			head -n 3 "$file" | grep -q 'SPDX-License-Identifier: MIT OR GPL-2.0' ||
				echo "$file:1: no line SPDX-License-Identifier: MIT OR GPL-2.0"
			[[ $file == *.h ]] || continue
			guard=${file#include/}
			guard=${guard#wic/}
			guard=$(printf 'WIC_%s' "${guard//[^A-Za-z0-9]/_}" | tr '[:lower:]' '[:upper:]')
			# lib/fiber/fiber.h may be WIC_LIB_FIBER_H.
			awk -v guard="$guard" '
				/^#ifndef/ {
					short = guard
					n = split(guard, part, "_")
					if (part[n - 1] == part[n - 2])
						sub("_" part[n - 1] "_H$", "_H", short)
					found = $2 == guard || $2 == short
					exit
				}
				END { exit !found }' "$file" ||
				echo "$file:1: the include guard is not $guard"
		done
}

# Each public function: kernel-doc right above it, all parameters, Context, Return.
check_docs() {
	files -path './include/wic/*.h' | xargs awk -v mode=docs -f "$here/api.awk"
}

# Each public function is used by a tool, an application, an example or a test.
check_callers() {
	local place name
	local -a folders=()
	for name in apps bench examples methods tests tools; do
		[[ ! -d $name ]] || folders+=("$name")
	done
	files -path './include/wic/*.h' | xargs awk -v mode=list -f "$here/api.awk" |
		while read -r place name; do
			grep -rqE --include='*.c' --include='*.h' "(^|[^A-Za-z0-9_])$name *\\(" \
				/dev/null "${folders[@]}" ||
				echo "$place: nothing in ${folders[*]} calls $name()"
		done
}

# Includes point downward only.
check_includes() {
	c_files | xargs awk '
		function rank(path) {
			if (path ~ /^include\/wic\//) return 0
			if (path ~ /^core\//) return 1
			if (path ~ /^lib\//) return 2
			if (path ~ /^backends\//) return 3
			if (path ~ /^methods\//) return 4
			if (path ~ /^apps\//) return 5
			if (path ~ /^bench\//) return 6
			if (path ~ /^tools\//) return 7
			return 9
		}
		function second(path,	part) { split(path, part, "/"); return part[2] }
		function bad(what) { print FILENAME ":" FNR ": " what }
		FNR == 1 {
			own = rank(FILENAME)
			is_test = FILENAME ~ /_(test|fixture|model|twin)\.[ch]$/ || FILENAME ~ /^tests\//
			folder = FILENAME
			sub(/[^\/]*$/, "", folder)
		}
		!/^[ \t]*#[ \t]*include[ \t]*["<]/ { next }
		{
			quoted = $0 ~ /include[ \t]*"/
			target = $0
			sub(/^[^"<]*["<]/, "", target)
			sub(/[">].*$/, "", target)
		}
		target ~ /^(cuda|cuda_runtime|cuda_runtime_api|nvrtc|driver_types)\.h$/ && FILENAME !~ /^backends\/cuda\// {
			bad("<" target "> outside backends/cuda")
		}
		!quoted && target !~ /^wic\// {
			if (own == 1 && !is_test && FILENAME != "core/dep.h")
				bad("core/ includes <" target ">; only core/dep.h may include from outside")
			# Threads and a futex come from the system.
			if (own == 0 && target !~ /^(stddef|stdint|stdbool|errno)\.h$/ &&
			    FILENAME != "include/wic/tree_threads.h")
				bad("a public header includes <" target ">")
			next
		}
		{
			path = target
			if (target ~ /^wic\//)
				path = "include/" target
			else if (target !~ /^(core|lib|backends|methods|apps|bench|tools|tests)\//)
				path = folder target
		}
		is_test { next }
		target ~ /\.\.\// { bad("includes " target "; write the path from the top") }
		own == 1 && path !~ /^core\// { bad("core/ includes " target "; it stands alone") }
		own == 0 && rank(path) != 0 { bad("a public header includes " target) }
		FILENAME ~ /^examples\// && rank(path) != 0 && path !~ /^examples\// {
			bad("an example includes " target "; it has the public headers only")
		}
		own > 1 && own < 9 && rank(path) > own { bad("includes " target ", which lies above it") }
		own == 3 && rank(path) == 3 && second(path) != second(FILENAME) {
			bad("a back-end includes another, " target)
		}'
}

check_leftovers() {
	files ! -name '*.png' ! -path './LICENSES/*' ! -path './ci/tidy*' ! -name STYLE.md |
		xargs awk '/(^|[^A-Za-z0-9_])(TODO|FIXME|XXX)([^A-Za-z0-9_]|$)/ {
			print FILENAME ":" FNR ": says TODO, FIXME or XXX" }'
}

check_shell() {
	local -a scripts
	mapfile -t scripts < <(files -name '*.sh' -o -path ./run -o -path ./.ci/run)
	[[ ${#scripts[@]} != 0 ]] || return 0
	local script broken=0
	for script in "${scripts[@]}"; do
		bash -n "$script" 2>&1 || broken=1
	done
	[[ $broken == 0 ]] || return 1
	command -v shellcheck >/dev/null || { echo "there is no shellcheck" && return 77; }
	shellcheck -x -P SCRIPTDIR -e SC2034 -f gcc "${scripts[@]}" || true
}

# readme_code <language of the fence> <file>: the lines of an example in the README stand in the
# program that is compiled, in order ("..." leaves some out).
readme_code() {
	[[ -e $2 ]] || return 0
	awk -v fence="^\`\`\`$1\$" -v file="$2" 'NR == FNR { line[++n] = $0; next }
		$0 ~ fence { inside = 1; next }
		/^```/ { inside = 0 }
		inside && $0 != "..." {
			for (i = at + 1; i <= n && line[i] != $0; i++)
				;
			if (i > n)
				print "README.md:" FNR ": not in " file ", or not there: " $0
			else
				at = i
		}' "$2" README.md
}

# The README's examples are of the programs; links lead somewhere.
check_readme() {
	local link
	readme_code c examples/minimal.c
	readme_code cuda examples/cuda/consume.cu
	grep -ohE '\]\([^)#]+' ./*.md | sed 's/^](//' | sort -u | while read -r link; do
		[[ $link == http* || -e $link ]] || echo "README.md:0: a link leads nowhere: $link"
	done
}

# Global names of what was built: a library shares one flat name space with its
# users.  Methods and applications are no part of it.
check_symbols() {
	local folder object count=0
	[[ -n $build ]] || { echo "no --build folder given" && return 77; }
	for folder in core lib backends; do
		while read -r object; do
			count=$((count + 1))
			nm -g --defined-only "$object" | awk -v object="${object#"$build/"}" '
				NF == 3 && $3 !~ /^wic_/ { print object ":0: exports " $3 }'
		done < <(find "$build/$folder" -name '*.o' ! -path '*_test.dir/*' 2>/dev/null | sort)
	done
	[[ $count != 0 ]] || echo "$build:0: there are no objects"
}

status=0
for name in "${names[@]}"; do
	rc=0
	found=$("check_$name") || rc=$?
	if [[ $rc == 77 ]]; then
		echo "skip $name: $found"
	elif [[ $rc != 0 || -n $found ]]; then
		printf '%s\nFAIL %s\n' "${found:-it ended with status $rc}" "$name"
		status=1
	else
		echo "ok   $name"
	fi
done
exit $status
