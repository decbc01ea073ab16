/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a script says happens, to the commands that the library sends. Only on the simulator. */
#include "helper.h"
#include "script.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void nth_command_fails(void)
{
	channel = open_channel();
	/* Whatever the library asks when it starts is over. */
	check_ok(rdma_destroy_id(open_id(channel)));
	script("fail create_id 2 ENOSPC");
	check_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	check_ok(rdma_destroy_id(id));
	check_fails(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), ENOSPC);
	close_pair(channel, open_id(channel));
}

static void short_answer(void)
{
	open_pair(&channel, &id);
	script("short listen bytes 3");
	check_fails(rdma_listen(id, 1), ENODATA);
	close_pair(channel, id);
}

static void interrupted(void)
{
	open_pair(&channel, &id);
	script("interrupt listen 1");
	check_fails(rdma_listen(id, 1), EINTR);
	check_ok(rdma_listen(id, 1));
	close_pair(channel, id);
}

static void delayed(void)
{
	uint64_t start;

	open_pair(&channel, &id);
	script("delay listen ms 300");
	start = now_ms();
	check_ok(rdma_listen(id, 1));
	check(now_ms() - start >= 300, "after %d ms", (int)(now_ms() - start));
	close_pair(channel, id);
}

static void changed_answer(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	open_pair(&channel, &id);
	/* The first address family of the answer to a query of addresses. */
	script("answer query at 16 0a00");
	inet_pton(AF_INET, DEVICE_ADDRESS, &address.sin_addr);
	check_ok(rdma_bind_addr(id, (struct sockaddr *)&address));
	check(rdma_get_local_addr(id)->sa_family == AF_INET6, "family %d", rdma_get_local_addr(id)->sa_family);
	close_pair(channel, id);
}

/* Of what the kernel makes up nothing reaches the program that it could not use; what comes behind it does. */
static void injected(const char *line)
{
	open_pair(&channel, &id);
	script("%s", line);
	write_event(id, 3, 4);
	take_event(channel, id, 3, 4);
	close_pair(channel, id);
}

static void event_of_nobody(void)
{
	injected("inject event 7 uid 0");
}

static void event_of_an_unknown_id(void)
{
	injected("inject event 9 uid 0x123456789abcdef id 4000000000");
}

static void internal_event_without_meaning(void)
{
	injected("inject event 19 status 5");
}

static void event_with_too_much_data(void)
{
	struct rdma_cm_event *event;

	open_pair(&channel, &id);
	script("inject event 8 status 28 length 255");
	check_ok(rdma_get_cm_event(channel, &event));
	check(event->event == RDMA_CM_EVENT_REJECTED && event->status == 28, "%s %d", rdma_event_str(event->event),
	      event->status);
	check(event->param.conn.private_data_len == 255, "length %d", event->param.conn.private_data_len);
	check_ok(rdma_ack_cm_event(event));
	close_pair(channel, id);
}

static void after_a_command(void)
{
	open_pair(&channel, &id);
	script("after listen 1 inject event 18 status 6");
	check_empty(channel);
	check_ok(rdma_listen(id, 1));
	take_event(channel, id, 6, 0);
	close_pair(channel, id);
}

static void after_a_while(void)
{
	open_pair(&channel, &id);
	script("in 100 inject event 18 status 7");
	take_event(channel, id, 7, 0);
	close_pair(channel, id);
}

static void device_that_goes(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_cm_event *event;

	script("device spare0");
	script("address 10.77.0.1/24 spare0");
	open_pair(&channel, &id);
	inet_pton(AF_INET, "10.77.0.1", &address.sin_addr);
	check_ok(rdma_bind_addr(id, (struct sockaddr *)&address));
	check(!strcmp(ibv_get_device_name(id->verbs->device), "spare0"), "another device");
	script("remove spare0");
	check_ok(rdma_get_cm_event(channel, &event));
	check(event->event == RDMA_CM_EVENT_DEVICE_REMOVAL, "%s", rdma_event_str(event->event));
	check_ok(rdma_ack_cm_event(event));
	check_fails(rdma_listen(id, 1), EIO);
	check_ok(rdma_destroy_id(id));
	id = open_id(channel);
	check_fails(rdma_bind_addr(id, (struct sockaddr *)&address), EADDRNOTAVAIL);
	close_pair(channel, id);
}

static void nonsense(void)
{
	static const char *const lines[] = {
		"nonsense", "fail", "fail nothing EIO", "fail listen ENOSUCH", "fail listen 1 EIO more", "short listen 3",
		"address 10.0.0.1/24 none", "address 300.0.0.1/24 rxe0", "device rxe0", "device x ports 99", "remove none",
		"port rxe0 sideways", "pkey rxe0 x", "sa", "sa path here", "answer listen at 0 xyz", "in", "without nothing",
	};

	if (freopen("/dev/null", "w", stderr) == NULL)
		fail("/dev/null: %m");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check(!try_script(lines[i]), "\"%s\" is taken", lines[i]);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(nth_command_fails),
		TEST(short_answer),
		TEST(interrupted),
		TEST(delayed),
		TEST(changed_answer),
		TEST(event_of_nobody),
		TEST(event_of_an_unknown_id),
		TEST(internal_event_without_meaning),
		TEST(event_with_too_much_data),
		TEST(after_a_command),
		TEST(after_a_while),
		TEST(device_that_goes),
		TEST(nonsense),
	};

	return RUN_TESTS(tests, argc, argv);
}
