/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Peers that say and write what no socket does, once they are connected. The socket ends with an error, other sockets go
 * on, nothing is left behind.
 */
#include "attacker.h"
#include "sockets.h"
#include "victim.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 131072, FAR = 0x1fffffff };

static unsigned char bytes[1 << 20];

static void end_broken(int victim, struct attacker *attacker)
{
	check_broken(victim, EPROTO);
	finish_attack(victim, attacker);
}

static void more_data_than_granted(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	tell(&attacker, MESSAGE(OP_DATA, FAR));
	end_broken(victim, &attacker);
}

static void more_data_than_granted_to_a_client(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim_as_client(&attacker);
	tell(&attacker, MESSAGE(OP_DATA, FAR));
	end_broken(victim, &attacker);
}

/* Each is small enough, but not all of them. */
static void more_data_than_granted_in_pieces(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	for (int i = 0; i <= BUFFER / 10000; i++)
		check(tell(&attacker, MESSAGE(OP_DATA, 10000)) == IBV_WC_SUCCESS, "not taken");
	end_broken(victim, &attacker);
}

/* It breaks when the other thread sleeps. */
static void *break_late(void *attacker)
{
	sleep_ms(200);
	tell(attacker, MESSAGE(OP_DATA, FAR));
	return NULL;
}

static void more_data_than_granted_to_a_reader(void)
{
	struct attacker attacker;
	pthread_t thread;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	thread = start_thread(break_late, &attacker);
	check_fails((int)sockets()->recv(victim, bytes, 1, 0), EPROTO);
	join_thread(thread);
	finish_attack(victim, &attacker);
}

static void data_of_no_length(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	for (int i = 0; i < 1000; i++) {
		tell(&attacker, MESSAGE(OP_DATA, 0));
		check_fails((int)sockets()->recv(victim, bytes, 1, MSG_DONTWAIT), EAGAIN);
	}
	check(send_data(&attacker, 0, "abc", 3) == IBV_WC_SUCCESS, "not sent");
	check(sockets()->recv(victim, bytes, 10, 0) == 3 && !memcmp(bytes, "abc", 3), "other data");
	finish_attack(victim, &attacker);
}

static void unknown_messages(void)
{
	static const unsigned int kinds[] = { 1, 2, 3, 5 };

	begin_attack();
	for (int i = 0; i < 4; i++) {
		struct attacker attacker;
		int victim = be_victim(&attacker, NULL);

		tell(&attacker, MESSAGE(kinds[i], random() & FAR));
		check_broken(victim, EPROTO);
		close_in_time(victim);
		leave(&attacker);
	}
	end_attack();
}

/* There may be more of them some day. */
static void unknown_control_messages(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	for (int i = 3; i < 300; i++)
		check(tell(&attacker, MESSAGE(OP_CONTROL, i * 12345)) == IBV_WC_SUCCESS, "not taken");
	check(tell(&attacker, MESSAGE(OP_MAPPED, 0xffff)) == IBV_WC_SUCCESS, "not taken");
	check_fails((int)sockets()->recv(victim, bytes, 1, MSG_DONTWAIT), EAGAIN);
	check(send_data(&attacker, 0, "abc", 3) == IBV_WC_SUCCESS, "not sent");
	check(sockets()->recv(victim, bytes, 10, 0) == 3 && !memcmp(bytes, "abc", 3), "other data");
	finish_attack(victim, &attacker);
}

/* A message without a number, or of another length than a number has. */
static void plain_messages(void)
{
	static const uint32_t lengths[] = { 0, 1, 1000 };

	begin_attack();
	for (int i = 0; i < 3; i++) {
		struct attacker attacker;
		int victim = be_victim(&attacker, NULL);

		send_plainly(&attacker, lengths[i]);
		check_broken(victim, EPROTO);
		close_in_time(victim);
		leave(&attacker);
	}
	end_attack();
}

