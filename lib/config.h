/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * From what the caller and the environment say to a struct wic_config without
 * open questions.  The tables here are what the documentation is checked against.
 */
#ifndef WIC_LIB_CONFIG_H
#define WIC_LIB_CONFIG_H

#include <wic/wic.h>

/**
 * wic_config_resolve() - Field, else WIC_* variable, else default.
 * @cfg: the caller's, NULL: all defaults.
 * @cfg_out: every field in range; sms and close_batch may be 0 (the back-end's
 *	default); backend is "auto" or a name, borrowed from @cfg or the environment.
 * @from_out: who named the back-end: "wic_config", "WIC_BACKEND" or "default".
 *
 * Context: any thread; reads the environment.
 * Return: 0; -EINVAL: a field or variable is malformed or out of range; the error
 * text has its name, value and range.
 */
int wic_config_resolve(const struct wic_config *cfg, struct wic_config *cfg_out,
		       const char **from_out) WIC_MUST_CHECK;

/* One warning for each WIC_* variable that nobody reads, with the nearest known name. */
void wic_config_warn_unknown(void);

/* "auto", "uffd", "mprotect"; NULL: no such mechanism. */
const char *wic_mechanism_name(enum wic_mechanism mechanism);

#endif /* WIC_LIB_CONFIG_H */
