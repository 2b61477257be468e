# SPDX-License-Identifier: MIT OR GPL-2.0
# shellcheck shell=bash disable=SC2016 # texts for an inner shell stay as they are
# `./run check`, `./run check-full` and `./run check-gpu`; sourced by run, whose functions and
# variables it uses.  A step prints one line; what failed shows its output there;
# the end lists what was skipped and why, and the sum.

: "${root:?}" "${logs:?}" "${may_install:?}" "${required_kmod:?}"

passed=0
failed=0
skip_lines=()
scratch=
release_built=0
only=.		# a regex: the tests to run
without='^$'	# and those to leave out
slow_under_tsan='^(cli|core|methods)_|^(c_srs|c_h3d|g_bs)_|bad_input|_mprotect$|_(devices|contract|reports|flood|pressure|pat|stats|kernel)_push$'
slow_under_asan='^c_(srs|h3d)_|^g_bs_|exhaustive|^cli_methods$|_mprotect$|_(bad_input|stopped)_push$'
over_both='^header_|^core_|^model_|_(uffd|mprotect|push)$|^(gpu|fakecuda|driver)_'	# the mechanism changes nothing, or is in the name
one_of_both='^header_|^model_|_mprotect$'	# the release build has run these over the other one
full_seconds=3300	# no step begins later, so that all is over within the hour or soon after
step_seconds=1200	# a step takes at most

# tally <step> <seconds> <file of junit.awk's lines>
tally() {
	local step=$1 seconds=$2 kind rest ok=0 bad=0 skip=0
	while IFS= read -r line; do
		kind=${line%% *}
		rest=${line#* }
		case $kind in
		passed) ok=$((ok + rest)) ;;
		failed)
			bad=$((bad + 1))
			printf '  FAILED %s: %s\n' "$step" "$rest"
			;;
		skipped)
			skip=$((skip + 1))
			skip_lines+=("$step: $rest")
			;;
		*) printf '  %s\n' "$line" ;;
		esac
	done <"$3"
	passed=$((passed + ok))
	failed=$((failed + bad))
	printf '%-28s %4d passed %3d failed %3d skipped %5d s\n' "$step" $ok $bad $skip "$seconds"
}

skip_step() {
	echo "skipped $2" >"$logs/step.result"
	tally "$1" 0 "$logs/step.result"
}

fail_step() {
	echo "failed $2" >"$logs/step.result"
	tally "$1" 0 "$logs/step.result"
}

log_of() { echo "$logs/${1//[^A-Za-z0-9_.-]/-}.log"; }

# step <name> <command...>: one result, or one for each line "ok   x" and "skip
# x: why" that it prints.  Status 77 is a skip, for the reason in its last line.
step() {
	local name=$1 log rc=0 start=$SECONDS
	shift
	log=$(log_of "$name")
	timeout --foreground -k 10 "$step_seconds" "$@" >"$log" 2>&1 </dev/null || rc=$?
	awk -v rc=$rc -v log_path="$log" '
		/^ok +[^ ]/ { oks++ }
		!/^[ \t]*$/ { lines[count++] = $0; is_skip = 0 }
		/^skip [^ :]+: ./ { print "skipped " substr($0, 6); skips++; is_skip = 1 }
		END {
			if (rc == 77 && !is_skip)
				print "skipped " (count ? lines[count - 1] : "it gave no reason")
			else if (rc == 0 && (oks || !skips))
				print "passed " (oks ? oks : 1)
			else if (rc != 0 && rc != 77) {
				print "failed status " rc (rc == 124 ? " (out of time)" : "") ", see " log_path
				for (i = count > 40 ? count - 40 : 0; i < count; i++)
					print "\t" lines[i]
			}
		}' "$log" >"$log.result"
	tally "$name" $((SECONDS - start)) "$log.result"
}

