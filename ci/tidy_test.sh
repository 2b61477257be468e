#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Each check of tidy.sh passes a small good tree and finds what is put wrong in it.
# shellcheck disable=SC2016 # texts that look like expansions are bad snippets
set -euo pipefail
export LC_ALL=C
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
failures=0

# put <file> <line...>: a source with its licence line.
put() {
	local file=$tree/$1
	shift
	printf '%s\n' '/* SPDX-License-Identifier: MIT OR GPL-2.0 */' "$@" >"$file"
}

# A tree without findings.
good_tree() {
	rm -rf "$tree"
	mkdir -p "$tree"/{include/wic,core,lib,backends/cpu,backends/sim,apps/one,examples,tools}
	cp "$ci/../.clang-format" "$tree/"
	cat >"$tree/include/wic/a.h" <<-'EOF'
		/* SPDX-License-Identifier: MIT OR GPL-2.0 */
		#ifndef WIC_A_H
		#define WIC_A_H

		#include <stdint.h>

		/**
		 * wic_a_get() - The value at a place.
		 * @place: in [0, 4).
		 *
		 * Context: any thread; does not block.
		 * Return: the value.
		 */
		int wic_a_get(uint32_t place);

		#endif /* WIC_A_H */
	EOF
	printf '%s\n' '/* SPDX-License-Identifier: MIT OR GPL-2.0 */' '#include "core/dep.h"' >"$tree/core/x.c"
	printf '%s\n' '/* SPDX-License-Identifier: MIT OR GPL-2.0 */' '#ifndef WIC_CORE_DEP_H' \
		'#define WIC_CORE_DEP_H' '#include <stdint.h>' '#endif' >"$tree/core/dep.h"
	printf '%s\n' '/* SPDX-License-Identifier: MIT OR GPL-2.0 */' '#include <wic/a.h>' '' \
		'int main(void)' '{' '	return wic_a_get(0);' '}' >"$tree/tools/main.c"
	printf '%s\n' '#!/bin/sh' '# SPDX-License-Identifier: MIT OR GPL-2.0' 'echo "$1"' >"$tree/run"
	put examples/minimal.c '#include <wic/a.h>'
	printf '%s\n' 'See [the tool](tools/main.c).' '```c' '#include <wic/a.h>' '```' >"$tree/README.md"
}

tidy() { "$ci/tidy.sh" --root "$tree" "$@"; }

# finds <case> <check> <text>: the check fails and says the text.
finds() {
	local name=$1 check=$2 text=$3 out rc=0
	shift 3
	out=$(tidy "$@" "$check" 2>&1) || rc=$?
	if [[ $rc == 0 && $out == skip* ]]; then
		echo "skip $name: ${out#*: }"
	elif [[ $rc == 1 && $out == *"$text"* && $out == *"FAIL $check" ]]; then
		echo "ok   $name"
	else
		printf '%s\nFAIL %s: status %d, wanted: %s\n' "$out" "$name" "$rc" "$text"
		failures=$((failures + 1))
	fi
	good_tree
}

good_tree
if out=$(tidy 2>&1); then
	echo "ok   good_tree"
else
	printf '%s\nFAIL good_tree\n' "$out"
	failures=1
fi

put tools/b.c 'int  b;'
finds format_spaces format 'tools/b.c:2:'

put lib/long.c 'void f(void)' '{' "$(seq -f '	g(%g);' 69)" '}'
finds lengths_function lengths 'lib/long.c:3: the function has 71 lines'
put lib/long.c "$(seq -f '/* %g */' 800)"
finds lengths_file lengths 'lib/long.c:801:'

echo 'int x;' >"$tree/lib/x.c"
finds headers_licence headers 'lib/x.c:1: no line SPDX'
put lib/x.h '#ifndef X_H' '#define X_H' '#endif'
finds headers_guard headers 'lib/x.h:1: the include guard is not WIC_LIB_X_H'
put lib/x.h 'int x;'
finds headers_no_guard headers 'lib/x.h:1: the include guard is not WIC_LIB_X_H'

