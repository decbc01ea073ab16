/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls for the inside of the preloaded object. They go past libc: the object replaces some of its functions,
 * and other preloaded objects, which make calls of the library under test fail, are to leave the simulator alone.
 * None of these is a point where a thread is cancelled.
 */
#ifndef SIM_REAL_H
#define SIM_REAL_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static inline int real_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static inline int real_fcntl(int fd, int command, long argument)
{
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

static inline int real_fstat(int fd, struct stat *status)
{
	/* Past libc there is no struct stat but the kernel's, which on the 64-bit machines is the same. */
	return (int)syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH);
}

static inline int real_socket(int family, int kind, int protocol)
{
	return (int)syscall(SYS_socket, family, kind, protocol);
}

static inline int real_connect(int fd, const void *address, socklen_t size)
{
	return (int)syscall(SYS_connect, fd, address, size);
}

static inline ssize_t real_sendmsg(int fd, const struct msghdr *message, int flags)
{
	return syscall(SYS_sendmsg, fd, message, flags);
}

static inline ssize_t real_recvmsg(int fd, struct msghdr *message, int flags)
{
	return syscall(SYS_recvmsg, fd, message, flags);
}

static inline ssize_t real_recv(int fd, void *data, size_t size, int flags)
{
	return syscall(SYS_recvfrom, fd, data, size, flags, NULL, NULL);
}

/* What copy_to_user() is in the kernel: EFAULT for a bad address, and no crash. */
static inline int real_copy_to_user(void *to, const void *from, size_t size)
{
	struct iovec local = { .iov_base = to, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)from, .iov_len = size };
	ssize_t copied;

	if (!size)
		return 0;
	copied = syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0);
	if (copied == (ssize_t)size)
		return 0;
	if (copied < 0 && (errno == EPERM || errno == ENOSYS)) {
		/* Forbidden by a container's filter. */
		__builtin_memcpy(to, from, size);
		return 0;
	}
	errno = EFAULT;
	return -1;
}

#endif