# tests <step> <folder> <labels, a regex> [command prefix...]: ctest there.
tests() {
	local name=$1 dir=$2 labels=$3 log rc=0 start=$SECONDS xml=$2/junit.xml
	shift 3
	log=$(log_of "$name")
	rm -f "$xml"
	# Side by side: no test depends on time, and half of them mostly sleep.
	"$@" ctest --test-dir "$dir" --parallel "$(jobs_max)" -L "^($labels)\$" -R "$only" -E "$without" \
		--no-tests=ignore --output-junit "$xml" \
		--test-output-size-passed 4000000 --test-output-size-failed 4000000 \
		>"$log" 2>&1 </dev/null || rc=$?
	if grep -qE 'No tests were found|^Total Tests: 0' "$log"; then
		echo "skipped no test has the label $labels" >"$log.result"
	elif [[ -s $xml ]]; then
		awk -f "$root/ci/junit.awk" "$xml" >"$log.result"
		[[ -s $log.result ]] || echo "skipped no test has the label $labels" >"$log.result"
		if [[ $rc != 0 ]] && ! grep -q '^failed' "$log.result"; then
			echo "failed ctest ended with status $rc, see $log" >>"$log.result"
		fi
	else
		{ echo "failed ctest ended with status $rc, see $log"; tail -n 20 "$log"; } >"$log.result"
	fi
	tally "$name" $((SECONDS - start)) "$log.result"
}

# sanitizer_runs <compiler> <sanitizers>: prints the prefix that its programs need
# ("env" for none); status 1: they do not start on this machine.
sanitizer_runs() {
	local probe=$scratch/probe
	echo 'int main(void) { return 0; }' >"$probe.c"
	"$1" "-fsanitize=$2" "$probe.c" -o "$probe" >/dev/null 2>&1 || return 1
	# Old runtimes do not know the wider address randomisation of new kernels, and
	# then fail now and then.
	local i prefix
	for prefix in env 'setarch -R'; do
		for i in 1 2 3 4 5 6 7 8; do
			$prefix "$probe" >/dev/null 2>&1 || break
			[[ $i != 8 ]] || { echo "$prefix"; return 0; }
		done
	done
	return 1
}

# preset <name> <labels>: build and ctest, with what its sanitizer wants.
preset() {
	local name=$1 labels=$2 compiler=gcc sanitizers='' start=$SECONDS prefix=env
	case $name in
	*asan) sanitizers=address,undefined ;;
	*tsan) sanitizers=thread ;;
	esac
	[[ $name != clang* ]] || compiler=clang
	[[ $name != release ]] || compiler=$(cc_of_build)
	if ! have "$compiler"; then
		skip_step "$name" "there is no $compiler"
		return
	fi
	if [[ -n $sanitizers ]] && ! prefix=$(sanitizer_runs "$compiler" "$sanitizers"); then
		skip_step "$name" "$compiler -fsanitize=$sanitizers does not work on this machine"
		return
	fi
	if ! build "$name" 2>"$logs/step.err"; then
		sed 's/^/  /' "$logs/step.err"
		fail_step "$name: build" "see $logs/build-$name.log"
		return
	fi
	[[ $name != release ]] || release_built=1
	printf '%-28s %40s %5d s\n' "$name: build" '' $((SECONDS - start))
	# shellcheck disable=SC2086 # the prefix is a list of words
	tests "$name: ctest $labels" "$(dir_of_preset "$name")" "$labels" $prefix env \
		ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 \
		TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
}

# Each test must be found by `check` or `check-full`, or say that only `soak` or `check-gpu` has it.
labels_complete() {
	! ctest --test-dir "$root/build" -N -LE '^(quick|full|soak|gpu)$' | grep -E 'Test +#'
}

check_steps() {
	step "tidy" "$root/ci/tidy.sh"
	step "tidy can fail" "$root/ci/tidy_test.sh"
	step "testbed's scripts" "$root/kmod/testbed/scripts_test.sh"
	step "freestanding core" "$root/ci/freestanding.sh"
	step "gpu table" "$root/bench/results/gpu_table.sh" --check
	preset release quick
	step "symbols" "$root/ci/tidy.sh" --build "$root/build" symbols
	if labels_complete >"$logs/labels.log" 2>&1; then
		passed=$((passed + 1))
	else
		fail_step "labels" "tests that are none of quick, full, soak and gpu, see $logs/labels.log"
	fi
	[[ ! -x $root/build/example_minimal ]] ||
		step "gdb" "$root/ci/gdb_test.sh" "$root/build/example_minimal"
	# The public headers alone are tests of ctest, made for the compilers found.
	have g++ || have clang++ || skip_step "headers as C++17" "there is no C++ compiler"
	have nvcc || [[ -x /usr/local/cuda/bin/nvcc ]] || skip_step "headers under nvcc" "there is no nvcc"
	# A header compiles or not whatever the sanitizer.  Five minutes do not suffice for
	# all: first what has threads, over one mechanism; check-full runs the rest.
	without="^header_|$slow_under_asan"
	preset asan quick
	without="^header_|$slow_under_tsan"
	preset tsan quick
	without='^$'
}

