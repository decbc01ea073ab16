/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of the family AF_IB: InfiniBand's own, without IP. */
#ifndef _RDMA_IB_H
#define _RDMA_IB_H

#include <endian.h>
#include <linux/types.h>
#include <string.h>

/** The address family of struct sockaddr_ib. */
#ifndef AF_IB
#define AF_IB 27
#endif
/** The same number as a protocol family. */
#ifndef PF_IB
#define PF_IB AF_IB
#endif

/** A GID in network byte order, to be read in units of 8, 16, 32 or 64 bits. */
struct ib_addr {
    union {
        __u8 uib_addr8[16];
        __be16 uib_addr16[8];
        __be32 uib_addr32[4];
        __be64 uib_addr64[2];
    } ib_u;
};

/* Short names for the fields of struct ib_addr. */
#define sib_addr8 ib_u.uib_addr8
#define sib_addr16 ib_u.uib_addr16
#define sib_addr32 ib_u.uib_addr32
#define sib_addr64 ib_u.uib_addr64
#define sib_raw ib_u.uib_addr8
#define sib_subnet_prefix ib_u.uib_addr64[0]
#define sib_interface_id ib_u.uib_addr64[1]

/** The address of a service at a GID. */
struct sockaddr_ib {
    /** AF_IB. */
    unsigned short int sib_family;
    /** Partition key, or 0 for any. */
    __be16 sib_pkey;
    /** Flow label and traffic class, as in an IPv6 header. */
    __be32 sib_flowinfo;
    /** GID; all zero for any. */
    struct ib_addr sib_addr;
    /** Service identifier: the port space, RDMA_IB_IP_PS_TCP and so on, and the port number. */
    __be64 sib_sid;
    /** The bits of sib_sid that count. */
    __be64 sib_sid_mask;
    /** Identifier of the scope of a link-local GID. */
    __u64 sib_scope_id;
};

/** Not 0 if the address is all zero, which stands for any. */
static inline int ib_addr_any(const struct ib_addr *a)
{
    return !a->sib_subnet_prefix && !a->sib_interface_id;
}

/** Not 0 if the address is the one of the loopback, 0 but for the last bit. */
static inline int ib_addr_loopback(const struct ib_addr *a)
{
    static const struct ib_addr loopback = { { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 } } };

    return !memcmp(a, &loopback, sizeof(loopback));
}

/** Sets the address from four words in network byte order, the first one first. */
static inline void ib_addr_set(struct ib_addr *addr, __be32 w1, __be32 w2, __be32 w3, __be32 w4)
{
    const __be32 words[4] = { w1, w2, w3, w4 };

    memcpy(addr->sib_addr32, words, sizeof(words));
}

/** 0 if the addresses are equal, else less or greater than 0 as the first differing byte is. */
static inline int ib_addr_cmp(const struct ib_addr *a1, const struct ib_addr *a2)
{
    return memcmp(a1->sib_raw, a2->sib_raw, sizeof(a1->sib_raw));
}

#endif /* _RDMA_IB_H */
