/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets, and names of hosts. */
#include "inject.h"

#include <netdb.h>
#include <sys/socket.h>

#define MOVE_WAYS EINTR, ENOMEM, EAGAIN, FAULTS_SHORT

REPLACES int socket(int family, int kind, int protocol)
{
	FAIL(-1, "socket", EMFILE, ENOMEM);
	return NEXT(socket)(family, kind, protocol);
}

REPLACES int socketpair(int family, int kind, int protocol, int fds[2])
{
	FAIL(-1, "socketpair", EMFILE, ENOMEM);
	return NEXT(socketpair)(family, kind, protocol, fds);
}

REPLACES int bind(int fd, const struct sockaddr *address, socklen_t size)
{
	FAIL(-1, "bind", ENOMEM);
	return NEXT(bind)(fd, address, size);
}

REPLACES int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	FAIL(-1, "connect", EINTR, ENOMEM, EAGAIN);
	return NEXT(connect)(fd, address, size);
}

REPLACES int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
	FAIL(-1, "setsockopt", ENOMEM);
	return NEXT(setsockopt)(fd, level, option, value, size);
}

REPLACES ssize_t send(int fd, const void *data, size_t size, int flags)
{
	int way = WAY("send", MOVE_WAYS);

	if (way && way != FAULTS_SHORT) {
		errno = way;
		return -1;
	}
	return NEXT(send)(fd, data, way ? size / 2 : size, flags);
}

REPLACES ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t to_size)
{
	int way = WAY("sendto", EINTR, ENOMEM, EAGAIN);

	if (way) {
		errno = way;
		return -1;
	}
	return NEXT(sendto)(fd, data, size, flags, to, to_size);
}

static bool is_stream(int fd)
{
	int kind = 0;
	socklen_t size = sizeof(kind);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) && kind == SOCK_STREAM;
}

REPLACES ssize_t recv(int fd, void *data, size_t size, int flags)
{
	/* Messages come as a whole. */
	int way = is_stream(fd) ? WAY("recv", MOVE_WAYS) : WAY("recv", EINTR, ENOMEM, EAGAIN);

	if (way && way != FAULTS_SHORT) {
		errno = way;
		return -1;
	}
	return NEXT(recv)(fd, data, way ? 8 : size, flags);
}

/* Its ways are EAI_ values. */
REPLACES int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
	int way = WAY("getaddrinfo", EAI_MEMORY, EAI_AGAIN, EAI_SYSTEM);

	if (way == EAI_SYSTEM)
		errno = EMFILE;
	return way ? way : NEXT(getaddrinfo)(node, service, hints, list);
}