sed -i '/Context:/d' "$tree/include/wic/a.h"
finds docs_context docs 'wic_a_get(): the kernel-doc has no Context:'
sed -i '/Return:/d' "$tree/include/wic/a.h"
finds docs_return docs 'wic_a_get(): the kernel-doc has no Return:'
sed -i '/@place/d' "$tree/include/wic/a.h"
finds docs_parameter docs 'wic_a_get(): the kernel-doc does not name @place'
sed -i 's|^/\*\*|/*|' "$tree/include/wic/a.h"
finds docs_missing docs 'wic_a_get(): no kernel-doc'
sed -i 's|^ \* wic_a_get()| * wic_a_put()|' "$tree/include/wic/a.h"
finds docs_other_name docs 'wic_a_get(): no kernel-doc'
sed -i 's|^#endif.*|static inline int wic_b(void) { return 0; }\n#endif|' "$tree/include/wic/a.h"
finds docs_second_function docs 'wic_b(): no kernel-doc'

sed -i 's|^#endif.*|static inline WIC_MUST_CHECK int wic_b(void) { return 0; }\n#endif|' "$tree/include/wic/a.h"
finds docs_attribute_first docs 'wic_b(): no kernel-doc'

put tools/main.c '/* wic_a_get is only named here */'
finds callers_none callers 'calls wic_a_get()'

put core/x.c '#include "lib/log.h"'
finds includes_core_lib includes 'core/ includes lib/log.h'
put core/x.c '#include <wic/a.h>'
finds includes_core_public includes 'core/ includes wic/a.h'
put core/x.c '#include <string.h>'
finds includes_core_libc includes 'core/ includes <string.h>'
put lib/x.c '#include "backends/cpu/gate.h"'
finds includes_upward includes 'includes backends/cpu/gate.h, which lies above it'
put lib/x.c '#include "../tools/gate.h"'
finds includes_dots includes 'includes ../tools/gate.h; write the path from the top'
put backends/cpu/x.c '#include "backends/sim/gate.h"'
finds includes_other_backend includes 'a back-end includes another'
put backends/cpu/x.c '#include <cuda.h>'
finds includes_cuda includes '<cuda.h> outside backends/cuda'
put include/wic/b.h '#include <stdio.h>'
finds includes_public_system includes 'a public header includes <stdio.h>'
put include/wic/b.h '#include "core/dep.h"'
finds includes_public_core includes 'a public header includes core/dep.h'
put examples/x.c '#include "lib/log.h"'
finds includes_example includes 'an example includes lib/log.h'

put lib/x.c '/* TODO: all of it */'
finds leftovers_todo leftovers 'lib/x.c:2: says TODO'

printf '%s\n' '#!/bin/sh' '# SPDX-License-Identifier: MIT OR GPL-2.0' 'if' >"$tree/run"
finds shell_syntax shell 'run:'
printf '%s\n' '#!/bin/sh' '# SPDX-License-Identifier: MIT OR GPL-2.0' 'rm $1' >"$tree/run"
finds shell_quotes shell 'SC2086'

sed -i 's/a\.h/b.h/' "$tree/README.md"
finds readme_example readme 'not in examples/minimal.c, or not there: #include <wic/b.h>'
mkdir -p "$tree/examples/cuda"
echo 'int rc;' >"$tree/examples/cuda/consume.cu"
printf '%s\n' '```cuda' 'int rx;' '```' >>"$tree/README.md"
finds readme_example_cuda readme 'not in examples/cuda/consume.cu, or not there: int rx;'
sed -i 's/main\.c/other.c/' "$tree/README.md"
finds readme_link readme 'a link leads nowhere: tools/other.c'

# built <folder> <source>: an object where a build would leave it.
built() {
	mkdir -p "$scratch/build/$1"
	gcc -x c -c - -o "$scratch/build/$1/x.c.o" <<<"$2"
}
rm -rf "$scratch/build"
built lib 'int wic_x; static int hidden; int *wic_y(void) { return &hidden; }'
built apps/one 'int app_x, one_naive;'
if tidy --build "$scratch/build" symbols >/dev/null; then
	echo "ok   symbols_good"
else
	echo "FAIL symbols_good"
	failures=$((failures + 1))
fi
built lib 'int open_files;'
finds symbols_lib symbols 'lib/x.c.o:0: exports open_files' --build "$scratch/build"
built lib 'int wic_x;'
built core 'int app_x;'
finds symbols_core symbols 'core/x.c.o:0: exports app_x' --build "$scratch/build"
rm -rf "$scratch/build" && mkdir "$scratch/build"
finds symbols_nothing_built symbols 'there are no objects' --build "$scratch/build"

[[ $failures == 0 ]]
