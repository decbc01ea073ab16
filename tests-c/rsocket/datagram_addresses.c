/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of datagram sockets. */
#include "datagram.h"

#include <string.h>

/* An unbound socket gets an address when it first sends; a wildcard does as well. */
static void without_an_address(void)
{
	int one = sockets()->socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP), other = bound_to("0.0.0.0");
	struct sockaddr_in other_name = name_of(other), source;
	socklen_t length = sizeof(source);

	check(!name_of(one).sin_port, "an address");
	inet_pton(AF_INET, SOCKETS_ADDRESS, &other_name.sin_addr);
	for (int round = 0; round < 10; round++) {
		send_to(one, "x", 1, &other_name);
		check(poll_one(other, POLLIN, 10000) == POLLIN, "nothing has come");
		check(sockets()->recvfrom(other, in, sizeof(in), 0, (struct sockaddr *)&source, &length) == 1, "%m");
		check(source.sin_port == name_of(one).sin_port, "from another port");
		send_to(other, "yy", 2, &source);
		receive_from(one, 2, &other_name);
	}
	close_both(one, other);
}

static void short_names(void)
{
	int one = bound_socket(), other = bound_socket();
	struct sockaddr_in one_name = name_of(one), other_name = name_of(other), source;
	socklen_t length = 4;

	memset(&source, 0xee, sizeof(source));
	send_to(one, "x", 1, &other_name);
	check(sockets()->recvfrom(other, in, 1, 0, (struct sockaddr *)&source, &length) == 1, "recvfrom: %m");
	check(length == sizeof(source), "%u bytes", length);
	check(source.sin_port == one_name.sin_port && source.sin_addr.s_addr == 0xeeeeeeee, "more than there is room for");
	send_to(one, "x", 1, &other_name);
	check(sockets()->recvfrom(other, in, 1, 0, NULL, NULL) == 1, "recvfrom: %m");
	close_both(one, other);
}

static void without_device(void)
{
	struct sockaddr_in nowhere = { .sin_family = AF_INET, .sin_port = htons(9) };
	int one = sockets()->socket(AF_INET, SOCK_DGRAM, 0);

	if (is_kernel())
		skip_test("the kernel's sockets need none");
	/* An address of this machine, but of no RDMA device. */
	inet_pton(AF_INET, "10.98.0.1", &nowhere.sin_addr);
	check(sockets()->sendto(one, "x", 1, 0, (struct sockaddr *)&nowhere, sizeof(nowhere)) == -1, "sent");
	check(errno == ENODEV || errno == EADDRNOTAVAIL || errno == ENETUNREACH, "%m");
	check_ok(sockets()->close(one));
}

/* A connection that fails leaves the one before. */
static void another_peer(void)
{
	struct sockaddr_in nowhere = { .sin_family = AF_INET, .sin_port = htons(9) }, name;
	int one = bound_to("0.0.0.0"), other = bound_socket();
	struct sockaddr_in other_name = name_of(other);
	socklen_t length = sizeof(name);

	if (is_kernel())
		skip_test("the kernel's sockets connect to anybody");
	check_ok(sockets()->connect(one, (struct sockaddr *)&other_name, sizeof(other_name)));
	inet_pton(AF_INET, "255.255.255.255", &nowhere.sin_addr);
	check(sockets()->connect(one, (struct sockaddr *)&nowhere, sizeof(nowhere)) == -1, "connected");
	check_ok(sockets()->getpeername(one, (struct sockaddr *)&name, &length));
	check(same_name(&name, &other_name), "another peer");
	name = name_of(one);
	for (int round = 0; round < 3; round++) {
		check(sockets()->send(one, "abc", 3, 0) == 3, "send: %m");
		receive_from(other, 3, &name);
		send_to(other, "de", 2, &name);
		receive_from(one, 2, &other_name);
	}
	close_both(one, other);
	/* One that had none is without one. */
	one = bound_to("0.0.0.0"), other = bound_socket();
	other_name = name_of(other);
	inet_pton(AF_INET, "10.98.0.1", &nowhere.sin_addr);
	check(sockets()->connect(one, (struct sockaddr *)&nowhere, sizeof(nowhere)) == -1, "connected");
	check_fails(sockets()->send(one, "x", 1, 0), EDESTADDRREQ);
	name = name_of(one);
	inet_pton(AF_INET, SOCKETS_ADDRESS, &name.sin_addr);
	send_to(other, "abc", 3, &name);
	receive_from(one, 3, &other_name);
	close_both(one, other);
}

