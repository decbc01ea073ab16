/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Services that InfiniBand's subnet administrator knows: found by number and name, and connected to. */
#include "../script.h"
#include "subnet.h"

#include <string.h>

enum { PORT = 7471, DELAY_MS = 300 };

/* In the space of RDMA_PS_TCP, so that listeners can be there. */
#define SERVICE 0x1061d2full

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static const struct rdma_addrinfo by_administrator = { .ai_flags = RAI_SA };

/* The administrator knows one service. */
static void begin(void)
{
	need_subnet();
	script("sa forget");
	script("sa service %#llx %s name storage pkey 0x8001", SERVICE, south.gid);
}

static void open_both(void)
{
	begin();
	open_pair(&channel, &id);
	check_ok(rdma_bind_addr(id, ib_address(&north, 0)));
}

static void close_both(void)
{
	close_pair(channel, id);
}

static void ask(const char *service)
{
	check_ok(rdma_resolve_addrinfo(id, NULL, service, &by_administrator));
}

static struct rdma_addrinfo *take_list(void)
{
	struct rdma_addrinfo *list = NULL;

	check_ok(rdma_query_addrinfo(id, &list));
	check(list, "no list");
	check_fails(rdma_query_addrinfo(id, &(struct rdma_addrinfo *){ NULL }), ENOENT);
	return list;
}

static void check_entry(const struct rdma_addrinfo *entry, uint64_t service, const struct port *port, uint16_t pkey)
{
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)entry->ai_dst_addr;
	struct ib_addr gid = gid_of(port);

	check(entry->ai_flags == RAI_SA && entry->ai_family == AF_IB && entry->ai_port_space == RDMA_PS_IB, "kind");
	check(ib && entry->ai_dst_len == sizeof(*ib) && ib->sib_family == AF_IB, "destination");
	check(!memcmp(&ib->sib_addr, &gid, sizeof(gid)), "GID");
	check(be64toh(ib->sib_sid) == service && ib->sib_sid_mask == ~0ULL, "service %#llx",
	      (unsigned long long)be64toh(ib->sib_sid));
	check(ntohs(ib->sib_pkey) == pkey, "pkey %#x", ntohs(ib->sib_pkey));
}

static void check_storage(struct rdma_addrinfo *list)
{
	check_entry(list, SERVICE, &south, PARTITION);
	check(!list->ai_next, "a second one");
	observe("qp %d, names %d %d, route %zu, connect %zu, source %u", list->ai_qp_type, !!list->ai_src_canonname,
		!!list->ai_dst_canonname, list->ai_route_len, list->ai_connect_len, list->ai_src_len);
	rdma_freeaddrinfo(list);
}

static void found(const char *service)
{
	open_both();
	ask(service);
	check(!pass_event(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED, id), "status");
	check_storage(take_list());
	close_both();
}

static void by_number(void)
{
	found("0x1061d2f");
}

static void by_name(void)
{
	found("storage");
}

