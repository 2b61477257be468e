#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR GPL-2.0
# Each rule of the interrupt tree is taken out of a copy of its headers, one at a time, and a
# test must fail then.
#
#	canaries.sh [--quick] [NAME...]
#
# The copy lies in a temporary folder; edits are by sed, within the function that they name, and
# must change it.  A canary of "random" is caught by tree_random_test (an oracle, an assertion of
# tree_sched.h, or waits that never end), one of "threads" by tree_threads_test under TSan.
# CC: the compiler, default gcc.
set -euo pipefail
export LC_ALL=C

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
cc=${CC:-gcc}
waits=5000000
seeds='1 2 3'
failed=0
caught=0
skipped=0
lacking=0
quick=
only=()

while [[ $# != 0 ]]; do
	case $1 in
	--quick) quick=1 ;;
	*) only+=("$1") ;;
	esac
	shift
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/wic-canaries.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

case $(uname -m) in
x86_64 | amd64) machine=x86_64 ;;
*) machine=aarch64 ;;
esac

flags=(-std=gnu17 -D_GNU_SOURCE -O2 -g -w -fno-omit-frame-pointer -I "$scratch/include" -I "$root")
[[ $machine == aarch64 ]] || flags+=(-fcf-protection=none)

# What does not change is compiled once.
objects() {
	cat >"$scratch/assert.c" <<'C'
#include <stdlib.h>
void wic_assert_failed(const char *c, const char *f, int l) { abort(); }
C
	mkdir -p "$scratch/include"
	cp -r "$root/include/wic" "$scratch/include/"
	local source
	for source in "$root/lib/fiber/fiber.c" "$root/lib/fiber/switch_$machine.S" "$scratch/assert.c"; do
		"$cc" "${flags[@]}" -c "$source" -o "$scratch/$(basename "$source").o"
	done
}

# compile <random|threads> <program>
compile() {
	if [[ $1 == random ]]; then
		"$cc" "${flags[@]}" "$root/tests/tree/tree_random_test.c" "$scratch"/*.o -o "$2"
	else
		"$cc" "${flags[@]}" -fsanitize=thread "$root/tests/tree/tree_threads_test.c" -pthread -o "$2"
	fi
}

# Old runtimes of TSan do not know the wider address randomisation of new kernels.
tsan_prefix=
tsan_works() {
	[[ -z $tsan_prefix ]] || { [[ $tsan_prefix != no ]]; return; }
	local prefix i
	tsan_prefix=no
	echo 'int main(void) { return 0; }' >"$scratch/probe.c"
	"$cc" -fsanitize=thread "$scratch/probe.c" -o "$scratch/probe" >/dev/null 2>&1 || return 1
	for prefix in env 'setarch -R'; do
		for i in 1 2 3 4 5 6; do
			$prefix "$scratch/probe" >/dev/null 2>&1 || break
			[[ $i != 6 ]] || { tsan_prefix=$prefix; return 0; }
		done
	done
	return 1
}

wanted() {
	local name
	[[ ${#only[@]} != 0 ]] || return 0
	for name in "${only[@]}"; do
		[[ $name != "$1" ]] || return 0
	done
	return 1
}

# run <random|threads> <program>: 0 if it failed; says how in $why.
# shellcheck disable=SC2086 # the prefix is a list of words
run() {
	local seed rc line
	for seed in $seeds; do
		rc=0
		if [[ $1 == random ]]; then
			timeout 120 "$2" "$seed" $waits >"$scratch/log" 2>&1 || rc=$?
		else
			TSAN_OPTIONS=halt_on_error=1:exitcode=66 timeout 60 $tsan_prefix "$2" "$seed" 20000 20 \
				>"$scratch/log" 2>&1 || rc=$?
		fi
		case $rc in
		0) continue ;;
		1) line=$(sed -n 's/^tree_[a-z]*_test: //p' "$scratch/log" | head -n 1) ;;
		66) line="TSan, $(sed -n 's/^WARNING: ThreadSanitizer: \([a-z ]*\).*/\1/p' "$scratch/log" | head -n 1)" ;;
		124) line='it does not end' ;;
		139) line='it crashes' ;;
		*)
			# A machine without memory, say: no canary.
			why="status $rc"
			return 1
			;;
		esac
		why="$line (seed $seed)"
		[[ $rc != 127 && $rc != 126 ]]
		return
	done
	return 1
}