static void six(void)
{
	struct sockaddr_in6 name = { .sin6_family = AF_INET6 }, source;
	socklen_t length = sizeof(name);
	int one = sockets()->socket(AF_INET6, SOCK_DGRAM, 0), other = sockets()->socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in mapped;

	inet_pton(AF_INET6, "fd00:99::1", &name.sin6_addr);
	check_ok(sockets()->bind(other, (struct sockaddr *)&name, sizeof(name)));
	check_ok(sockets()->getsockname(other, (struct sockaddr *)&name, &length));
	for (int round = 0; round < 5; round++) {
		check(sockets()->sendto(one, "abc", 3, 0, (struct sockaddr *)&name, sizeof(name)) == 3, "sendto: %m");
		length = sizeof(source);
		check(sockets()->recvfrom(other, in, 10, 0, (struct sockaddr *)&source, &length) == 3, "recvfrom: %m");
		check(length == sizeof(source) && source.sin6_family == AF_INET6, "another family");
		check(sockets()->sendto(other, "de", 2, 0, (struct sockaddr *)&source, length) == 2, "back: %m");
		check(sockets()->recv(one, in, 10, 0) == 2, "recv: %m");
	}
	close_both(one, other);
	/* IPv4 as IPv6 writes it. */
	one = sockets()->socket(AF_INET6, SOCK_DGRAM, 0);
	other = bound_socket();
	mapped = name_of(other);
	inet_pton(AF_INET6, "::ffff:" SOCKETS_ADDRESS, &name.sin6_addr);
	name.sin6_port = mapped.sin_port;
	for (int round = 0; round < 5; round++) {
		check(sockets()->sendto(one, "abc", 3, 0, (struct sockaddr *)&name, sizeof(name)) == 3, "mapped: %m");
		length = sizeof(mapped);
		check(sockets()->recvfrom(other, in, 10, 0, (struct sockaddr *)&mapped, &length) == 3, "recvfrom: %m");
		send_to(other, "de", 2, &mapped);
		length = sizeof(source);
		check(sockets()->recvfrom(one, in, 10, 0, (struct sockaddr *)&source, &length) == 2, "recv: %m");
		check(!memcmp(&source.sin6_addr, &name.sin6_addr, 16), "not mapped");
	}
	close_both(one, other);
}

/* A port that the kernel has chosen stays when the peer is taken away: peers know it. */
static void kept_port(void)
{
	struct sockaddr_in6 name = { .sin6_family = AF_INET6 }, peer, after;
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	int one = sockets()->socket(AF_INET6, SOCK_DGRAM, 0);
	socklen_t length = sizeof(name);

	if (is_kernel())
		skip_test("the kernel takes it back");
	inet_pton(AF_INET6, "::ffff:" SOCKETS_ADDRESS, &name.sin6_addr);
	check_ok(sockets()->bind(one, (struct sockaddr *)&name, sizeof(name)));
	check_ok(sockets()->getsockname(one, (struct sockaddr *)&name, &length));
	peer = name;
	check_ok(sockets()->connect(one, (struct sockaddr *)&peer, sizeof(peer)));
	check_ok(sockets()->connect(one, &nobody, sizeof(nobody)));
	check_ok(sockets()->getsockname(one, (struct sockaddr *)&after, &length));
	check(!memcmp(&after, &name, sizeof(name)), "another name");
	check_ok(sockets()->close(one));
}

static const struct test tests[] = {
	TEST(without_an_address), TEST(short_names), TEST(without_device), TEST(another_peer), TEST(six),
	TEST(kept_port),
};

int main(int argc, char **argv)
{
	return RUN_TESTS(tests, argc, argv);
}