# mechanism <name>: the tests of the release build that take any mechanism, with this one.
mechanism() {
	local name=$1 doctor
	doctor=$(WIC_MECHANISM=$name "$root/build/wic" doctor --json 2>&1 </dev/null |
		tr '{' '\n' | grep "\"cpu/$name\"" || true)
	if [[ $doctor == *'"works":false'* ]]; then
		skip_step "mechanism $name" "wic doctor says: $doctor"
	else
		without=$over_both
		tests "mechanism $name" "$root/build" quick env "WIC_MECHANISM=$name"
		without='^$'
	fi
}

valgrind_tests() {
	if ! have valgrind; then
		skip_step "valgrind" "there is no valgrind"
	elif ! build valgrind 2>"$logs/step.err"; then
		sed 's/^/  /' "$logs/step.err"
		fail_step "valgrind: build" "see $logs/build-valgrind.log"
	else
		# It does not know userfaultfd, and takes too long for the seeded random tests.
		only='^(core_(heap|engine|dep)_test|fiber_test|conform_pull_mprotect|example_minimal)$'
		tests "valgrind" "$root/build-valgrind" quick env WIC_MECHANISM=mprotect
		only=.
	fi
}

# Cross-built, and run by qemu-user: it shows that the code is right, not that it keeps
# aarch64's order of memory, since the emulator keeps this machine's; nor anything about time.
aarch64_tests() {
	local emulator=qemu-aarch64 dir=$root/build-aarch64 start=$SECONDS doctor
	if ! has_aarch64_cc; then
		skip_step "aarch64" "there is no aarch64-linux-gnu-gcc with a libc"
		return
	elif ! build aarch64 2>"$logs/step.err"; then
		sed 's/^/  /' "$logs/step.err"
		fail_step "aarch64: build" "see $logs/build-aarch64.log"
		return
	fi
	echo "passed 1" >"$logs/step.result"
	tally "aarch64: build" $((SECONDS - start)) "$logs/step.result"
	have $emulator || emulator=qemu-aarch64-static
	if ! have $emulator; then
		skip_step "aarch64: qemu-user" "there is no qemu-aarch64"
		return
	fi
	# Headers and exports: no program of this build is run for them.
	without='^(header|exports)_|^cli_(files|rows|perf)$'
	skip_step "aarch64: measuring" "cli_files, cli_rows and cli_perf measure, and an emulator's times say nothing"
	doctor=$(timeout 60 "$emulator" -L /usr/aarch64-linux-gnu "$dir/wic" doctor --json 2>&1 |
		grep '"cpu/uffd"' || true)
	if [[ $doctor != *'"works":true'* ]]; then
		skip_step "aarch64: mechanism uffd" "wic doctor says: $doctor"
		without+='|_uffd$'
	fi
	tests "aarch64: ctest quick" "$dir" quick env WIC_MECHANISM=mprotect
	without='^$'
}

tsan_rest() {
	# Nothing in the core starts a thread.
	without='^core_'
	only=$slow_under_tsan
	preset tsan quick
	only=.
	preset tsan full
	without='^$'
}

asan_rest() {
	only=$slow_under_asan
	preset asan quick
	only=.
	preset asan full
}