static void of_one_that_waits(void)
{
	begin();
	id = open_waiting(RDMA_PS_TCP);
	check_ok(rdma_bind_addr(id, ib_address(&north, 0)));
	ask("storage");
	check_answer(id, RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	check_storage(take_list());
	close_waiting(id);
}

/* More than a first answer has room for. */
static void many_of_a_name(void)
{
	enum { COUNT = 20 };
	struct rdma_addrinfo *list, *entry;
	int count = 0;

	open_both();
	for (int i = 0; i < COUNT; i++)
		script("sa service %#llx %s name mirror", SERVICE + (unsigned int)i, i % 2 ? north.gid : south.gid);
	ask("mirror");
	check(!pass_event(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED, id), "status");
	list = take_list();
	for (entry = list; entry; entry = entry->ai_next, count++)
		check_entry(entry, SERVICE + (unsigned int)count, count % 2 ? &north : &south, 0xffff);
	check(count == COUNT, "%d entries", count);
	rdma_freeaddrinfo(list);
	close_both();
}

/* And the id can go on. */
static void check_failure(const char *service, int wanted)
{
	struct rdma_addrinfo *list;
	int status;

	ask(service);
	status = pass_event(channel, RDMA_CM_EVENT_ADDRINFO_ERROR, id);
	check(status == -wanted, "status %d", status);
	check_fails(rdma_query_addrinfo(id, &list), ENOENT);
}

static void unknown_name(void)
{
	open_both();
	check_failure("backup", ENOENT);
	ask("storage");
	check(!pass_event(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED, id), "status");
	check_storage(take_list());
	close_both();
}

static void administrator_that_fails(void)
{
	open_both();
	script("sa forget");
	script("sa service any fail EIO");
	check_failure("storage", EIO);
	script("sa forget");
	check_failure("storage", ENOENT);
	close_both();
}

static void failure_of_one_that_waits(void)
{
	struct rdma_addrinfo *list;

	begin();
	id = open_waiting(RDMA_PS_TCP);
	check_ok(rdma_bind_addr(id, ib_address(&north, 0)));
	check_fails(rdma_resolve_addrinfo(id, NULL, "backup", &by_administrator), ENOENT);
	check_answer(id, RDMA_CM_EVENT_ADDRINFO_ERROR);
	check_fails(rdma_query_addrinfo(id, &list), ENOENT);
	ask("storage");
	check_storage(take_list());
	close_waiting(id);
}

/* The service was found, and the kernel does not say where it is. */
static void found_without_an_answer(void)
{
	open_both();
	ask("storage");
	script("fail query 1 EIO");
	check(pass_event(channel, RDMA_CM_EVENT_ADDRINFO_ERROR, id) == -EIO, "status");
	close_both();
}

static void one_search_at_a_time(void)
{
	open_both();
	ask("storage");
	check_fails(rdma_resolve_addrinfo(id, NULL, "storage", &by_administrator), EBUSY);
	check(!pass_event(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED, id), "status");
	check_fails(rdma_resolve_addrinfo(id, NULL, "storage", &by_administrator), EBUSY);
	check_storage(take_list());
	close_both();
}

static void administrator_that_takes_its_time(void)
{
	uint64_t start;

	open_both();
	script("sa delay %d", DELAY_MS);
	start = now_ms();
	ask("storage");
	check_empty(channel);
	check(!pass_event(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED, id), "status");
	check(now_ms() - start >= DELAY_MS, "after %d ms", (int)(now_ms() - start));
	check_storage(take_list());
	close_both();
}

static void destroyed_before_the_answer(void)
{
	open_both();
	script("sa delay 100000");
	ask("storage");
	close_both();
	script("sa forget");
}

static void without_a_port(void)
{
	begin();
	open_pair(&channel, &id);
	check_fails(rdma_resolve_addrinfo(id, NULL, "storage", &by_administrator), EINVAL);
	close_both();
}

static void names_of_no_use(void)
{
	char name[65];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	open_both();
	check_fails(rdma_resolve_addrinfo(id, NULL, "", &by_administrator), EINVAL);
	check_fails(rdma_resolve_addrinfo(id, NULL, name, &by_administrator), EINVAL);
	check_fails(rdma_resolve_addrinfo(id, "node", "storage", &by_administrator), EOPNOTSUPP);
	ask("storage");
	check(!pass_event(channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED, id), "status");
	close_both();
}

static void list_without_an_id(void)
{
	struct rdma_addrinfo *list = NULL;
	struct ib_addr here = gid_of(&north);

	begin();
	check_ok(rdma_getaddrinfo(NULL, "storage", &by_administrator, &list));
	check(list->ai_src_len == sizeof(struct sockaddr_ib), "source of %u bytes", list->ai_src_len);
	check(!memcmp(&((struct sockaddr_ib *)list->ai_src_addr)->sib_addr, &here, sizeof(here)), "GID of the source");
	check_storage(list);
	check(rdma_getaddrinfo(NULL, "backup", &by_administrator, &list) == -1, "success");
	check(errno == ENOENT, "errno %s", errno_name(errno));
}

/* From the service's name to its data. */
static void connected_to_a_service(void)
{
	struct connection connection = { .server_channel = open_channel(), .client_channel = open_channel() };
	struct rdma_addrinfo *list;

	need_subnet();
	script("sa forget");
	script("sa service %#llx %s name storage", SERVICE, north.gid);
	connection.listener = open_id(connection.server_channel);
	check_ok(rdma_bind_addr(connection.listener, ib_address(&north, PORT)));
	check_ok(rdma_listen(connection.listener, 0));
	id = connection.client = open_id(connection.client_channel);
	check_ok(rdma_bind_addr(id, ib_address(&north, 0)));
	ask("storage");
	check(!pass_event(id->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED, id), "status");
	list = take_list();
	resolve_to(id, list->ai_dst_addr);
	rdma_freeaddrinfo(list);
	create_qp(id);
	establish(&connection);
	send_message(&connection);
	disconnect(&connection);
	dismantle(&connection);
}

/* A kernel before 6.19. */
static void kernel_that_cannot_ask(void)
{
	open_both();
	script("without resolve_ib_service");
	check(rdma_resolve_addrinfo(id, NULL, "storage", &by_administrator) == -1, "success");
	observe("errno %s", errno_name(errno));
	close_both();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(by_number),
		TEST(by_name),
		TEST(of_one_that_waits),
		TEST(many_of_a_name),
		TEST(unknown_name),
		TEST(administrator_that_fails),
		TEST(failure_of_one_that_waits),
		TEST(found_without_an_answer),
		TEST(one_search_at_a_time),
		TEST(administrator_that_takes_its_time),
		TEST(destroyed_before_the_answer),
		TEST(without_a_port),
		TEST(names_of_no_use),
		TEST(list_without_an_id),
		TEST(connected_to_a_service),
		/* For the rest of the fabric's life. */
		TEST(kernel_that_cannot_ask),
	};

	return RUN_TESTS(tests, argc, argv);
}
