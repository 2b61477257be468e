/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/kernel_image.h"

#include <pthread.h>

/*
 * Only grows.  Adders hold the lock; the last link is stored with release when the new image is
 * complete, which pairs with the acquire of those who walk the list without it.
 */
static pthread_mutex_t add_lock = PTHREAD_MUTEX_INITIALIZER;
static struct wic_kernel_image *first;

void wic_kernel_image_add(struct wic_kernel_image *image)
{
	struct wic_kernel_image **link = &first;

	pthread_mutex_lock(&add_lock);
	while (*link && *link != image)
		link = &(*link)->next;
	if (!*link) {
		image->next = NULL;
		__atomic_store_n(link, image, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&add_lock);
}

const struct wic_kernel_image *wic_kernel_image_next(const struct wic_kernel_image *image)
{
	/* Pairs with the store in wic_kernel_image_add(). */
	return __atomic_load_n(image ? &image->next : &first, __ATOMIC_ACQUIRE);
}

const struct wic_kernel_image *wic_kernel_image_find(void (*kernel)(const void *args),
						     const char **name_out)
{
	const struct wic_kernel_image *image = NULL;
	const struct wic_kernel_entry *e;

	while ((image = wic_kernel_image_next(image))) {
		for (e = image->entries; e->kernel; e++) {
			if (e->kernel != kernel)
				continue;
			*name_out = e->name;
			return image;
		}
	}
	return NULL;
}
