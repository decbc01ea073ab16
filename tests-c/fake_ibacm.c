/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fake_ibacm.h"
#include "harness.h"
#include "process.h"

#include <arpa/inet.h>
#include <infiniband/sa.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_PATH "/run/ibacm.sock"
#define PORT_PATH "/run/ibacm.port"

enum { IP = 2, PATH = 0x10, SOURCE = 1, DESTINATION = 2, ACK = 0x80, NO_DATA = 3, MOST = 16 };

struct header {
	uint8_t version, opcode, status, data[3];
	uint16_t length;
	uint64_t tid;
};

struct part {
	uint32_t flags;
	uint16_t type, reserved;
	union {
		uint8_t address[64];
		struct ibv_path_record path;
	};
};

struct message {
	struct header header;
	struct part parts[8];
};

_Static_assert(sizeof(struct header) == 16 && sizeof(struct part) == 72, "ibacm's layout");

volatile unsigned int ibacm_length;
static enum ibacm_mood mood;
static int sockets[MOST];
static int socket_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void remember(int fd)
{
	pthread_mutex_lock(&lock);
	check(socket_count < MOST, "too many connections");
	sockets[socket_count++] = fd;
	pthread_mutex_unlock(&lock);
}

static void close_one(int fd)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < socket_count; i++)
		if (sockets[i] == fd)
			sockets[i] = sockets[--socket_count];
	close(fd);
	pthread_mutex_unlock(&lock);
}

static void unlink_both(void)
{
	unlink(SOCKET_PATH);
	unlink(PORT_PATH);
}

void stop_ibacm(void)
{
	pthread_mutex_lock(&lock);
	while (socket_count)
		shutdown(sockets[--socket_count], SHUT_RDWR);
	pthread_mutex_unlock(&lock);
	unlink_both();
}

/* The path to the destination among the parts, and the source 10.99.0.1. */
static void fill_reply(struct message *reply, const struct message *question)
{
	struct part *path = &reply->parts[0], *source = &reply->parts[1];
	int count = (question->header.length - (int)sizeof(question->header)) / (int)sizeof(struct part);

	*reply = (struct message){ .header = question->header };
	reply->header.opcode |= ACK;
	reply->header.length = sizeof(reply->header) + 2 * sizeof(struct part);
	path->type = PATH;
	path->flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
	path->path.pkey = htons(0xffff);
	path->path.mtu = 0x84;
	path->path.rate = 0x83;
	path->path.packetlifetime = 0x80 | IBACM_LIFE;
	path->path.reversible_numpath = 0x81;
	source->type = IP;
	source->flags = SOURCE;
	inet_pton(AF_INET, "10.99.0.1", source->address);
	memcpy(&path->path.sgid.raw[12], source->address, 4);
	for (int i = 0; i < count && i < 8; i++)
		if (question->parts[i].flags & DESTINATION)
			memcpy(&path->path.dgid.raw[12], question->parts[i].address, 4);
}

static void put(int fd, const void *data, size_t length)
{
	/* A client that has gone is no matter. */
	(void)!send(fd, data, length, MSG_NOSIGNAL);
}

static void reply_to(int fd, const struct message *question)
{
	struct message reply, stale;

	fill_reply(&reply, question);
	switch (mood) {
	case SILENT:
		return;
	case REFUSE:
		reply.header.status = NO_DATA;
		reply.header.length = sizeof(reply.header);
		break;
	case SLOW:
		sleep_ms(300);
		break;
	case PIECES:
		for (size_t i = 0; i < 20; i++) {
			put(fd, (char *)&reply + i, 1);
			sleep_ms(2);
		}
		put(fd, (char *)&reply + 20, reply.header.length - 20U);
		return;
	case STALE_FIRST:
		stale = reply;
		stale.header.tid += 1000;
		stale.parts[0].path.dgid.raw[15] += 100;
		put(fd, &stale, stale.header.length);
		break;
	case LENGTH:
		reply.header.length = (uint16_t)ibacm_length;
		put(fd, &reply, sizeof(reply.header) + sizeof(struct part));
		return;
	case ANSWER:
		break;
	}
	put(fd, &reply, reply.header.length);
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct message question;

	while (recv(fd, &question.header, sizeof(question.header), MSG_WAITALL) == sizeof(question.header)) {
		size_t rest = question.header.length - sizeof(question.header);

		if (rest > sizeof(question.parts) || recv(fd, question.parts, rest, MSG_WAITALL) != (ssize_t)rest)
			break;
		reply_to(fd, &question);
	}
	close_one(fd);
	return NULL;
}

static void *accept_all(void *arg)
{
	int listener = (int)(intptr_t)arg, fd;
	pthread_t thread;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		remember(fd);
		thread = start_thread(serve, (void *)(intptr_t)fd);
		pthread_detach(thread);
	}
	close_one(listener);
	return NULL;
}

static void listen_on(int fd, const void *address, socklen_t length)
{
	check(fd >= 0 && !bind(fd, address, length) && !listen(fd, 16), "cannot listen: %m");
	remember(fd);
	pthread_detach(start_thread(accept_all, (void *)(intptr_t)fd));
}

void start_ibacm(enum ibacm_mood new_mood)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET_PATH };

	mood = new_mood;
	unlink_both();
	atexit(unlink_both);
	listen_on(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &address, sizeof(address));
}

void start_ibacm_at_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *file;

	mood = ANSWER;
	unlink_both();
	atexit(unlink_both);
	listen_on(fd, &address, sizeof(address));
	check(!getsockname(fd, (struct sockaddr *)&address, &length), "getsockname: %m");
	file = fopen(PORT_PATH, "w");
	check(file && fprintf(file, "%d\n", ntohs(address.sin_port)) > 0 && !fclose(file), PORT_PATH ": %m");
}
