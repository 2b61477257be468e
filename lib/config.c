/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/config.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/backend.h"
#include "lib/desc.h"
#include "lib/log.h"
#include "lib/minmax.h"

/*
 * A number of the configuration.  0 in the field asks the variable, 0 in the
 * variable (or none) the default; a default of 0 is left for the back-end.
 */
struct option {
	const char *field;
	const char *variable;
	size_t offset; /* of a uint32_t in struct wic_config */
	uint32_t min;
	uint32_t max;
	uint32_t value_default;
};

#define OPTION(name, variable, min, max, value_default)                                     \
	{                                                                                   \
#name, variable, offsetof(struct wic_config, name), min, max, value_default \
	}

static const struct option options[] = {
	OPTION(sms, "WIC_SMS", 1, 4096, 0),
	OPTION(sm_warps, "WIC_SM_WARPS", 1, 1024, 64),
	OPTION(sm_blocks, "WIC_SM_BLOCKS", 1, 1024, 0),
	OPTION(stack_bytes, "WIC_STACK_BYTES", 16 << 10, 8 << 20, 64 << 10),
	OPTION(pool_pages, "WIC_POOL_PAGES", 2, 1 << 21, 16384),
	OPTION(close_batch, "WIC_CLOSE_BATCH", 1, 1 << 20, 0),
	OPTION(record_events, "WIC_RECORD_EVENTS", 1, 1 << 26, 0),
	OPTION(unpinned, "WIC_UNPINNED", 1, 1, 0),
	OPTION(devices, "WIC_DEVICES", 1, 16, 1),
	OPTION(warn_after_ms, "WIC_WARN_AFTER_MS", 1, UINT32_MAX, 10000),
};

#define SM_BLOCKS_DEFAULT 8
#define PAGES_MAX (1u << 24) /* wic_config.devices documents it */

static const char *const mechanism_names[] = { "auto", "uffd", "mprotect" };

/*
 * Words, and what is read somewhere else: WIC_LOG by lib/log.c, WIC_INSTALL by ./run,
 * WIC_LIBCUDA by backends/cuda/driver.c, WIC_PARK by launch.c there.
 */
