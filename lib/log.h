/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Log lines and last-error texts.  The function that decides an error calls
 * wic_fail() once, with the values; callers propagate the status.
 */
#ifndef WIC_LIB_LOG_H
#define WIC_LIB_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <wic/wic.h>

#define WIC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * The sink is one for the process: the log function of the context opened last
 * among those still open that have one, else what wic_log_set() gave, else stderr
 * (NULL).  It may be called by several threads at a time, must not call
 * wic_open(), wic_close() or wic_log_set(), and is not running any more once the
 * function that replaced it has returned.
 */
void wic_log_set(void (*sink)(void *arg, int level, const char *line), void *arg);
/* Wins over WIC_LOG for the rest of the process; WIC_LOG_WARN without either. */
void wic_log_set_level(enum wic_log_level level);
bool wic_log_is_on(enum wic_log_level level);
void wic_log(enum wic_log_level level, const char *fmt, ...) WIC_PRINTF(2, 3);

/* Set this thread's last-error text, log it at info level, return @rc.  Keeps errno. */
int wic_fail(int rc, const char *fmt, ...) WIC_PRINTF(2, 3);

/* CLOCK_MONOTONIC in ns; absolute deadline of a timeout (saturates to WIC_FOREVER). */
uint64_t wic_now_ns(void);
uint64_t wic_deadline_ns(uint64_t now_ns, uint64_t timeout_ns);

/* For lib/context.c: a context's sink (NULL: back to wic_log_set()'s), WIC_LOG, fork. */
void wic_log_use(void (*sink)(void *arg, int level, const char *line), void *arg);
void wic_log_read_level(void);
void wic_log_after_fork(void);
/* enum wic_log_level, or -EINVAL. */
int wic_log_parse_level(const char *text);

#endif /* WIC_LIB_LOG_H */
