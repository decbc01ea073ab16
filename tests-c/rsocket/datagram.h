/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tests of datagram sockets have in common. */
#ifndef TESTS_DATAGRAM_H
#define TESTS_DATAGRAM_H

#include "sockets.h"

extern unsigned char in[4096];

struct sockaddr_in name_of(int socket);
bool same_name(const struct sockaddr_in *one, const struct sockaddr_in *other);

/* At a port of the kernel's choice; the second one at the device's address. */
int bound_to(const char *address);
int bound_socket(void);

void send_to(int socket, const void *data, size_t length, const struct sockaddr_in *to);

/* The next datagram, which is that long and from there, unless that is NULL. It is in `in` then. */
void receive_from(int socket, size_t length, const struct sockaddr_in *from);

/* So often one sends the other a datagram, and gets one back. */
void back_and_forth(int one, int other, int rounds);

void close_both(int one, int other);

#endif
