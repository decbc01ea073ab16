/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of three families. */
#include "cm.h"

#include <endian.h>
#include <string.h>

#define IN(address) ((const struct sockaddr_in *)(address))
#define IN6(address) ((const struct sockaddr_in6 *)(address))
#define IB(address) ((const struct sockaddr_ib *)(address))

socklen_t sockaddr_size(const void *address)
{
	switch (((const struct sockaddr *)address)->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

void set_sockaddr(struct sockaddr_storage *to, const void *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, sockaddr_size(from));
}

bool is_any(const struct sockaddr_storage *address)
{
	switch (address->ss_family) {
	case AF_INET:
		return IN(address)->sin_addr.s_addr == INADDR_ANY;
	case AF_INET6:
		return IN6_IS_ADDR_UNSPECIFIED(&IN6(address)->sin6_addr);
	case AF_IB:
		return ib_addr_any(&IB(address)->sib_addr);
	default:
		return true;
	}
}

bool is_loopback(const struct sockaddr_storage *address)
{
	switch (address->ss_family) {
	case AF_INET:
		return ntohl(IN(address)->sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&IN6(address)->sin6_addr);
	case AF_IB:
		return ib_addr_loopback(&IB(address)->sib_addr);
	default:
		return false;
	}
}

bool same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	switch (a->ss_family) {
	case AF_INET:
		return IN(a)->sin_addr.s_addr == IN(b)->sin_addr.s_addr;
	case AF_INET6:
		return !memcmp(&IN6(a)->sin6_addr, &IN6(b)->sin6_addr, sizeof(struct in6_addr));
	default:
		return !memcmp(&IB(a)->sib_addr, &IB(b)->sib_addr, sizeof(struct ib_addr));
	}
}

uint16_t port_of(const struct sockaddr_storage *address)
{
	switch (address->ss_family) {
	case AF_INET:
		return IN(address)->sin_port;
	case AF_INET6:
		return IN6(address)->sin6_port;
	case AF_IB:
		return htons((uint16_t)(be64toh(IB(address)->sib_sid) & be64toh(IB(address)->sib_sid_mask)));
	default:
		return 0;
	}
}

void set_port_of(struct sockaddr_storage *address, uint16_t port)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)address;

	switch (address->ss_family) {
	case AF_INET:
		((struct sockaddr_in *)address)->sin_port = port;
		break;
	case AF_INET6:
		((struct sockaddr_in6 *)address)->sin6_port = port;
		break;
	case AF_IB:
		ib->sib_sid = htobe64((be64toh(ib->sib_sid) & ~0xffffULL) | ntohs(port));
		ib->sib_sid_mask = htobe64(~0ULL);
		break;
	}
}

bool ip_of(const struct sockaddr_storage *address, struct in6_addr *ip)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	switch (address->ss_family) {
	case AF_INET:
		memcpy(ip, mapped, sizeof(mapped));
		memcpy(&ip->s6_addr[12], &IN(address)->sin_addr, 4);
		return true;
	case AF_INET6:
		*ip = IN6(address)->sin6_addr;
		return true;
	default:
		return false;
	}
}

void sockaddr_from_ip(struct sockaddr_storage *address, const struct in6_addr *ip)
{
	uint16_t port = port_of(address);

	memset(address, 0, sizeof(*address));
	if (IN6_IS_ADDR_V4MAPPED(ip)) {
		address->ss_family = AF_INET;
		memcpy(&((struct sockaddr_in *)address)->sin_addr, &ip->s6_addr[12], 4);
	} else {
		address->ss_family = AF_INET6;
		((struct sockaddr_in6 *)address)->sin6_addr = *ip;
	}
	set_port_of(address, port);
}

uint64_t service_id_of(const struct cm_id *id, const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_IB)
		return IB(address)->sib_sid;
	return htobe64((uint64_t)id->ps << 16 | ntohs(port_of(address)));
}
