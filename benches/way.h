/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A way to tell another thread something: the library, the kernel's commands without it, an eventfd. */
#ifndef BENCHES_WAY_H
#define BENCHES_WAY_H

enum { ENDS = 2, BATCH = 200 };

/* Each end is a place to wait at; whoever writes to it wakes the one who reads from it. */
struct way {
	const char *name;
	void (*open)(void);
	void (*write)(int end);
	void (*read)(int end);
	/* The two halves of read, for up to BATCH events held at once. NULL where there are none. */
	void (*get)(int end, int slot);
	void (*ack)(int slot);
	/* A read from an end that is open in non-blocking mode and empty. NULL where it is not measured. */
	void (*read_nothing)(void);
};

extern const struct way library_way, raw_way, eventfd_way;

#endif