static const char *const other_variables[] = {
	"WIC_BACKEND", "WIC_MECHANISM", "WIC_LOG", "WIC_INSTALL", "WIC_LIBCUDA", "WIC_PARK",
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t *field_of(const struct option *o, struct wic_config *cfg)
{
	return (uint32_t *)((char *)cfg + o->offset);
}

/* A set but empty variable counts as not set, as in most programs. */
static const char *variable_get(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

const char *wic_mechanism_name(enum wic_mechanism mechanism)
{
	return (unsigned)mechanism < COUNT_OF(mechanism_names) ? mechanism_names[mechanism] : NULL;
}

/* strtoull() takes blanks, signs and "0x" without digits; a number here begins with a digit. */
static int parse_number(const char *text, uint64_t *value_out)
{
	uint64_t value;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	if (errno || *end || end == text)
		return -EINVAL;
	*value_out = value;
	return 0;
}

static int option_resolve(const struct option *o, struct wic_config *cfg)
{
	uint32_t *field = field_of(o, cfg);
	const char *text = variable_get(o->variable);
	uint64_t value;

	if (*field) {
		if (*field < o->min || *field > o->max)
			return wic_fail(-EINVAL,
					"wic_config.%s is %" PRIu32 ", not in [%" PRIu32
					", %" PRIu32 "] or 0",
					o->field, *field, o->min, o->max);
		return 0;
	}
	*field = o->value_default;
	if (!text)
		return 0;
	if (parse_number(text, &value) || (value && (value < o->min || value > o->max)))
		return wic_fail(-EINVAL,
				"%s is \"%.64s\", not a number in [%" PRIu32 ", %" PRIu32 "] or 0",
				o->variable, text, o->min, o->max);
	if (value)
		*field = (uint32_t)value;
	return 0;
}

static int mechanism_resolve(struct wic_config *cfg)
{
	const char *text = variable_get("WIC_MECHANISM");

	if (cfg->mechanism >= COUNT_OF(mechanism_names))
		return wic_fail(-EINVAL, "wic_config.mechanism is %" PRIu32 ", not in [0, %zu]",
				cfg->mechanism, COUNT_OF(mechanism_names) - 1);
	if (cfg->mechanism != WIC_MECHANISM_AUTO || !text)
		return 0;
	for (uint32_t i = 0; i < COUNT_OF(mechanism_names); i++) {
		if (!strcmp(text, mechanism_names[i])) {
			cfg->mechanism = i;
			return 0;
		}
	}
	return wic_fail(-EINVAL, "WIC_MECHANISM is \"%.64s\", not auto, uffd or mprotect", text);
}

/* What one field demands of another.  The text says where each value came from by its value. */
static int relations_resolve(struct wic_config *cfg)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!cfg->sm_blocks)
		cfg->sm_blocks =
			cfg->sm_warps < SM_BLOCKS_DEFAULT ? cfg->sm_warps : SM_BLOCKS_DEFAULT;
	if (cfg->sm_blocks > cfg->sm_warps)
		return wic_fail(-EINVAL,
				"sm_blocks is %" PRIu32 ", not in [1, sm_warps], which is %" PRIu32,
				cfg->sm_blocks, cfg->sm_warps);
	if (cfg->pool_pages % 2)
		return wic_fail(-EINVAL,
				"pool_pages is %" PRIu32 ", not even: every page has a partner",
				cfg->pool_pages);
	/* The engine numbers the pages of all devices and of the host together. */
	if ((uint64_t)(cfg->devices + 1) * cfg->pool_pages > PAGES_MAX)
		return wic_fail(-EINVAL,
				"%" PRIu32 " devices and the host with %" PRIu32
				" pool_pages each have more than %u pages",
				cfg->devices, cfg->pool_pages, PAGES_MAX);
	/* And the requests: a warp has one.  The back-end's own number of SMs keeps within that. */
	if ((uint64_t)cfg->sms * cfg->devices * cfg->sm_warps > WIC_BE_WARPS_MAX)
		return wic_fail(-EINVAL,
				"sms (WIC_SMS), %" PRIu32 ", * devices (WIC_DEVICES), %" PRIu32
				", * sm_warps (WIC_SM_WARPS), %" PRIu32 ", are more than %u warps",
				cfg->sms, cfg->devices, cfg->sm_warps, WIC_BE_WARPS_MAX);
	if (cfg->close_batch > cfg->pool_pages / 2)
		return wic_fail(-EINVAL,
				"close_batch is %" PRIu32
				", not in [1, pool_pages / 2], which is %" PRIu32,
				cfg->close_batch, cfg->pool_pages / 2);
	cfg->stack_bytes =
		(uint32_t)((cfg->stack_bytes + page_bytes - 1) / page_bytes * page_bytes);
	return 0;
}

static int log_level_check(void)
{
	const char *text = variable_get("WIC_LOG");

	if (text && wic_log_parse_level(text) < 0)
		return wic_fail(-EINVAL, "WIC_LOG is \"%.64s\", not error, warn, info or debug",
				text);
	return 0;
}

static void backend_resolve(struct wic_config *cfg, const char **from_out)
{
	*from_out = "wic_config";
	if (cfg->backend)
		return;
	*from_out = "WIC_BACKEND";
	cfg->backend = variable_get("WIC_BACKEND");
	if (cfg->backend)
		return;
	*from_out = "default";
	cfg->backend = "auto";
}

