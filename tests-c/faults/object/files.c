/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Descriptors that are no sockets, and threads. */
#include "inject.h"
#include "ids.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* The library's counters, of which reading and writing always succeeds. */
static bool counters[FAULTS_FDS];

static bool *counter(int fd)
{
	static bool unknown;

	return fd >= 0 && fd < FAULTS_FDS ? &counters[fd] : &unknown;
}

#define OPEN(name)                                                      \
	REPLACES int name(const char *path, int flags, ...)             \
	{                                                               \
		va_list arguments;                                      \
		mode_t mode;                                            \
									\
		va_start(arguments, flags);                             \
		mode = mode_of(flags, &arguments);                      \
		va_end(arguments);                                      \
		FAIL(-1, "open", EMFILE, EINTR, ENOMEM, ENODEV);        \
		return NEXT(name)(path, flags, mode);                   \
	}

OPEN(open)
OPEN(open64)

REPLACES FILE *fopen(const char *path, const char *mode)
{
	FAIL(NULL, "fopen", EMFILE, ENOMEM);
	return NEXT(fopen)(path, mode);
}

REPLACES DIR *opendir(const char *path)
{
	FAIL(NULL, "opendir", EMFILE, ENOMEM);
	return NEXT(opendir)(path);
}

REPLACES ssize_t read(int fd, void *data, size_t size)
{
	int way = *counter(fd) ? 0 : WAY("read", EINTR, EIO, ENOMEM);

	if (way) {
		errno = way;
		return -1;
	}
	return NEXT(read)(fd, data, size);
}

REPLACES ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t written;
	int way;

	if (!IS_OURS || *counter(fd))
		return NEXT(write)(fd, data, size);
	/* ENODEV: what is to be ended is gone already. */
	way = faults_is_end(data, size) ? WAY("write", EINTR, ENOMEM, EIO, FAULTS_SHORT) :
					      WAY("write", EINTR, ENOMEM, EIO, ENODEV, FAULTS_SHORT);
	if (way == FAULTS_SHORT)
		return (ssize_t)size / 2;
	if (way) {
		errno = way;
		return -1;
	}
	written = NEXT(write)(fd, data, size);
	if (written == (ssize_t)size)
		faults_count_command(fd, data, size);
	return written;
}

/* The descriptor is closed, as after each of the kernel's own errors. */
REPLACES int close(int fd)
{
	int way = WAY("close", EINTR, EIO);

	if (IS_OURS)
		faults_forget_ids(fd);
	*counter(fd) = false;
	if (!way)
		return NEXT(close)(fd);
	NEXT(close)(fd);
	errno = way;
	return -1;
}

REPLACES int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	void *argument;

	va_start(rest, request);
	argument = va_arg(rest, void *);
	va_end(rest);
	/* Not EIO: so the kernel answers when the device was taken away. */
	FAIL(-1, "ioctl", EINTR, ENOMEM);
	return NEXT(ioctl)(fd, request, argument);
}

REPLACES int fcntl(int fd, int command, ...)
{
	va_list rest;
	void *argument;

	va_start(rest, command);
	argument = va_arg(rest, void *);
	va_end(rest);
	FAIL(-1, "fcntl", ENOMEM, EMFILE);
	return NEXT(fcntl)(fd, command, argument);
}

REPLACES int dup3(int from, int to, int flags)
{
	FAIL(-1, "dup3", EINTR, EBUSY, EMFILE);
	*counter(to) = *counter(from);
	return NEXT(dup3)(from, to, flags);
}

REPLACES int fstat(int fd, struct stat *status)
{
	FAIL(-1, "fstat", ENOMEM, EIO);
	return NEXT(fstat)(fd, status);
}

REPLACES int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	FAIL(-1, "poll", EINTR, ENOMEM);
	return NEXT(poll)(fds, count, timeout);
}

REPLACES int eventfd(unsigned int value, int flags)
{
	int fd;

	FAIL(-1, "eventfd", EMFILE, ENOMEM, ENODEV);
	fd = NEXT(eventfd)(value, flags);
	if (IS_OURS && (flags & EFD_NONBLOCK))
		*counter(fd) = true;
	return fd;
}

REPLACES int timerfd_create(clockid_t clock, int flags)
{
	FAIL(-1, "timerfd_create", EMFILE, ENOMEM, ENODEV);
	return NEXT(timerfd_create)(clock, flags);
}

REPLACES int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	FAIL(-1, "timerfd_settime", EINVAL);
	return NEXT(timerfd_settime)(fd, flags, new, old);
}

REPLACES int inotify_init1(int flags)
{
	FAIL(-1, "inotify_init1", EMFILE, ENOMEM);
	return NEXT(inotify_init1)(flags);
}

REPLACES int epoll_create(int size)
{
	FAIL(-1, "epoll_create", EMFILE, ENOMEM);
	return NEXT(epoll_create)(size);
}

REPLACES int epoll_create1(int flags)
{
	FAIL(-1, "epoll_create1", EMFILE, ENOMEM);
	return NEXT(epoll_create1)(flags);
}

REPLACES int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout)
{
	FAIL(-1, "epoll_wait", EINTR);
	return NEXT(epoll_wait)(epoll, events, room, timeout);
}

REPLACES int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	FAIL(-1, "epoll_ctl", ENOMEM, ENOSPC);
	return NEXT(epoll_ctl)(epoll, operation, fd, event);
}

REPLACES int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	int way = WAY("pthread_create", EAGAIN);

	return way ? way : NEXT(pthread_create)(thread, attributes, run, argument);
}

REPLACES int pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
	int way = WAY("pthread_key_create", ENOMEM, EAGAIN);

	return way ? way : NEXT(pthread_key_create)(key, end);
}

REPLACES int pthread_setspecific(pthread_key_t key, const void *value)
{
	int way = WAY("pthread_setspecific", ENOMEM);

	return way ? way : NEXT(pthread_setspecific)(key, value);
}

/* pthread_atfork() and atexit(), as objects call them. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);
int __cxa_atexit(void (*call)(void *), void *argument, void *object);

REPLACES int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object)
{
	int way = WAY("pthread_atfork", ENOMEM);

	return way ? way : NEXT(__register_atfork)(prepare, parent, child, object);
}

REPLACES int __cxa_atexit(void (*call)(void *), void *argument, void *object)
{
	int way = WAY("atexit", ENOMEM);

	return way ? -1 : NEXT(__cxa_atexit)(call, argument, object);
}
