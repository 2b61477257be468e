// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * userfaultfd(2) with UFFD_USER_MODE_ONLY: needs no privilege and no sysctl.  SIGBUS:
 * the faulting thread is not stopped in the kernel but gets the signal, and the handler
 * parks the fiber.  Opening maps the zero page: no memory is allocated, and the read
 * that follows needs no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/cpu/window.h"
#include "lib/log.h"

#define UFFD_FEATURES UFFD_FEATURE_SIGBUS

/*
 * A filter may refuse the call (EPERM) or hide it (ENOSYS) where the device node is allowed.
 * If neither works the call's error is the reason.
 */
static int uffd_new(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY), rc = -errno;
#ifdef USERFAULTFD_IOC_NEW
	int node;

	if (fd >= 0)
		return fd;
	node = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
	if (node >= 0) {
		fd = ioctl(node, USERFAULTFD_IOC_NEW, O_CLOEXEC | UFFD_USER_MODE_ONLY);
		close(node);
	}
#endif
	return fd >= 0 ? fd : rc;
}

static int uffd_init(struct window *win)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURES };
	struct uffdio_register reg = {
		.range = { (uintptr_t)win->closed, (uint64_t)win->pages * WIC_PAGE_BYTES },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = uffd_new();

	if (fd < 0)
		return wic_fail(-ENOTSUP, "userfaultfd: %s", strerror(-fd));
	if (ioctl(fd, UFFDIO_API, &api)) {
		wic_fail(-ENOTSUP, "userfaultfd lacks SIGBUS: %s", strerror(errno));
		goto err_close;
	}
	if (ioctl(fd, UFFDIO_REGISTER, &reg)) {
		wic_fail(-ENOTSUP, "UFFDIO_REGISTER of %u pages: %s", win->pages, strerror(errno));
		goto err_close;
	}
	win->uffd = fd;
	return 0;

err_close:
	close(fd);
	return -ENOTSUP;
}

static int uffd_open_page(struct window *win, uint32_t page)
{
	struct uffdio_zeropage z = {
		.range = { (uintptr_t)win->closed + (uint64_t)page * WIC_PAGE_BYTES,
			   WIC_PAGE_BYTES },
		/* Nobody sleeps in the kernel: SIGBUS has sent the thread away. */
		.mode = UFFDIO_ZEROPAGE_MODE_DONTWAKE,
	};

	while (ioctl(win->uffd, UFFDIO_ZEROPAGE, &z)) {
		if (errno == EEXIST)
			return 0; /* open already */
		if (errno != EAGAIN && errno != EINTR)
			return wic_fail(-EIO, "opening page %u: UFFDIO_ZEROPAGE: %s", page,
					strerror(errno));
	}
	return 0;
}

static int uffd_close_run(struct window *win, struct wic_run run)
{
	if (madvise(win->closed + (size_t)run.first * WIC_PAGE_BYTES,
		    (size_t)run.count * WIC_PAGE_BYTES, MADV_DONTNEED))
		return wic_fail(-EIO, "closing pages %u to %u: MADV_DONTNEED: %s", run.first,
				run.first + run.count - 1, strerror(errno));
	return 0;
}

static void uffd_open_all(struct window *win)
{
	struct uffdio_range range = { (uintptr_t)win->closed,
				      (uint64_t)win->pages * WIC_PAGE_BYTES };

	if (ioctl(win->uffd, UFFDIO_UNREGISTER, &range))
		wic_log(WIC_LOG_ERROR, "opening all pages: UFFDIO_UNREGISTER: %s", strerror(errno));
}

static void uffd_fini(struct window *win)
{
	close(win->uffd);
	win->uffd = -1;
}

const struct window_ops wic_window_uffd = {
	.name = "uffd",
	.init = uffd_init,
	.open_page = uffd_open_page,
	.close_run = uffd_close_run,
	.open_all = uffd_open_all,
	.fini = uffd_fini,
};
