/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "victim.h"

#include "sockets.h"

#include <rdma/rsocket.h>

static struct connection bystanders;
static unsigned char bytes[65536];

void check_bystanders(void)
{
	char byte = 'x';

	send_all(bystanders.client, &byte, 1);
	receive_all(bystanders.server, &byte, 1);
	send_all(bystanders.server, &byte, 1);
	receive_all(bystanders.client, &byte, 1);
}

void begin_attack(void)
{
	bystanders = open_connection();
	check_bystanders();
	note_resources();
}

int be_victim(struct attacker *attacker, void (*change)(struct greeting *greeting))
{
	struct sockaddr_in address;
	int listener = listening_socket(&address), victim;
	enum rdma_cm_event_type type;

	set_int(listener, SOL_RDMA, RDMA_IOMAPSIZE, ATTACKER_MAPPINGS);
	find_victim(attacker, &address);
	if (change)
		change(&attacker->greeting);
	type = greet(attacker, sizeof(struct greeting));
	check(type == RDMA_CM_EVENT_ESTABLISHED, "%s", rdma_event_str(type));
	victim = sockets()->accept(listener, NULL, NULL);
	check(victim >= 0, "accept: %m");
	check_ok(sockets()->close(listener));
	return victim;
}

int be_victim_as_client(struct attacker *attacker)
{
	struct sockaddr_in address;
	int victim = sockets()->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	lie_in_wait(attacker, &address);
	check_fails(sockets()->connect(victim, (struct sockaddr *)&address, sizeof(address)), EINPROGRESS);
	await_victim(attacker);
	answer(attacker, sizeof(struct greeting));
	await_established(attacker);
	check(poll_one(victim, POLLOUT, 10000) == POLLOUT, "not connected");
	set_blocking(victim, true);
	check_ok(rdma_destroy_id(attacker->listener));
	attacker->listener = NULL;
	return victim;
}

void close_in_time(int victim)
{
	uint64_t start = now_ms();

	check_ok(sockets()->close(victim));
	/* The patience of a socket that is closed is ten seconds. */
	check(now_ms() - start < 13000 * time_scale(), "closing took %u ms", (unsigned int)(now_ms() - start));
}

void end_attack(void)
{
	check_bystanders();
	check_nothing_is_left();
	close_connection(&bystanders);
}

void finish_attack(int victim, struct attacker *attacker)
{
	check_bystanders();
	close_in_time(victim);
	leave(attacker);
	end_attack();
}

void check_broken(int victim, int reason)
{
	ssize_t received;

	check(poll_one(victim, POLLIN, 10000) & POLLIN, "it does not end");
	while ((received = sockets()->recv(victim, bytes, sizeof(bytes), 0)) > 0)
		;
	check(received == -1 && errno == reason, "recv is %zd, %s, not %s", received, errno_name(errno), errno_name(reason));
	check(sockets()->recv(victim, bytes, 1, 0) == 0, "it goes on");
	check(sockets()->send(victim, bytes, 1, MSG_NOSIGNAL) == -1, "it can be sent to");
	check(poll_one(victim, POLLIN | POLLOUT, 0) & POLLHUP, "poll sees no end");
}
