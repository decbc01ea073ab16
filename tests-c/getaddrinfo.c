/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma_getaddrinfo without ibacm: what each hint makes of a node and a service, and what failures look like. */
#include "helper.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#define HOSTS "/tmp/hosts-for-getaddrinfo"

static struct rdma_addrinfo *result;

static int find(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	result = NULL;
	return rdma_getaddrinfo(node, service, hints, &result);
}

static void found(const char *node, const char *service, const struct rdma_addrinfo *hints)
{
	int ret = find(node, service, hints);

	check(ret == 0, "%s %s: %d, %m", node ? node : "-", service ? service : "-", ret);
	check(result, "no list");
}

static const char *address_text(const struct sockaddr *address, socklen_t length)
{
	static char texts[2][128];
	static unsigned int turn;
	char *text = texts[turn++ % 2], host[INET6_ADDRSTRLEN];
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)address;

	if (!address)
		return length ? "NULL with a length" : "none";
	switch (address->sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, host, sizeof(host));
		snprintf(text, sizeof(texts[0]), "%s port %d of %u bytes", host,
			 ntohs(((const struct sockaddr_in *)address)->sin_port), length);
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, host, sizeof(host));
		snprintf(text, sizeof(texts[0]), "%s port %d of %u bytes", host,
			 ntohs(((const struct sockaddr_in6 *)address)->sin6_port), length);
		break;
	case AF_IB:
		inet_ntop(AF_INET6, &ib->sib_addr, host, sizeof(host));
		snprintf(text, sizeof(texts[0]), "gid %s service %#llx/%#llx pkey %#x of %u bytes", host,
			 (unsigned long long)be64toh(ib->sib_sid), (unsigned long long)be64toh(ib->sib_sid_mask),
			 ntohs(ib->sib_pkey), length);
		break;
	default:
		snprintf(text, sizeof(texts[0]), "family %d", address->sa_family);
	}
	return text;
}

static void observe_first(const char *what)
{
	observe("%s: flags %#x family %d qp %d space %#x, from %s to %s, names %d %d, route %zu, connect %zu", what,
		(unsigned int)result->ai_flags, result->ai_family, result->ai_qp_type,
		(unsigned int)result->ai_port_space, address_text(result->ai_src_addr, result->ai_src_len),
		address_text(result->ai_dst_addr, result->ai_dst_len), !!result->ai_src_canonname,
		!!result->ai_dst_canonname, result->ai_route_len, result->ai_connect_len);
	rdma_freeaddrinfo(result);
}

static void without_hints(void)
{
	found(DEVICE_ADDRESS, NULL, NULL);
	observe_first("node");
	found(DEVICE_ADDRESS, "7471", NULL);
	observe_first("node and service");
	found("::1", "7471", NULL);
	observe_first("IPv6");
}

static void passive(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP, .ai_family = AF_INET };

	found(NULL, "7471", &hints);
	observe_first("any");
	found(DEVICE_ADDRESS, "7471", &hints);
	observe_first("one");
	hints.ai_family = AF_INET6;
	found(NULL, "7471", &hints);
	observe_first("any IPv6");
}

static void service_only(void)
{
	found(NULL, "7471", NULL);
	observe_first("loopback");
}

/* Every pair of a kind of queue pair and a port space: which fit, and what one makes of the other. */
static void kinds(void)
{
	static const int types[] = { 0, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, 8, 77 };
	static const int spaces[] = { 0, RDMA_PS_IPOIB, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, 0x1234 };
	char what[64];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (size_t j = 0; j < sizeof(spaces) / sizeof(spaces[0]); j++) {
			struct rdma_addrinfo hints = { .ai_qp_type = types[i], .ai_port_space = spaces[j] };
			int ret = find(DEVICE_ADDRESS, "7471", &hints);

			snprintf(what, sizeof(what), "qp %d space %#x", types[i], (unsigned int)spaces[j]);
			if (ret)
				observe("%s: %d", what, ret);
			else
				observe_first(what);
		}
	}
}

static void addresses_of_hints(void)
{
	struct sockaddr_in from = { .sin_family = AF_INET }, to = { .sin_family = AF_INET, .sin_port = htons(1) };
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST, .ai_family = AF_INET, .ai_qp_type = IBV_QPT_UC, .ai_port_space = RDMA_PS_IB,
		.ai_src_len = sizeof(from), .ai_src_addr = (struct sockaddr *)&from,
		.ai_dst_len = sizeof(to), .ai_dst_addr = (struct sockaddr *)&to,
	};

	inet_pton(AF_INET, DEVICE_ADDRESS, &from.sin_addr);
	inet_pton(AF_INET, "10.99.0.2", &to.sin_addr);
	found(NULL, NULL, &hints);
	check(result->ai_src_addr != hints.ai_src_addr && result->ai_dst_addr != hints.ai_dst_addr, "not copied");
	observe_first("hints alone");
	hints.ai_qp_type = IBV_QPT_RC;
	found("10.99.0.3", "2", &hints);
	observe_first("a node, and the source of the hints");
	hints.ai_src_len = 0;
	hints.ai_dst_len = 0;
	found(NULL, NULL, &hints);
	observe_first("no addresses");
	hints.ai_flags = RAI_PASSIVE;
	hints.ai_src_len = sizeof(from);
	found(NULL, NULL, &hints);
	observe_first("passive");
}

