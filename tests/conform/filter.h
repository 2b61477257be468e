/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A seccomp filter that answers some system calls with an error, as container runtimes do:
 * raw BPF by prctl(2), no library.  A filter sees numbers, no paths: the device node is told
 * from other files by the flags that it is opened with.
 */
#ifndef WIC_TESTS_CONFORM_FILTER_H
#define WIC_TESTS_CONFORM_FILTER_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Errors, 0: allowed. */
struct filter {
	int userfaultfd; /* the call */
	int open_rdwr;   /* openat(O_RDWR | O_CLOEXEC): /dev/userfaultfd */
	int is_sandbox;  /* also what no program in a container needs: EPERM */
};

#define FILTER_ERRNO(e) (SECCOMP_RET_ERRNO | (uint32_t)(e))
#define FILTER_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define FILTER_DENY(nr, e)                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, (e) ? FILTER_ERRNO(e) : SECCOMP_RET_ALLOW)

/* For this process and all that it starts; there is no way back.  0 or a negative errno. */
static inline int filter_install(struct filter f)
{
	int sandbox = f.is_sandbox ? EPERM : 0;
	struct sock_filter code[] = {
		FILTER_LOAD(nr),
		FILTER_DENY(SYS_userfaultfd, f.userfaultfd),
		FILTER_DENY(SYS_ptrace, sandbox),
		FILTER_DENY(SYS_bpf, sandbox),
		FILTER_DENY(SYS_perf_event_open, sandbox),
		FILTER_DENY(SYS_mount, sandbox),
		FILTER_DENY(SYS_unshare, sandbox),
		FILTER_DENY(SYS_setns, sandbox),
		FILTER_DENY(SYS_keyctl, sandbox),
		FILTER_DENY(SYS_process_vm_readv, sandbox),
		FILTER_DENY(SYS_process_vm_writev, sandbox),
		FILTER_DENY(SYS_mbind, sandbox),
		FILTER_DENY(SYS_move_pages, sandbox),
		FILTER_DENY(SYS_io_uring_setup, sandbox),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		FILTER_LOAD(args[2]),
		FILTER_DENY(O_RDWR | O_CLOEXEC, f.open_rdwr),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -errno;
	return 0;
}

#endif /* WIC_TESTS_CONFORM_FILTER_H */
