/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Searches and routes with an ibacm that answers, is silent, goes, comes or talks nonsense: a stand-in on the real
 * one's socket. The path that it knows to an address carries that address, so a route for another one shows.
 */
#include "fake_ibacm.h"
#include "helper.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a search may take with a silent ibacm: two seconds, and what an emulated machine needs. */
enum { SILENT_MS = 4000 };

static struct rdma_addrinfo *search(const char *node, const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *list = NULL;

	check_ok(rdma_getaddrinfo(node, "7471", hints, &list));
	check(list, "no list");
	return list;
}

/* The entry with an IP address: behind the AF_IB entry or before it. */
static const struct rdma_addrinfo *ip_entry(const struct rdma_addrinfo *list)
{
	while (list && list->ai_family == AF_IB)
		list = list->ai_next;
	check(list, "no IP entry");
	return list;
}

static bool leads_to(const struct rdma_addrinfo *entry, const char *node)
{
	const struct ibv_path_data *path = entry->ai_route;

	check(entry->ai_route_len == 0 || entry->ai_route_len == sizeof(*path), "route of %zu", entry->ai_route_len);
	if (!entry->ai_route_len)
		return false;
	check(path->path.dgid.raw[15] == (uint8_t)(inet_addr(node) >> 24), "the route leads to %d, not to %s",
	      path->path.dgid.raw[15], node);
	return true;
}

/* Whether there is a route, which must be to that node. */
static bool has_route(const char *node)
{
	static const struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *list = search(node, &hints);
	bool found = leads_to(ip_entry(list), node);

	rdma_freeaddrinfo(list);
	return found;
}

static void check_entries(const struct rdma_addrinfo *ip, const struct rdma_addrinfo *ib)
{
	const struct sockaddr_ib *to = (const struct sockaddr_ib *)ib->ai_dst_addr;
	const uint8_t *header = ib->ai_connect;

	check(ip->ai_family == AF_INET && ib->ai_family == AF_IB, "families %d %d", ip->ai_family, ib->ai_family);
	check(leads_to(ip, "10.99.0.9") && leads_to(ib, "10.99.0.9"), "routes");
	check(ip->ai_src_len == sizeof(struct sockaddr_in) && ip->ai_connect_len == 0, "IP entry");
	check(ib->ai_dst_len == sizeof(*to) && to->sib_pkey == htons(0xffff) && to->sib_addr.sib_raw[15] == 9, "GID");
	check(be64toh(to->sib_sid) == (RDMA_IB_IP_PS_TCP | 7471), "service %#llx", (unsigned long long)be64toh(to->sib_sid));
	check(ib->ai_connect_len == 36 && header[1] == 0x40 && header[35] == 9, "connection data");
}

static void ib_entry_comes_last(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *list;

	start_ibacm(ANSWER);
	list = search("10.99.0.9", &hints);
	check(list->ai_family == AF_INET && list->ai_next && !list->ai_next->ai_next, "the first is of family %d",
	      list->ai_family);
	check_entries(list, list->ai_next);
	rdma_freeaddrinfo(list);
}

static void ib_entry_comes_first_when_asked_for(void)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_FAMILY, .ai_family = AF_IB, .ai_port_space = RDMA_PS_TCP,
	}, *list;

	start_ibacm(ANSWER);
	list = search("10.99.0.9", &hints);
	check(list->ai_family == AF_IB && list->ai_next && !list->ai_next->ai_next, "entries");
	check_entries(list->ai_next, list);
	rdma_freeaddrinfo(list);
}

static void port_file(void)
{
	start_ibacm_at_port();
	check(has_route("10.99.0.9"), "no route");
}

static void refused(void)
{
	start_ibacm(REFUSE);
	check(!has_route("10.99.0.9"), "a route");
}

static void reply_in_pieces(void)
{
	start_ibacm(PIECES);
	check(has_route("10.99.0.9") && has_route("10.99.0.10"), "no route");
}

static void stale_reply(void)
{
	start_ibacm(STALE_FIRST);
	check(has_route("10.99.0.9") && has_route("10.99.0.10"), "no route");
}

static void *search_in_thread(void *arg)
{
	(void)arg;
	check(!has_route("10.99.0.10"), "a route");
	return NULL;
}

