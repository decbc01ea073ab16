/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_set_option, and which ports an id may be bound to. */
#include "helper.h"

#include <arpa/inet.h>
#include <infiniband/sa.h>
#include <string.h>

enum { PORT = 7477 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void open_both(void)
{
	open_pair(&channel, &id);
}

static void close_both(void)
{
	close_pair(channel, id);
}

static int set(int level, int name, const void *value, size_t length)
{
	return rdma_set_option(id, level, name, (void *)value, length);
}

static void options_of_the_id(void)
{
	uint8_t byte = 7;
	int number = 1;

	open_both();
	check_ok(set(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &byte, sizeof(byte)));
	check_ok(set(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &number, sizeof(number)));
	check_ok(set(RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &number, sizeof(number)));
	check_ok(set(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, sizeof(byte)));
	close_both();
}

static void wrong_sizes(void)
{
	char value[16] = { 1 };

	open_both();
	for (size_t length = 0; length <= sizeof(value); length++) {
		if (length != 1) {
			check_fails(set(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, value, length), EINVAL);
			check_fails(set(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, value, length), EINVAL);
		}
		if (length != sizeof(int)) {
			check_fails(set(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, value, length), EINVAL);
			check_fails(set(RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, value, length), EINVAL);
		}
		check_fails(set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, value, length), EINVAL);
	}
	close_both();
}

static void unknown_options(void)
{
	int value = 0;

	open_both();
	check_fails(set(RDMA_OPTION_ID, 4, &value, sizeof(value)), ENOSYS);
	check_fails(set(RDMA_OPTION_ID, -1, &value, sizeof(value)), ENOSYS);
	check_fails(set(RDMA_OPTION_IB, 0, &value, sizeof(value)), ENOSYS);
	check_fails(set(2, 0, &value, sizeof(value)), ENOSYS);
	check_fails(set(-1, 0, &value, sizeof(value)), ENOSYS);
	close_both();
}

static void ack_timeout_has_five_bits(void)
{
	open_both();
	for (unsigned int exponent = 0; exponent < 256; exponent++) {
		uint8_t value = (uint8_t)exponent;

		if (exponent < 32)
			check_ok(set(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &value, sizeof(value)));
		else
			check_fails(set(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &value, sizeof(value)), EINVAL);
	}
	close_both();
}

static void null_id(void)
{
	int value = 1;

	check_fails(rdma_set_option(NULL, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &value, sizeof(value)), EINVAL);
}

static void null_value(void)
{
	open_both();
	check_fails(set(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 1), EINVAL);
	check_fails(set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, NULL, sizeof(struct ibv_path_data)), EINVAL);
	close_both();
}

/* Good until the next call. */
static struct sockaddr *address(const char *text, uint16_t port)
{
	static struct sockaddr_in buffer;

	buffer = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	check(inet_pton(AF_INET, text, &buffer.sin_addr) == 1, "address %s", text);
	return (struct sockaddr *)&buffer;
}

static void expect(enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	check_ok(rdma_get_cm_event(channel, &event));
	check(event->event == wanted && event->id == id && event->status == 0, "%s, status %d",
	      rdma_event_str(event->event), event->status);
	check_ok(rdma_ack_cm_event(event));
}

static void path(void)
{
	struct ibv_path_data paths[2] = { { .flags = IBV_PATH_FLAG_ALTERNATE }, { .flags = IBV_PATH_FLAG_GMP } };

	open_both();
	check_fails(set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof(paths)), EINVAL);
	paths[1].flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
	paths[1].path.pkey = 0xffff;
	paths[1].path.mtu = 4;
	paths[1].path.rate = 3;
	paths[1].path.packetlifetime = 9;
	paths[1].path.reversible_numpath = 0x81;
	check_fails(set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof(paths)), EINVAL);
	check_ok(rdma_resolve_addr(id, NULL, address(DEVICE_ADDRESS, 7471), 2000));
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	check_fails(set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof(paths) - 1), EINVAL);
	check_ok(set(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths, sizeof(paths)));
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	check(id->route.num_paths == 1 && id->route.path_rec, "%d paths", id->route.num_paths);
	observe("path pkey %#x sl %d mtu %d rate %d life %d", ntohs(id->route.path_rec->pkey), id->route.path_rec->sl,
		id->route.path_rec->mtu, id->route.path_rec->rate, id->route.path_rec->packet_life_time);
	close_both();
}

/* Binds a second id while the first is bound; each to one of the addresses. */
static int bind_behind(const char *first, const char *second, int reuse)
{
	struct rdma_cm_id *other;
	int ret, error;

	open_both();
	other = open_id(channel);
	check_ok(set(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof(reuse)));
	check_ok(rdma_set_option(other, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof(reuse)));
	check_ok(rdma_bind_addr(id, address(first, PORT)));
	ret = rdma_bind_addr(other, address(second, PORT));
	error = ret ? errno : 0;
	check_ok(rdma_destroy_id(other));
	close_both();
	return error;
}

#define check_error(got, wanted) \
	do { int error = (got); check(error == (wanted), "%s is %s", #got, errno_name(error)); } while (0)

static void taken_port(void)
{
	check_error(bind_behind(DEVICE_ADDRESS, DEVICE_ADDRESS, 0), EADDRINUSE);
	check_error(bind_behind("0.0.0.0", "0.0.0.0", 0), EADDRINUSE);
}

static void taken_port_of_the_wildcard(void)
{
	check_error(bind_behind("0.0.0.0", DEVICE_ADDRESS, 0), EADDRINUSE);
	check_error(bind_behind(DEVICE_ADDRESS, "0.0.0.0", 0), EADDRINUSE);
}

static void reused_port(void)
{
	check_error(bind_behind(DEVICE_ADDRESS, DEVICE_ADDRESS, 1), 0);
	check_error(bind_behind("0.0.0.0", DEVICE_ADDRESS, 1), 0);
}

static void foreign_address(void)
{
	open_both();
	check_fails(rdma_bind_addr(id, address("203.0.113.1", PORT)), EADDRNOTAVAIL);
	check_fails(rdma_bind_addr(id, address("203.0.113.1", 0)), EADDRNOTAVAIL);
	close_both();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(options_of_the_id), TEST(wrong_sizes), TEST(unknown_options), TEST(ack_timeout_has_five_bits),
		TEST(null_id), TEST(null_value), TEST(path), TEST(taken_port), TEST(taken_port_of_the_wildcard),
		TEST(reused_port), TEST(foreign_address),
	};

	return RUN_TESTS(tests, argc, argv);
}