int wic_config_resolve(const struct wic_config *cfg, struct wic_config *cfg_out,
		       const char **from_out)
{
	struct wic_config c = WIC_CONFIG_INIT;
	const char *from;
	int rc = 0;

	if (cfg)
		rc = wic_desc_copy("wic_config", cfg, sizeof(c), sizeof(c), &c);
	if (rc)
		return rc;
	if (c.reserved)
		return wic_fail(-EINVAL, "wic_config.reserved is %" PRIu32 ", not 0", c.reserved);
	c.unpinned = !!c.unpinned;
	for (size_t i = 0; i < COUNT_OF(options) && !rc; i++)
		rc = option_resolve(&options[i], &c);
	if (!rc)
		rc = mechanism_resolve(&c);
	if (!rc)
		rc = relations_resolve(&c);
	if (!rc)
		rc = log_level_check();
	if (rc)
		return rc;
	backend_resolve(&c, &from);
	*cfg_out = c;
	*from_out = from;
	return 0;
}

static const char *known_variable(size_t i)
{
	if (i < COUNT_OF(options))
		return options[i].variable;
	i -= COUNT_OF(options);
	return i < COUNT_OF(other_variables) ? other_variables[i] : NULL;
}

#define NAME_BYTES_MAX 48

/* Levenshtein's distance of a name (its first @length bytes) to a known one. */
static uint32_t distance(const char *name, size_t length, const char *known)
{
	uint32_t row[NAME_BYTES_MAX + 1];
	size_t known_length = strlen(known);

	for (size_t j = 0; j <= known_length; j++)
		row[j] = (uint32_t)j;
	for (size_t i = 1; i <= length; i++) {
		uint32_t diagonal = row[0];

		row[0] = (uint32_t)i;
		for (size_t j = 1; j <= known_length; j++) {
			uint32_t replaced = diagonal + (name[i - 1] != known[j - 1]);

			diagonal = row[j];
			row[j] = min_u32(replaced, min_u32(row[j], row[j - 1]) + 1);
		}
	}
	return row[known_length];
}

/* The known name at most three edits away, the nearest; NULL: none. */
static const char *nearest(const char *name, size_t length)
{
	const char *known, *best = NULL;
	uint32_t best_distance = 4;

	for (size_t i = 0; (known = known_variable(i)); i++) {
		uint32_t d = distance(name, length, known);

		if (d < best_distance) {
			best = known;
			best_distance = d;
		}
	}
	return best;
}

static bool is_known(const char *name, size_t length)
{
	const char *known;

	for (size_t i = 0; (known = known_variable(i)); i++)
		if (strlen(known) == length && !memcmp(known, name, length))
			return true;
	return false;
}

/*
 * Names warned about, as FNV-1a hashes.  A process that opens many contexts is
 * told once; past the 64th unknown name it is told nothing more.
 */
static pthread_mutex_t warned_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t warned[64];
static uint32_t warned_count;

static bool warn_is_due(const char *name, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;
	bool is_due = true;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
	/* Held by a thread that fork() left behind: better no warning than none of the rest. */
	if (pthread_mutex_trylock(&warned_lock))
		return false;
	for (uint32_t i = 0; i < warned_count; i++)
		is_due = is_due && warned[i] != hash;
	is_due = is_due && warned_count < COUNT_OF(warned);
	if (is_due)
		warned[warned_count++] = hash;
	pthread_mutex_unlock(&warned_lock);
	return is_due;
}

void wic_config_warn_unknown(void)
{
	for (char **e = environ; e && *e; e++) {
		size_t length = strcspn(*e, "=");
		const char *best;

		if (strncmp(*e, "WIC_", 4) || is_known(*e, length) || !warn_is_due(*e, length))
			continue;
		best = length <= NAME_BYTES_MAX ? nearest(*e, length) : NULL;
		if (best)
			wic_log(WIC_LOG_WARN, "unknown variable %.*s, is %s meant?", (int)length,
				*e, best);
		else
			wic_log(WIC_LOG_WARN, "unknown variable %.*s", (int)length, *e);
	}
}
