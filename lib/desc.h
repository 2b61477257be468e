/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Argument structs that begin with their own size, so that a program built
 * against an older or newer header than the library's still works: fields that
 * the caller does not know yet are 0, which always means the old behaviour; fields
 * that the library does not know yet must be 0.
 */
#ifndef WIC_LIB_DESC_H
#define WIC_LIB_DESC_H

#include <stddef.h>

/**
 * wic_desc_copy() - Copy an argument struct into the library's own version of it.
 * @what: name of the struct, for the error text.
 * @desc: the caller's, beginning with a uint64_t size_bytes; not NULL.
 * @first_bytes: size of the struct in the first released version.
 * @bytes: size of the library's.
 * @copy_out: @bytes bytes, its size_bytes becomes @bytes; written on success only.
 *
 * Return: 0; -EINVAL: smaller than the first version, longer than a page, or
 * non-zero in bytes that this library does not know.
 */
int wic_desc_copy(const char *what, const void *desc, size_t first_bytes, size_t bytes,
		  void *copy_out) __attribute__((warn_unused_result));

#endif /* WIC_LIB_DESC_H */