# The testbed of nvidia-uvm: modules for a kernel and a driver that are fetched, run in an emulated
# machine.  Where it was built before, a few minutes; elsewhere it fetches and compiles as well.
kmod_checks() {
	local left=$((full_seconds - SECONDS)) need=600
	kmod_scripts
	if ! kmod_is_warm; then
		need=1500
		if [[ $may_install == 0 ]] && ! kmod_is_fetched; then
			skip_step kmod "its packages are not there, and WIC_INSTALL=0 (./run kmod-setup)"
			return
		fi
	fi
	if ((left < need)); then
		skip_step kmod "$((left / 60)) min are left of the hour, it may take $((need / 60)) (./run kmod-setup && ./run check-kmod)"
		return
	fi
	if [[ $may_install == 0 || -z $(installer) ]] && [[ -n $(missing "$required_kmod") ]]; then
		skip_step kmod "missing: $(column "$(missing "$required_kmod")" 3 ,)"
		return
	fi
	# Each boot in it has its own limit; what is stopped here, a whole group of processes, is slow.
	export -f kmod_check_in
	step_seconds=$((need + 60))
	step kmod bash -c 'kmod_check_in "$@"' bash "$need" "$root/run" "$logs/kmod-check.log"
	step_seconds=1200
}

# kmod_check_in <seconds> <run> <log>: being slow is a skip, but not what failed before.
kmod_check_in() {
	local rc
	timeout -k 10 "$1" "$2" check-kmod --or-skip 2>&1 | tee "$3"
	rc=${PIPESTATUS[0]}
	# 137: it had to be killed.
	if [[ $rc == 124 || $rc == 137 ]]; then
		rc=77
		! grep -q '^ *FAIL' "$3" || rc=1
		echo "not done within $1 s"
	fi
	return "$rc"
}

# within_hour <command...>: it, or a skip by name once the hour is nearly over: on a slow machine
# half of it with its sum says more than a run that is killed.
within_hour() {
	if ((SECONDS < full_seconds)); then
		"$@"
	else
		skip_step "$*" "$((full_seconds / 60)) minutes were over"
	fi
}

# What a user gets: a clone where git has everything, else a copy of what it would have.
clone_to() {
	local -a git=(env "HOME=$scratch" git -C "$root")
	printf '[safe]\n\tdirectory = *\n' >"$scratch/.gitconfig"
	if ! have git || ! "${git[@]}" rev-parse HEAD >/dev/null 2>&1; then
		echo "note: not a git checkout; a copy of the tree is used"
		mkdir "$1"
		tar -C "$root" --exclude=./build --exclude='./build-*' --exclude=./out -cf - . | tar -C "$1" -xf -
	elif [[ -z $("${git[@]}" status --porcelain) ]]; then
		"${git[@]}" clone -q "$root" "$1"
	else
		echo "note: there are changes that are not committed; a copy of the tree is used"
		mkdir "$1"
		"${git[@]}" ls-files -z --cached --others --exclude-standard |
			(cd "$root" && xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh) |
			tar -C "$root" --null -T - -cf - | tar -C "$1" -xf -
	fi
}

# The two commands of the README in a clean clone with a new HOME, without network, as
# somebody who is not root.
clean_clone() {
	local tree=$scratch/clone/wic
	local -a as=(env -i "PATH=$PATH" "HOME=$scratch/clone/home" "WIC_INSTALL=0")
	mkdir -p "$scratch/clone/home"
	if ! clone_to "$tree" >"$logs/clone.log" 2>&1; then
		fail_step "clean clone" "see $logs/clone.log"
		return
	fi
	if [[ $(id -u) == 0 ]]; then
		if ! have setpriv; then
			skip_step "clean clone" "there is no setpriv to become an ordinary user"
			return
		fi
		chown -R 65534:65534 "$scratch/clone"
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "${as[@]}")
	fi
	step "clean clone: run build" "${as[@]}" "$tree/run" build
	step "clean clone: run bench" sh -c 'cd "$1" && shift && exec "$@"' sh "$tree" \
		"${as[@]}" ./run bench --size tiny --tags 64 --producer-delay 0.9
}