static void silent(void)
{
	uint64_t start = now_ms();
	pthread_t other;

	start_ibacm(SILENT);
	other = start_thread(search_in_thread, NULL);
	check(!has_route("10.99.0.9"), "a route");
	join_thread(other);
	check(now_ms() - start < SILENT_MS * time_scale(), "two threads took %llu ms",
	      (unsigned long long)(now_ms() - start));
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* The question goes on, and nothing is left of it for the next one. */
static void signal_in_between(void)
{
	struct itimerval soon = { .it_value.tv_usec = 100000, .it_interval.tv_usec = 100000 }, never = { 0 };
	struct sigaction action = { .sa_handler = on_alarm };

	start_ibacm(SLOW);
	check_ok(sigaction(SIGALRM, &action, NULL));
	check_ok(setitimer(ITIMER_REAL, &soon, NULL));
	check(has_route("10.99.0.9"), "no route");
	check_ok(setitimer(ITIMER_REAL, &never, NULL));
	check(has_route("10.99.0.10"), "no route");
}

static void restarted(void)
{
	start_ibacm(ANSWER);
	check(has_route("10.99.0.9"), "no route");
	stop_ibacm();
	start_ibacm(ANSWER);
	check(has_route("10.99.0.10"), "no route after the restart");
}

static void gone(void)
{
	start_ibacm(ANSWER);
	check(has_route("10.99.0.9"), "no route");
	stop_ibacm();
	for (int i = 0; i < 3; i++)
		check(!has_route("10.99.0.10"), "a route");
}

static void started_late(void)
{
	stop_ibacm();
	check(!has_route("10.99.0.9"), "a route");
	start_ibacm(ANSWER);
	sleep_ms(5500);
	check(has_route("10.99.0.10"), "no route");
}

static void never_there(void)
{
	uint64_t start;

	stop_ibacm();
	check(!has_route("10.99.0.9"), "a route");
	start = now_ms();
	for (int i = 0; i < 100; i++)
		check(!has_route("10.99.0.9"), "a route");
	check(now_ms() - start < 1000 * time_scale(), "100 searches took %llu ms",
	      (unsigned long long)(now_ms() - start));
}

static void search_often(const char *node)
{
	for (int i = 0; i < 100; i++)
		check(has_route(node), "no route");
}

static void *search_often_in_thread(void *node)
{
	search_often(node);
	return NULL;
}

static void many_threads(void)
{
	static char nodes[4][16] = { "10.99.0.9", "10.99.0.10", "10.99.0.11", "10.99.0.12" };
	pthread_t threads[4];

	start_ibacm(ANSWER);
	for (int i = 0; i < 4; i++)
		threads[i] = start_thread(search_often_in_thread, nodes[i]);
	for (int i = 0; i < 4; i++)
		join_thread(threads[i]);
	check(count_fds("socket:") <= 4, "%d sockets are open", count_fds("socket:"));
}

static void forked(void)
{
	int status;
	pid_t child;

	start_ibacm(ANSWER);
	check(has_route("10.99.0.9"), "no route");
	child = fork();
	check(child >= 0, "fork: %m");
	search_often(child ? "10.99.0.9" : "10.99.0.10");
	if (!child)
		_exit(0);
	check(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", (unsigned int)status);
}

static void wrong_lengths(void)
{
	static const unsigned int lengths[] = { 0, 1, 15, 16, 17, 87, 89, 592, 593, 4096, 65535 };
	uint64_t start = now_ms();

	start_ibacm(LENGTH);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		ibacm_length = lengths[i];
		has_route("10.99.0.9");
	}
	ibacm_length = 16 + 72;
	check(has_route("10.99.0.10"), "no route");
	check(now_ms() - start < 5 * SILENT_MS * time_scale(), "%llu ms", (unsigned long long)(now_ms() - start));
}

/* Binds, resolves and finds the route of an id; returns the time until a path lapses, which is the stand-in's own. */
static int life_of_the_path(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7471) };
	struct rdma_cm_id *id;
	int life;

	inet_pton(AF_INET, DEVICE_ADDRESS, &to.sin_addr);
	check_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	check_ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000));
	check_ok(rdma_resolve_route(id, 2000));
	check(id->event && id->event->event == RDMA_CM_EVENT_ROUTE_RESOLVED, "event");
	check(id->route.num_paths == 1, "%d paths", id->route.num_paths);
	life = id->route.path_rec->packet_life_time;
	check_ok(rdma_destroy_id(id));
	return life;
}

static void route_of_an_id(void)
{
	start_ibacm(ANSWER);
	check(life_of_the_path() == IBACM_LIFE, "the path is another");
}

static void route_without_an_answer(void)
{
	uint64_t start = now_ms();

	start_ibacm(SILENT);
	check(life_of_the_path() != IBACM_LIFE, "a path of nobody");
	check(now_ms() - start < SILENT_MS * time_scale(), "%llu ms", (unsigned long long)(now_ms() - start));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(ib_entry_comes_last), TEST(ib_entry_comes_first_when_asked_for), TEST(port_file), TEST(refused),
		TEST(reply_in_pieces), TEST(stale_reply), SLOW_TEST(silent, 10), TEST(signal_in_between), TEST(restarted),
		TEST(gone), SLOW_TEST(started_late, 15), TEST(never_there), SLOW_TEST(many_threads, 30),
		SLOW_TEST(forked, 30), SLOW_TEST(wrong_lengths, 30), TEST(route_of_an_id),
		SLOW_TEST(route_without_an_answer, 10),
	};

	return RUN_TESTS(tests, argc, argv);
}