# canary <name> <random|threads> <header> <function, an ERE> <sed script>
canary() {
	local name=$1 kind=$2 header=$3 function=$4 script=$5 copy=$scratch/include/wic/$3
	wanted "$name" || return 0
	if [[ $kind == threads ]] && ! tsan_works; then
		skip "$name" "$cc -fsanitize=thread does not work on this machine"
		lacking=1
		return
	fi
	cp "$root/include/wic/$header" "$copy"
	sed -E -i "/^WIC_TREE_[A-Z]+ .*\<$function\(/,/^}/ { $script
	}" "$copy"
	why=
	if cmp -s "$root/include/wic/$header" "$copy"; then
		echo "FAIL $name: the edit changes nothing in $header"
		failed=$((failed + 1))
	elif ! compile "$kind" "$scratch/test" >"$scratch/log" 2>&1; then
		echo "FAIL $name: does not compile: $(grep -m 1 error "$scratch/log")"
		failed=$((failed + 1))
	elif run "$kind" "$scratch/test"; then
		echo "ok   $name: caught by $kind: $why"
		caught=$((caught + 1))
	else
		echo "FAIL $name: nothing has caught it $why"
		failed=$((failed + 1))
	fi
	cp "$root/include/wic/$header" "$copy"
}

skip() {
	wanted "$1" || return 0
	echo "skip $1: $2"
	skipped=$((skipped + 1))
}

# Each test passes as long as nothing is changed.
unchanged() {
	local kind
	for kind in "$@"; do
		[[ $kind == random ]] || tsan_works || continue
		compile "$kind" "$scratch/test"
		if seeds=1 waits=300000 run "$kind" "$scratch/test"; then
			echo "FAIL unchanged: $kind: $why"
			failed=$((failed + 1))
		else
			echo "ok   unchanged: $kind passes"
		fi
	done
}

