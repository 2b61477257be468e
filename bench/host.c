/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "bench/host.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/config.h"
#include "wic_commit.h"

static void cpu_model(char *text, size_t bytes)
{
	char line[512];
	FILE *f = fopen("/proc/cpuinfo", "r");

	snprintf(text, bytes, "unknown CPU");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(text, bytes, "%s", colon);
		break;
	}
	fclose(f);
}

static char machine[512];

void bench_machine_add(const char *device)
{
	size_t used = strlen(bench_machine());

	if (!strstr(machine, device))
		snprintf(machine + used, sizeof(machine) - used, "; %s", device);
}

const char *bench_machine(void)
{
	char *const text = machine;
	struct utsname name;
	char model[192];

	if (text[0])
		return text;
	cpu_model(model, sizeof(model));
	if (uname(&name))
		snprintf(text, sizeof(machine), "%s, %u cores", model, bench_cores());
	else
		snprintf(text, sizeof(machine), "%s, %u core%s, %s %.64s %.32s", model,
			 bench_cores(), bench_cores() == 1 ? "" : "s", name.sysname, name.release,
			 name.machine);
	return text;
}

const char *bench_commit(void)
{
	return WIC_COMMIT;
}

void bench_date(char *text, size_t bytes)
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, bytes, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/*
 * The process's mask; NULL: it cannot be read.  Asked once, before any pinning: a pinned
 * thread, and those that it starts, have one core in theirs.
 */
static const cpu_set_t *process_mask(void)
{
	static bool is_known, is_readable;
	static cpu_set_t mask;

	if (!is_known) {
		is_readable = !sched_getaffinity(0, sizeof(mask), &mask);
		is_known = true;
	}
	return is_readable ? &mask : NULL;
}

uint32_t bench_cores(void)
{
	const cpu_set_t *mask = process_mask();

	return mask ? (uint32_t)CPU_COUNT(mask) : 1;
}

bool bench_is_pinned(void)
{
	struct wic_config cfg;
	const char *from;

	/* A malformed variable is wic_open()'s to refuse. */
	return wic_config_resolve(NULL, &cfg, &from) || !cfg.unpinned;
}

uint64_t bench_memory_budget_bytes(void)
{
	unsigned long long kib = 0;
	char line[256];
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	if (!kib)
		return 1ull << 30;
	return (uint64_t)kib * 1024 / 2;
}

void bench_pin_core(struct bench_pin *pin, uint32_t index)
{
	const cpu_set_t *mask = process_mask();
	cpu_set_t one;

	pin->is_pinned = false;
	if (!mask || !bench_is_pinned() || sched_getaffinity(0, sizeof(pin->before), &pin->before))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, mask) || index--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		pin->is_pinned = !sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

void bench_pin_last(struct bench_pin *pin)
{
	bench_pin_core(pin, bench_cores() - 1);
}

void bench_unpin(struct bench_pin *pin)
{
	if (pin->is_pinned && sched_setaffinity(0, sizeof(pin->before), &pin->before))
		bench_error("cannot restore the CPU mask: %s", strerror(errno));
	pin->is_pinned = false;
}

void bench_sleep_until(uint64_t due_ns)
{
	static __thread bool is_fine;
	struct timespec due = { (time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u) };

	/* Without this a sleep ends up to 50 us late. */
	if (!is_fine) {
		prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
		is_fine = true;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

bool bench_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

bool bench_has_colour(FILE *stream)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(fileno(stream)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

void bench_error(const char *fmt, ...)
{
	va_list args;

	bench_progress("%s", "");
	fputs("wic: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

void bench_progress(const char *fmt, ...)
{
	static bool is_shown;
	char text[256];
	va_list args;

	if (!isatty(STDERR_FILENO))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!*text && !is_shown)
		return;
	/* The line goes before anything else is printed, so stdout may share the screen. */
	fflush(stdout);
	fprintf(stderr, "\r\033[K%.78s", text);
	fflush(stderr);
	is_shown = *text != '\0';
}
