/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include <string.h>

#include "apps/app.h"
#include "apps/c_h3d/c_h3d.h"
#include "apps/c_srs/c_srs.h"
#include "apps/g_bs/g_bs.h"

const struct app_ops *const apps[] = { &app_c_srs, &app_c_h3d, &app_g_bs, NULL };

const struct app_ops *app_find(const char *name)
{
	size_t i;

	if (!name)
		return NULL;
	for (i = 0; apps[i]; i++)
		if (!strcmp(apps[i]->name, name))
			return apps[i];
	return NULL;
}