quick_ones() {
	canary stray-arrive random tree.h wic_tree_park_ \
		's/^(\t+)return 0;/\1return wic_t_arrive(WIC_T_AT(lot, warp[me].barrier)), 0;/'
	canary id-not-compared random tree.h wic_tree_park_ \
		's/owed = wic_t_lot_load\(WIC_T_AT\(lot, watcher\)\).*/owed = 0;/'
	canary id-after-arrive random tree.h wic_tree_hand_over_ \
		'/xchg\(WIC_T_AT\(lot, watcher\), next \+ 1\)/d
		s/wic_t_arrive\(.*;/& wic_t_lot_xchg(WIC_T_AT(lot, watcher), next + 1);/'
}

# Of the model's list.
tokens() {
	canary no-look-again random tree.h wic_tree_hand_over_ \
		's/if \(!wic_t_lot_or\(WIC_T_AT\(lot, mask\), 0\) \|\|/if (1 ||/'
	canary role-without-look random tree.h wic_tree_enter_ \
		's/if \(wic_t_lot_load\(WIC_T_AT\(lot, mask\)\) & bit\)/if (1)/'
	canary owes-no-park random tree.h wic_tree_park_ \
		's/owed = !left;/if (!left) return 0;/'
	canary no-registration-again random tree.h wic_tree_wait_slow_ \
		's/^\t\t\treturn 0;/&\
		if (rc != WIC_TREE_WATCHES \&\& wic_t_now() < lot->warp[wic_t_warp()].until) return 0;/'
	skip no-bit-with-the-role 'nothing is lost: it watches one turn, leaves, and registers again'
	canary successor-keeps-bit random tree.h wic_tree_hand_over_ \
		's/if \(!\(wic_t_lot_and\(WIC_T_AT\(lot, mask\), ~\(1u << next\)\) >> next & 1\)\)/if (0)/'
	canary watcher-without-deadline random tree.h wic_tree_nap_ \
		's/now >= until\)/0)/'
	canary arrives-for-all-ready random tree.h wic_tree_wake_ \
		's/wic_t_lot_and\(WIC_T_AT\(lot, mask\), ~ready\) & ready;/(wic_t_lot_and(WIC_T_AT(lot, mask), ~ready), ready);/'
}

lines() {
	canary line-not-freed random tree.h wic_tree_watch_ '/wic_tree_free_lines_/d'
	canary line-freed-late random tree.h wic_tree_watch_ \
		'/wic_tree_free_lines_/d
		s/wic_tree_hand_over_\(lot\);/{ & wic_tree_free_lines_(lot, m); }/'
	canary unwanted-line-kept random tree.h wic_tree_place_line_ \
		's/if \(owned == \(uint64_t\)\(uintptr_t\)line\)/if (owned)/'
	canary own-tags-only random tree.h wic_tree_read_lines_ \
		's/now = wic_tree_read_\(line, i\);/now = line->slots ||\
			i == (lot->warp[wic_t_ffs(of)].word \& 255) \/ 8 ? wic_tree_read_(line, i) : 0;/'
	canary met-at-any-epoch random tree.h wic_tree_met_ \
		's/\.want\)\) <= now/.want)) > 0/'
	canary two-owners random tree_gcc.h wic_t_take \
		's/uint64_t none = 0;/if (__atomic_load_n(p, __ATOMIC_RELAXED)) return 0; WIC_T_STEP();/
		s/return .*/__atomic_store_n(p, owner, __ATOMIC_RELEASE); return 1;/'
	canary stored-not-raised random tree_gcc.h wic_t_raise \
		's/uint64_t old = .*/uint64_t old = 0; __atomic_store_n(p, v, __ATOMIC_RELEASE);/
		s/while \(old < v/while (0/'
	canary copy-without-fence random tree.h wic_tree_raise_ '/wic_t_fence_truth/d'
	canary no-look-at-timeout random tree.h wic_tree_step_ '/wic_tree_read_once_/d'
}

ends() {
	canary stale-cancel random tree.h wic_tree_end_ \
		's/if \(!\(truth & 1\)\)/if (0)/'
	canary end-before-data random tree.h wic_tree_last_ 's/if \(truth\)/if (0)/'
	canary end-without-fence random tree.h wic_tree_end_ '/wic_t_fence_truth/d'
	canary end-before-puts random tree.h 'wic_tree_state_(of_)?' \
		's/wic_tree_is_put_\(wic_tree_line_.*/0)/'
	canary control-not-read random tree.h wic_tree_control_ 's/if \(owned\)$/if (0)/'
}

queues() {
	canary credit-before-reads random tree.h wic_tree_release \
		's/before \+ 1 == readers/before + 1 == 1/'
	canary timeout-against-fill random tree.h wic_tree_claim_ \
		's/if \(wic_t_swap\(slot, value, (.*)\)\)$/if ((wic_t_raise(slot, \1), 1))/'
	canary slot-as-copy random tree.h wic_tree_drain_ \
		's/head = wic_t_load\(&queue->word\[WIC_TREE_HEAD\]\)/head = drained/
		s/^(\t+)head\+\+;/&drained++;/
		/^\t\tdrained\+\+;/d'
	canary put-without-fence random tree.h wic_tree_drain_ '/wic_t_fence_truth/d'
	canary slot-of-a-lap-too-early random tree.h wic_tree_slot_is_free_ \
		's/value \+ \(\(uint64_t\)1 << WIC_TREE_LAP\) >= lap/1/'
}

# What only an order of memory breaks: TSan sees it where plain payload depends on it.
orders() {
	canary raise-relaxed threads tree_gcc.h wic_t_raise 's/__ATOMIC_ACQ_REL/__ATOMIC_RELAXED/'
	canary look-without-acquire threads tree_gcc.h wic_t_acquire 's/__ATOMIC_ACQUIRE/__ATOMIC_RELAXED/'
	canary truth-relaxed threads tree_gcc.h wic_t_load_truth 's/__ATOMIC_ACQUIRE/__ATOMIC_RELAXED/'
	canary post-relaxed threads tree_gcc.h wic_t_post_sys 's/__ATOMIC_RELEASE/__ATOMIC_RELAXED/'
	canary put-relaxed threads tree.h wic_tree_put 's/__ATOMIC_RELEASE/__ATOMIC_RELAXED/'
	canary swap-relaxed threads tree_gcc.h wic_t_swap 's/__ATOMIC_ACQ_REL/__ATOMIC_RELAXED/'
	skip line-cas-relaxed 'all that a line guards is atomic, so TSan sees nothing; tests/model'
	skip mask-relaxed 'all in the lot is atomic, so TSan sees nothing; tests/model'
	skip scopes 'a C compiler has one memory; the simulator'
	skip lane-order 'a warp is one lane here; the simulator'
}

objects
if [[ -n $quick ]]; then
	unchanged random
	quick_ones
else
	unchanged random threads
	quick_ones
	tokens
	lines
	ends
	queues
	orders
fi
printf '%d caught, %d skipped, %d failed\n' $caught $skipped $failed
[[ $failed == 0 ]] || exit 1
# The rest has passed, but not all that a machine with TSan says.
[[ $lacking == 0 ]] || { echo "skip: no TSan" && exit 77; }
