/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The simulated host's IP addresses, for programs that also talk over IP. */
#include "../../harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDRESS "10.99.0.1"

static struct sockaddr_in address_of(const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	check(inet_pton(AF_INET, text, &address.sin_addr) == 1, "address %s", text);
	return address;
}

static void listed(void)
{
	struct sockaddr_in wanted = address_of(ADDRESS);
	struct ifaddrs *list;
	int count = 0;

	check_ok(getifaddrs(&list));
	for (struct ifaddrs *entry = list; entry; entry = entry->ifa_next) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)entry->ifa_addr;

		if (!in || in->sin_family != AF_INET || in->sin_addr.s_addr != wanted.sin_addr.s_addr)
			continue;
		count++;
		check(!strcmp(entry->ifa_name, "rxe0") && entry->ifa_flags & IFF_UP, "%s", entry->ifa_name);
		check(((struct sockaddr_in *)entry->ifa_netmask)->sin_addr.s_addr == htonl(0xffffff00), "mask");
	}
	check(count == 1, "%d times", count);
	freeifaddrs(list);
}

static void sockets_meet_there(void)
{
	struct sockaddr_in address = address_of(ADDRESS), bound;
	socklen_t size = sizeof(bound);
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), server;
	char byte;

	check_ok(bind(listener, (struct sockaddr *)&address, sizeof(address)));
	check_ok(listen(listener, 1));
	check_ok(getsockname(listener, (struct sockaddr *)&bound, &size));
	address.sin_port = bound.sin_port;
	check_ok(connect(client, (struct sockaddr *)&address, sizeof(address)));
	server = accept(listener, NULL, NULL);
	check(server >= 0, "accept: %m");
	check(write(client, "x", 1) == 1 && read(server, &byte, 1) == 1 && byte == 'x', "data: %m");
}

/* All others are the machine's matter. */
static void other_addresses(void)
{
	struct sockaddr_in elsewhere = address_of("203.0.113.1"), nobody = address_of("127.0.0.1");
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	check_fails(bind(fd, (struct sockaddr *)&elsewhere, sizeof(elsewhere)), EADDRNOTAVAIL);
	nobody.sin_port = htons(1);
	check_fails(connect(fd, (struct sockaddr *)&nobody, sizeof(nobody)), ECONNREFUSED);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = { TEST(listed), TEST(sockets_meet_there), TEST(other_addresses) };

	return RUN_TESTS(tests, argc, argv);
}