static void gid(void)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_FAMILY | RAI_NUMERICHOST, .ai_family = AF_IB, .ai_port_space = RDMA_PS_TCP,
	};

	found("fe80::1234", "7471", &hints);
	observe_first("GID and port");
	found("fe80::1234", NULL, &hints);
	observe_first("GID");
	hints.ai_flags |= RAI_PASSIVE;
	found("fe80::1234", "7471", &hints);
	observe_first("passive");
	hints.ai_flags = RAI_NUMERICHOST;
	found("fe80::1234", "7471", &hints);
	observe_first("without RAI_FAMILY");
}

/* Not what happened to be in errno, and not a pointer from before. */
static void check_failure(int ret, int error, int wanted_ret, int wanted_error)
{
	check(ret == wanted_ret && error == wanted_error, "%d, errno %s, not %d, %s", ret, errno_name(error),
	      wanted_ret, errno_name(wanted_error));
}

static void failures_have_an_errno(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };
	int ret;

	errno = ENOTTY;
	ret = find("no.number", "7471", &hints);
	check_failure(ret, errno, EAI_NONAME, ENOENT);
	hints.ai_family = 77;
	errno = ENOTTY;
	ret = find(DEVICE_ADDRESS, "7471", &hints);
	check_failure(ret, errno, EAI_FAMILY, EINVAL);
}

static void return_values_of_failures(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };

	observe("no number: %d", find("no.number", "7471", &hints));
	observe("unknown service: %d", find(DEVICE_ADDRESS, "no-such-service", &hints));
	hints.ai_family = AF_INET6;
	observe("other family: %d", find(DEVICE_ADDRESS, "7471", &hints));
	hints.ai_family = AF_UNIX;
	observe("unknown family: %d", find(DEVICE_ADDRESS, "7471", &hints));
}

static void failure_clears_the_pointer(void)
{
	struct rdma_addrinfo stale;

	result = &stale;
	check_fails(rdma_getaddrinfo(NULL, NULL, NULL, &result), EINVAL);
	check(!result, "the pointer is left as it was");
}

static void nothing_to_look_for(void)
{
	check_fails(rdma_getaddrinfo(NULL, NULL, NULL, &result), EINVAL);
}

static void null_result(void)
{
	check_fails(rdma_getaddrinfo(DEVICE_ADDRESS, "7471", NULL, NULL), EINVAL);
}

static void free_null(void)
{
	rdma_freeaddrinfo(NULL);
}

static void by_subnet_administrator(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	int fds = count_fds(NULL);

	check_fails(find(DEVICE_ADDRESS, "7471", &hints), EOPNOTSUPP);
	check_fails(find(NULL, NULL, &hints), EINVAL);
	/* There is no InfiniBand port here. */
	check_fails(find(NULL, "a service", &hints), ENOENT);
	hints.ai_flags |= RAI_DNS;
	check_fails(find(NULL, "a service", &hints), EOPNOTSUPP);
	check(count_fds(NULL) <= fds + 1, "%d descriptors, not %d", count_fds(NULL), fds);
}

/* The name "twins" has two addresses, in a file of hosts of the case's own. */
static void name_twins(void)
{
	FILE *file;

	if (unshare(CLONE_NEWNS))
		skip_test("no mount namespace: %m");
	check_ok(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	file = fopen(HOSTS, "w");
	check(file && fputs("10.99.0.7 twins\n10.99.0.8 twins\n", file) >= 0 && !fclose(file), "%s: %m", HOSTS);
	check_ok(mount(HOSTS, "/etc/hosts", NULL, MS_BIND, NULL));
}

static void all_addresses_of_a_name(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_family = AF_INET }, *second;

	name_twins();
	found("twins", "7471", &hints);
	second = result->ai_next;
	check(second && !second->ai_next, "not two");
	check(second->ai_qp_type == IBV_QPT_RC && second->ai_port_space == RDMA_PS_TCP, "kind");
	check(strcmp(address_text(result->ai_dst_addr, result->ai_dst_len), "10.99.0.7 port 7471 of 16 bytes") == 0 &&
	      strcmp(address_text(second->ai_dst_addr, second->ai_dst_len), "10.99.0.8 port 7471 of 16 bytes") == 0,
	      "%s", address_text(second->ai_dst_addr, second->ai_dst_len));
	rdma_freeaddrinfo(result);
}

static void each_address_once(void)
{
	found(DEVICE_ADDRESS, "7471", NULL);
	check(!result->ai_next, "one more");
	rdma_freeaddrinfo(result);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		TEST(without_hints), TEST(passive), TEST(service_only), TEST(kinds), TEST(addresses_of_hints), TEST(gid),
		TEST(failures_have_an_errno), TEST(return_values_of_failures), TEST(failure_clears_the_pointer),
		TEST(nothing_to_look_for), TEST(null_result), TEST(free_null), TEST(by_subnet_administrator),
		TEST(all_addresses_of_a_name), TEST(each_address_once),
	};

	return RUN_TESTS(tests, argc, argv);
}
