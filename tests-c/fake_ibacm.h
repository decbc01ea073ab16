/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads of the test process that play ibacm. */
#ifndef TESTS_FAKE_IBACM_H
#define TESTS_FAKE_IBACM_H

enum ibacm_mood {
	ANSWER,		/* a path to the destination, and the source address */
	REFUSE,		/* no data */
	SILENT,		/* accepts and reads, says nothing */
	SLOW,		/* answers after 300 ms */
	PIECES,		/* the reply byte by byte at first, then the rest */
	STALE_FIRST,	/* a reply to nobody's question, to another address, before the right one */
	LENGTH,		/* says that the reply has ibacm_length bytes */
};

/* Packet life time of all paths. */
enum { IBACM_LIFE = 11 };

extern volatile unsigned int ibacm_length;

/* Listens where ibacm does, as root of a machine without it. */
void start_ibacm(enum ibacm_mood mood);
/* The same, at a TCP port that the port file names. */
void start_ibacm_at_port(void);
/* Closes all its sockets, as if it had ended. */
void stop_ibacm(void);

#endif
