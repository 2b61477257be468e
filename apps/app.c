/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "apps/app.h"

#include <string.h>

void (*app_kernel_of(const struct app_ops *app, const char *method))(const void *args)
{
	const struct app_kernel *k = app->kernels;

	while (k->method && strcmp(k->method, method))
		k++;
	return k->kernel;
}

void app_kernels_add(const struct app_ops *app)
{
	const struct app_kernel *k;

	for (k = app->kernels; k->method; k++)
		if (k->image->image)
			wic_kernel_image_add(k->image);
}