/* More than there are receives for: they wait, and so does nobody else. */
static void more_messages_than_credits(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	for (int i = 0; i < 5000; i++) {
		check(tell(&attacker, MESSAGE(OP_CONTROL, CONTROL_KEEPALIVE)) == IBV_WC_SUCCESS, "not taken");
		if (i % 100 == 0)
			check_fails((int)sockets()->recv(victim, bytes, 1, MSG_DONTWAIT), EAGAIN);
		if (i % 1000 == 0)
			check_bystanders();
	}
	finish_attack(victim, &attacker);
}

static void end_more_than_once(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	check(send_data(&attacker, 0, "abc", 3) == IBV_WC_SUCCESS, "not sent");
	for (int i = 0; i < 20; i++)
		tell(&attacker, MESSAGE(OP_CONTROL, CONTROL_SHUTDOWN));
	/* After the end there is nothing. */
	send_data(&attacker, 3, "def", 3);
	for (int i = 0; i < 20; i++)
		tell(&attacker, MESSAGE(OP_CONTROL, CONTROL_DISCONNECT));
	tell(&attacker, MESSAGE(OP_CONTROL, CONTROL_SHUTDOWN));
	send_data(&attacker, 6, "ghi", 3);
	check(sockets()->recv(victim, bytes, 100, 0) == 3 && !memcmp(bytes, "abc", 3), "other data");
	check(sockets()->recv(victim, bytes, 100, 0) == 0, "no end");
	check(sockets()->recv(victim, bytes, 100, 0) == 0, "data after the end");
	finish_attack(victim, &attacker);
}

/* Writes and reads where a peer has no business. */
static void other_places(void)
{
	struct attacker attacker;
	struct place room;
	int victim;

	begin_attack();
	for (int i = 0; i < 4; i++) {
		enum ibv_wc_status status;

		victim = be_victim(&attacker, NULL);
		room = attacker.victim.room;
		switch (i) {
		case 0:
			status = read_from(&attacker, room.address, room.key, 64);
			break;
		case 1:
			status = write_to(&attacker, room.address - 64, room.key, bytes, 64);
			break;
		case 2:
			/* The memory goes on with what the victim sends. */
			status = write_to(&attacker, room.address + BUFFER + 8192, room.key, bytes, 64);
			break;
		default:
			status = write_to(&attacker, room.address, room.key ^ 0x100, bytes, 64);
		}
		check(status != IBV_WC_SUCCESS, "place %d was reached", i);
		/* Nothing comes any more, but the queue pair may only know when it sends. */
		leave(&attacker);
		check(poll_one(victim, POLLIN, 10000) & POLLIN, "it does not end");
		check(sockets()->recv(victim, bytes, 1, 0) <= 0, "data");
		close_in_time(victim);
	}
	end_attack();
}

/* Other data at every look: what the application has is its own copy. */
static void data_that_changes(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	check(send_data(&attacker, 0, "abc", 3) == IBV_WC_SUCCESS, "not sent");
	check(sockets()->recv(victim, bytes, 3, MSG_PEEK) == 3 && !memcmp(bytes, "abc", 3), "other data");
	check(write_to(&attacker, attacker.victim.room.address, attacker.victim.room.key, "xyz", 3) == IBV_WC_SUCCESS,
	      "not written");
	check(!memcmp(bytes, "abc", 3), "it changed");
	check(sockets()->recv(victim, bytes, 100, 0) == 3, "another length");
	finish_attack(victim, &attacker);
}

static const struct test tests[] = {
	TEST(more_data_than_granted),
	TEST(more_data_than_granted_to_a_client),
	TEST(more_data_than_granted_in_pieces),
	TEST(more_data_than_granted_to_a_reader),
	TEST(data_of_no_length),
	TEST(unknown_messages),
	TEST(unknown_control_messages),
	TEST(plain_messages),
	SLOW_TEST(more_messages_than_credits, 60),
	TEST(end_more_than_once),
	TEST(other_places),
	TEST(data_that_changes),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
