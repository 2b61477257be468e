/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Stand-in of the kernel's header: the errno values that core/ may use. */
#ifndef WIC_CORE_TESTKERNEL_LINUX_ERRNO_H
#define WIC_CORE_TESTKERNEL_LINUX_ERRNO_H

#define EIO 5
#define E2BIG 7
#define EAGAIN 11
#define ENOMEM 12
#define EBUSY 16
#define EINVAL 22
#define EDEADLK 35
#define ETIMEDOUT 110
#define ECANCELED 125
#define EOWNERDEAD 130

#endif /* WIC_CORE_TESTKERNEL_LINUX_ERRNO_H */
