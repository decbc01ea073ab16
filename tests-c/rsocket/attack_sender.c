/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peers that are sent to, and say of their room and memory what cannot be, or something else at every look. */
#include "../helper.h"
#include "attacker.h"
#include "sockets.h"
#include "victim.h"

#include <endian.h>
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FLIP_MS = 3000 };

static unsigned char bytes[1 << 20];

static void set_time(int victim, int option, long seconds, long micros)
{
	struct timeval limit = { .tv_sec = seconds, .tv_usec = micros };

	check_ok(sockets()->setsockopt(victim, SOL_SOCKET, option, &limit, sizeof(limit)));
}

static void set_linger(int victim, int seconds)
{
	struct linger linger = { .l_onoff = 1, .l_linger = seconds };

	check_ok(sockets()->setsockopt(victim, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

static void no_credits(struct greeting *greeting)
{
	greeting->credits = 0;
}

static void no_room(struct greeting *greeting)
{
	greeting->room.length = 0;
}

/* Nothing can be sent, as to a peer that does not read; but every call has its limit. */
static void nothing_granted(void)
{
	void (*const changes[])(struct greeting *) = { no_credits, no_room };

	begin_attack();
	for (int i = 0; i < 2; i++) {
		struct attacker attacker;
		int victim = be_victim(&attacker, changes[i]);
		uint64_t start;

		check_fails((int)sockets()->send(victim, bytes, 1, MSG_DONTWAIT), EAGAIN);
		check(!(poll_one(victim, POLLOUT, 100) & POLLOUT), "ready to send");
		set_time(victim, SO_SNDTIMEO, 0, 300000);
		check_fails((int)sockets()->send(victim, bytes, 1, 0), EAGAIN);
		/* The other direction is not concerned. */
		check(send_data(&attacker, 0, "abc", 3) == IBV_WC_SUCCESS, "not sent");
		check(sockets()->recv(victim, bytes, 10, 0) == 3, "no data");
		start = now_ms();
		check_ok(sockets()->shutdown(victim, SHUT_WR));
		set_linger(victim, 1);
		check_ok(sockets()->close(victim));
		check(now_ms() - start < 3000 * time_scale(), "the end took %u ms", (unsigned int)(now_ms() - start));
		leave(&attacker);
	}
	end_attack();
}

static void all_credits(struct greeting *greeting)
{
	greeting->credits = 0xffff;
}

/* The victim's messages find no receives: the attacker, who does not look, posts none again. Who waits for that is told. */
static void more_credits_than_receives(void)
{
	struct attacker attacker;
	int victim, sent = 0;

	start_diagnostics("error");
	begin_attack();
	victim = be_victim(&attacker, all_credits);
	while (sockets()->send(victim, bytes, 1, MSG_DONTWAIT) == 1)
		sent++;
	check(errno == EAGAIN, "send: %m");
	check(sent > ATTACKER_RECEIVES, "%d messages", sent);
	set_time(victim, SO_SNDTIMEO, 0, 300000);
	check_fails((int)sockets()->send(victim, bytes, 1, 0), EAGAIN);
	check_bystanders();
	set_linger(victim, 6);
	finish_attack(victim, &attacker);
	check_diagnosed("rclose waits: the peer has not taken all that was sent\n");
}

static void endless_room(struct greeting *greeting)
{
	greeting->room.length = htobe32(0xffffffff);
	greeting->credits = 0xffff;
}

static void room_nowhere(struct greeting *greeting)
{
	greeting->room = (struct place){ htobe64(0xffffffffffff0000), htobe32(0x12345678), htobe32(0xffffffff) };
}

/* What is offered is not there: a reason to end. */
static void wild_room(void)
{
	void (*const changes[])(struct greeting *) = { endless_room, room_nowhere };

	begin_attack();
	for (int i = 0; i < 2; i++) {
		struct attacker attacker;
		int victim = be_victim(&attacker, changes[i]);
		ssize_t sent;

		while ((sent = sockets()->send(victim, bytes, sizeof(bytes), MSG_NOSIGNAL)) > 0)
			;
		check(errno == EPROTO, "send %d: %m", i);
		check(sockets()->recv(victim, bytes, 1, 0) == 0, "no end");
		close_in_time(victim);
		leave(&attacker);
	}
	end_attack();
}

static void list_nowhere(struct greeting *greeting)
{
	greeting->list.address = htobe64(0xffffffffffff0000);
}

/* Where the victim would tell of room there is no memory. */
static void wild_list(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, list_nowhere);
	check_broken(victim, EPROTO);
	finish_attack(victim, &attacker);
}

/* The same for mappings: the table is behind the list, whose length says where. */
static void endless_list(struct greeting *greeting)
{
	greeting->list.length = htobe32(0xffffffff);
	greeting->mappings = 0xff;
}

static void wild_table_of_mappings(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, endless_list);
	check(riomap(victim, memory, 4096, PROT_WRITE, 0, 0) == 0, "riomap: %m");
	check_broken(victim, EPROTO);
	check_ok(riounmap(victim, memory, 4096));
	finish_attack(victim, &attacker);
}

static void mappings_that_cannot_be(void)
{
	static const struct mapping wild[] = {
		{ 0, { 0, 0, 0xffffffff } },
		{ 0xffffffffffffffff, { 0xffffffffffffffff, 0, 0xffffffff } },
		{ 0xfffffffffffffff0, { 0x1000, 0x100, 16 } },
		{ 1ULL << 63, { 0, 0xffffffff, 1 } },
	};
	static const uint64_t offsets[] = { 0, 1, 0xffffffffffffffff, 0xfffffffffffffff0, 0xfffffffffffffffe, 1ULL << 63 };

	begin_attack();
	for (int i = 0; i < 4; i++) {
		struct attacker attacker;
		int victim = be_victim(&attacker, NULL);

		check(write_mapping(&attacker, i, wild[i]) == IBV_WC_SUCCESS, "not written");
		set_blocking(victim, false);
		for (int j = 0; j < 6; j++) {
			/* Bytes on the way, or a reason why not. */
			size_t done = riowrite(victim, bytes, sizeof(bytes), offsets[j], 0);

			check(done == (size_t)-1 || done <= sizeof(bytes), "%zu bytes were written", done);
			check(done != (size_t)-1 || errno == EINVAL || errno == EPROTO || errno == EAGAIN ||
			      errno == ECONNRESET, "riowrite: %m");
		}
		close_in_time(victim);
		leave(&attacker);
	}
	end_attack();
}

/* What does not fit a mapping is not written. */
static void beyond_a_mapping(void)
{
	struct attacker attacker;
	int victim;

	begin_attack();
	victim = be_victim(&attacker, NULL);
	check(write_mapping(&attacker, 3, (struct mapping){ 1000, own_room(&attacker, 100) }) == IBV_WC_SUCCESS, "not written");
	check(riowrite(victim, bytes, 1, 999, 0) == (size_t)-1 && errno == EINVAL, "before: %m");
	check(riowrite(victim, bytes, 1, 1100, 0) == (size_t)-1 && errno == EINVAL, "behind: %m");
	check(riowrite(victim, bytes, 1, 1099, 0) == 1, "its last byte: %m");
	check(riowrite(victim, bytes, 200, 1050, 0) == 50, "its last half: %m");
	finish_attack(victim, &attacker);
}

/* Entries that change all the time. */
struct flipping {
	struct attacker *attacker;
	bool mappings;
	bool stop;
};

static void *flip(void *arg)
{
	struct flipping *flipping = arg;
	struct attacker *attacker = flipping->attacker;
	const struct place places[] = {
		own_room(attacker, ATTACKER_ROOM / 2),
		own_room(attacker, 0xffffffff),
		own_room(attacker, 1),
		own_room(attacker, 0),
		own_room(attacker, 0x80000000),
	};
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	for (unsigned int i = 0; !status && !__atomic_load_n(&flipping->stop, __ATOMIC_RELAXED); i++) {
		struct place place = places[i % 5];

		if (flipping->mappings)
			status = write_mapping(attacker, i % ATTACKER_MAPPINGS, (struct mapping){ i % 3 * 50000, place });
		else
			status = write_entry(attacker, i % 2, place);
		if (!status && i % 7 == 6)
			status = tell(attacker, MESSAGE(OP_CREDITS, i * 31));
	}
	return NULL;
}

static void send_while_flipping(bool mappings)
{
	uint64_t end = now_ms() + FLIP_MS;
	int sent = 0;

	begin_attack();
	while (now_ms() < end) {
		struct attacker attacker;
		struct flipping flipping = { .attacker = &attacker, .mappings = mappings };
		int victim = be_victim(&attacker, NULL);
		pthread_t thread = start_thread(flip, &flipping);
		ssize_t length = 0;

		set_blocking(victim, false);
		while (now_ms() < end) {
			if (mappings)
				length = (ssize_t)riowrite(victim, bytes, 70000, sent % 5 * 30000, 0);
			else
				length = sockets()->send(victim, bytes, 70000, MSG_NOSIGNAL);
			sent += length > 0;
			if (length < 0 && errno != EAGAIN && !(mappings && errno == EINVAL))
				break;
		}
		check(length >= 0 || errno == EAGAIN || errno == EINVAL || errno == EPROTO || errno == ECONNRESET, "send: %m");
		__atomic_store_n(&flipping.stop, true, __ATOMIC_RELAXED);
		close_in_time(victim);
		join_thread(thread);
		leave(&attacker);
		check_bystanders();
	}
	end_attack();
}

static void entries_that_change(void)
{
	send_while_flipping(false);
}

static void mappings_that_change(void)
{
	send_while_flipping(true);
}

static const struct test tests[] = {
	TEST(nothing_granted),
	TEST(more_credits_than_receives),
	TEST(wild_room),
	TEST(wild_list),
	TEST(wild_table_of_mappings),
	TEST(mappings_that_cannot_be),
	TEST(beyond_a_mapping),
	SLOW_TEST(entries_that_change, 60),
	SLOW_TEST(mappings_that_change, 60),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
