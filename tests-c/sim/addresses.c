/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machine does not have the simulated hosts' IP addresses, but programs see them among its own. Sockets are at the
 * machine's loopback address instead, so that programs that also talk over IP can.
 */
#include "call.h"
#include "next.h"
#include "protocol.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The answer of SIM_IS_ADDRESS, and the same port at the loopback address. */
static enum sim_place to_loopback(const struct sockaddr *address, socklen_t size, struct sockaddr_storage *loopback)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	struct in6_addr ip = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	long place;

	if (size > sizeof(*loopback))
		return SIM_NOWHERE;
	memcpy(loopback, address, size);
	if (size >= sizeof(*in) && address->sa_family == AF_INET) {
		memcpy(&ip.s6_addr[12], &in->sin_addr, 4);
		((struct sockaddr_in *)loopback)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else if (size >= sizeof(*in6) && address->sa_family == AF_INET6) {
		ip = in6->sin6_addr;
		((struct sockaddr_in6 *)loopback)->sin6_addr = in6addr_loopback;
	} else {
		return SIM_NOWHERE;
	}
	place = sim_call(SIM_IS_ADDRESS, &ip, sizeof(ip), NULL, 0);
	return place < 0 ? SIM_NOWHERE : (enum sim_place)place;
}

REPLACES int bind(int fd, const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_storage loopback;
	int result = NEXT(bind)(fd, address, size);

	if (!result || errno != EADDRNOTAVAIL)
		return result;
	if (to_loopback(address, size, &loopback) == SIM_HERE)
		return NEXT(bind)(fd, (struct sockaddr *)&loopback, size);
	errno = EADDRNOTAVAIL;
	return -1;
}

static bool is_datagram(int fd)
{
	int type = 0;
	socklen_t length = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) && type == SOCK_DGRAM;
}

/*
 * Where nobody listens at the loopback address the machine may have the other one after all. Datagrams tell their sender's
 * address, so they do not go by another one: for them the machine has to have the addresses.
 */
REPLACES int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_storage loopback;
	int result;

	if (is_datagram(fd) || to_loopback(address, size, &loopback) == SIM_NOWHERE)
		return NEXT(connect)(fd, address, size);
	result = NEXT(connect)(fd, (struct sockaddr *)&loopback, size);
	return result && errno == ECONNREFUSED ? NEXT(connect)(fd, address, size) : result;
}

/* An entry for an address of the simulated host. Those of the machine stand in front. */
struct entry {
	struct ifaddrs entry;
	char name[SIM_NAME_MAX];
	struct sockaddr_in6 address, mask;
};

/* What entries of ours have for data. */
static char mark;

static void set_ip(struct sockaddr_in6 *in6, const struct in6_addr *ip, bool ipv4)
{
	struct sockaddr_in *in = (struct sockaddr_in *)in6;

	if (ipv4) {
		in->sin_family = AF_INET;
		memcpy(&in->sin_addr, &ip->s6_addr[12], 4);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_addr = *ip;
	}
}

static struct ifaddrs *new_entry(const struct sim_address *address)
{
	struct entry *new = calloc(1, sizeof(*new));
	bool ipv4 = IN6_IS_ADDR_V4MAPPED(&address->ip);
	struct in6_addr mask = { 0 };

	if (!new)
		return NULL;
	for (unsigned int bit = 0; bit < address->prefix; bit++)
		mask.s6_addr[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	set_ip(&new->address, &address->ip, ipv4);
	set_ip(&new->mask, &mask, ipv4);
	strncpy(new->name, address->interface, sizeof(new->name) - 1);
	new->entry = (struct ifaddrs){
		.ifa_name = new->name, .ifa_flags = IFF_UP | IFF_RUNNING | IFF_MULTICAST,
		.ifa_addr = (struct sockaddr *)&new->address, .ifa_netmask = (struct sockaddr *)&new->mask,
		.ifa_data = &mark,
	};
	return &new->entry;
}

static struct ifaddrs **find_ours(struct ifaddrs **place)
{
	while (*place && (*place)->ifa_data != &mark)
		place = &(*place)->ifa_next;
	return place;
}

REPLACES int getifaddrs(struct ifaddrs **list)
{
	struct sim_address addresses[SIM_ADDRESSES_MAX];
	struct ifaddrs **place;
	size_t size = 0;

	if (NEXT(getifaddrs)(list))
		return -1;
	place = find_ours(list);
	if (sim_call_parts(SIM_ADDRESSES, NULL, 0, NULL, 0, addresses, sizeof(addresses), &size) < 0)
		size = 0;
	for (size_t i = 0; i < size / sizeof(addresses[0]); i++) {
		*place = new_entry(&addresses[i]);
		if (!*place) {
			freeifaddrs(*list);
			errno = ENOMEM;
			return -1;
		}
		place = &(*place)->ifa_next;
	}
	return 0;
}

REPLACES void freeifaddrs(struct ifaddrs *list)
{
	struct ifaddrs **place = find_ours(&list), *ours = *place, *next;

	*place = NULL;
	for (; ours; ours = next) {
		next = ours->ifa_next;
		free(ours);
	}
	NEXT(freeifaddrs)(list);
}
