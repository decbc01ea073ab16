/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "kernel.h"

#include "calls.h"
#include "loop.h"
#include "memory.h"
#include "topology.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static struct client *clients;

static void drop(struct client *client)
{
	struct client **place = &clients;

	while (*place != client)
		place = &(*place)->next;
	*place = client->next;
	client_gone(client);
	unwatch(client->watch);
	close(client->fd);
	free(client);
}

void answer_bytes(struct answer *answer, const void *data, size_t size)
{
	require(size <= sizeof(answer->data) - answer->size, "an answer's size");
	memcpy(answer->data + answer->size, data, size);
	answer->size += size;
}

static void send_answer(struct client *client, long result, struct answer *answer)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(SIM_FDS_MAX * sizeof(int))];
	} control = { 0 };
	size_t fds_size = answer->fd_count * sizeof(int);
	struct sim_answer header = { .result = result, .delay_ms = answer->delay_ms, .fds = answer->fd_count };
	struct iovec parts[] = { { &header, sizeof(header) }, { answer->data, answer->size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	if (fds_size) {
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(fds_size), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.header), answer->fds, fds_size);
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fds_size);
	}
	/* One that does not listen is noticed when its connection closes. */
	sendmsg(client->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	for (unsigned int i = 0; i < answer->fd_count; i++)
		close(answer->fds[i]);
}

static long hello(struct client *client, const void *in, size_t in_size, struct answer *answer)
{
	const struct sim_hello *hello = in;
	struct sim_hello_answer greeting = { .kernel_pid = getpid() };

	if (in_size != sizeof(*hello) || hello->protocol != SIM_PROTOCOL)
		return -EPROTO;
	client->host = find_host(hello->host);
	memcpy(client->program, hello->program, sizeof(client->program) - 1);
	answer_bytes(answer, &greeting, sizeof(greeting));
	return client->host ? 0 : -EHOSTUNREACH;
}

static long dispatch(struct client *client, uint32_t op, const void *in, size_t in_size, struct answer *answer)
{
	if (op == SIM_HELLO)
		return hello(client, in, in_size, answer);
	if (!client->host)
		return -EPROTO;
	return handle_call(client, op, in, in_size, answer);
}

static void receive(void *arg)
{
	static unsigned char data[SIM_DATA_MAX] __attribute__((aligned(16)));
	static struct answer answer;
	struct client *client = arg;
	struct sim_question question;
	struct iovec parts[] = { { &question, sizeof(question) }, { data, sizeof(data) } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t size = recvmsg(client->fd, &message, MSG_DONTWAIT);
	long result;

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size < (ssize_t)sizeof(question)) {
		drop(client);
		return;
	}
	answer.size = answer.delay_ms = answer.fd_count = 0;
	result = dispatch(client, question.op, data, (size_t)size - sizeof(question), &answer);
	send_answer(client, result, &answer);
}

static void accept_client(void *arg)
{
	int fd = accept4((int)(intptr_t)arg, NULL, NULL, SOCK_CLOEXEC);
	struct client *client;
	struct ucred owner;
	socklen_t size = sizeof(owner);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size)) {
		close(fd);
		return;
	}
	client = take(sizeof(*client));
	client->fd = fd;
	client->pid = owner.pid;
	client->watch = watch(fd, receive, client);
	client->next = clients;
	clients = client;
}

void serve_clients(int listening)
{
	watch(listening, accept_client, (void *)(intptr_t)listening);
}

bool any_client(void)
{
	return clients != NULL;
}
