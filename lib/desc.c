/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#include "lib/desc.h"

#include <inttypes.h>
#include <string.h>

#include "lib/log.h"

/* No struct of ours comes near it; a garbage size must not send us through memory. */
#define DESC_BYTES_MAX 4096

int wic_desc_copy(const char *what, const void *desc, size_t first_bytes, size_t bytes,
		  void *copy_out)
{
	const unsigned char *extra = desc;
	uint64_t given, own = bytes;
	size_t copied;

	memcpy(&given, desc, sizeof(given));
	if (given < first_bytes || given > DESC_BYTES_MAX)
		return wic_fail(-EINVAL, "%s: size_bytes is %" PRIu64 ", not in [%zu, %d]", what,
				given, first_bytes, DESC_BYTES_MAX);
	for (size_t i = bytes; i < given; i++)
		if (extra[i])
			return wic_fail(-EINVAL,
					"%s: byte %zu is %u, this library knows only %zu bytes",
					what, i, extra[i], bytes);
	copied = given < bytes ? (size_t)given : bytes;
	memset(copy_out, 0, bytes);
	memcpy(copy_out, desc, copied);
	memcpy(copy_out, &own, sizeof(own));
	return 0;
}