# build_examples <prefix>: with nothing but a compiler and pkg-config.
build_examples() {
	local prefix=$1 source name
	PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name wic.pc)")
	export PKG_CONFIG_PATH
	for source in "$root"/examples/*.c; do
		name=$(basename "$source" .c)
		# shellcheck disable=SC2046 # pkg-config prints a list of words
		gcc -Wall -Wextra -Werror "$source" -o "$scratch/$name" $(pkg-config --cflags --libs wic) &&
			timeout 60 "$scratch/$name" || return
		echo "ok   $name"
	done
}

installed() {
	if ! have pkg-config; then
		skip_step "install" "there is no pkg-config"
		return
	fi
	step "install" "$root/run" install "$scratch/prefix"
	[[ -x $scratch/prefix/bin/wic ]] || return 0
	step "installed wic" "$scratch/prefix/bin/wic" info
	# `timeout` starts programs only, so the function goes to a shell of its own.
	export scratch root
	export -f build_examples
	step "examples, installed" bash -c 'build_examples "$1"' bash "$scratch/prefix"
	if have nvcc || [[ -x /usr/local/cuda/bin/nvcc ]]; then
		step "CUDA examples, installed" "$root/examples/cuda/build_test.sh" "$scratch/prefix/include" \
			"$(dirname "$(find "$scratch/prefix" -name 'libwic.*' | head -n 1)")"
	else
		skip_step "CUDA examples, installed" "there is no nvcc"
	fi
}

# What differs from `check` is run, and what a compiler or a checker may see; not each test
# with each: an hour must do on a machine three times slower than the usual one.
full_steps() {
	preset release full
	within_hour tsan_rest
	within_hour asan_rest
	without=$one_of_both
	within_hour preset debug quick
	within_hour preset clang quick
	without="$one_of_both|$slow_under_tsan"
	within_hour preset clang-tsan quick
	without="$one_of_both|$slow_under_asan"
	within_hour preset clang-asan quick
	without="$one_of_both|^cli_"
	within_hour preset o3 quick
	without='^$'
	if [[ $release_built == 1 ]]; then
		within_hour mechanism uffd
		within_hour mechanism mprotect
		within_hour installed
	fi
	within_hour valgrind_tests
	within_hour aarch64_tests
	within_hour clean_clone
	within_hour kmod_checks
}

begin() {
	local name
	exec </dev/null 2>&1
	export LC_ALL=C
	# A user's settings of the library are not what is tested.
	for name in $(compgen -e | grep '^WIC_' || true); do
		unset "$name"
	done
	mkdir -p "$logs"
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/wic-check.XXXXXX")
	chmod 755 "$scratch"
	trap 'rm -rf "$scratch"' EXIT
}

# The last line stands alone, for scripts.
end() {
	local line
	for line in ${skip_lines[@]+"${skip_lines[@]}"}; do
		printf 'skipped %s\n' "$line"
	done
	printf 'took %d s, logs in %s\n' "$SECONDS" "$logs"
	printf '%d passed, %d failed, %d skipped\n' $passed $failed ${#skip_lines[@]}
	[[ $failed == 0 ]]
}

check() {
	[[ $# == 0 ]] || die "check takes no arguments"
	begin
	check_steps
	end
}

# What the results in out/check-gpu are of.
describe_machine() {
	date -u '+%Y-%m-%d %H:%M:%S UTC'
	echo "command ./run check-gpu"
	echo "commit $(git -C "$root" describe --always --dirty 2>/dev/null || echo 'not a git checkout')"
	uname -srm
	echo "$(jobs_max) cores"
	! have nvidia-smi ||
		nvidia-smi --query-gpu=index,name,driver_version,mig.mode.current --format=csv,noheader || true
	{ nvcc --version || /usr/local/cuda/bin/nvcc --version; } 2>/dev/null | tail -n 1 || true
}

# What has the label gpu, one after the other; its results are files.
check_gpu() {
	local out=$root/out/check-gpu start=$SECONDS
	[[ $# == 0 ]] || die "check-gpu takes no arguments"
	begin
	rm -rf "$out"
	mkdir -p "$out"
	describe_machine >"$out/machine.txt"
	if ! build release gpu_programs 2>"$logs/step.err"; then
		sed 's/^/  /' "$logs/step.err"
		fail_step "gpu: build" "see $logs/build-release.log"
	else
		printf '%-28s %40s %5d s\n' "gpu: build" '' $((SECONDS - start))
		tests "gpu: ctest" "$root/build" gpu
		cp "$root/build/junit.xml" "$out/" || true
		# All that the programs said, which the summary of ctest leaves out.
		cp "$root/build/Testing/Temporary/LastTest.log" "$out/tests.log" || true
	fi
	end | tee "$out/summary.txt"
}

check_full() {
	[[ $# == 0 || "$*" == --after-check ]] || die "check-full takes --after-check only"
	begin
	if [[ $# == 0 ]]; then
		check_steps
	fi
	full_steps
	end
}
