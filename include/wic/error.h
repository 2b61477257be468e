/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Errors.  Every function of WIC that can fail returns 0 or a negative errno.
 * No other error namespace leaves the library: CUresult, NV_STATUS and signals
 * are translated once, inside the back-end that met them.
 */
#ifndef WIC_ERROR_H
#define WIC_ERROR_H

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define WIC_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WIC_MUST_CHECK
#endif

/**
 * wic_strerror() - What a status means, in one English sentence.
 * @rc: a status returned by a function of WIC: 0 or a negative errno.
 *
 * Context: any thread, also from a kernel, any signal handler, a child of fork(); does not block.
 * Return: a constant string, never NULL, never to be freed.
 */
const char *wic_strerror(int rc);

/**
 * wic_last_error() - Why the last call of WIC on this thread failed.
 *
 * The text carries the values that decided it (channel, tag, epoch wanted and
 * seen, block and warp where there are some).  It stays as it is until the next
 * call on this thread fails: a success does not clear it, and -EAGAIN of a try form
 * need not set it.
 *
 * Context: any thread, also in a child of fork(), which begins with its parent's text, and from a
 * kernel, where all warps of an SM share one: read it before the next wait or turn.  Does not
 * block.
 * Return: a string owned by the thread, "" when nothing has failed yet.
 */
const char *wic_last_error(void);

#ifdef __cplusplus
}
#endif
#endif /* WIC_ERROR_H */
