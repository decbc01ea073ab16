/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of a line of script, taken from the left. */
#ifndef SIM_KERNEL_WORDS_H
#define SIM_KERNEL_WORDS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words {
	char *rest;
	char *error;		/* what is wrong, for asprintf(); NULL: nothing so far */
};

/* The next word; an error and "" if there is none. */
const char *next_word(struct words *words);
/* Takes the next word if it is this one. */
bool next_is(struct words *words, const char *word);
bool at_end(const struct words *words);

/* Each takes a word and is an error, and 0, if that is no such thing. */
uint64_t next_number(struct words *words);		/* decimal, 0x…, or negative */
int next_errno(struct words *words);			/* ENOMEM, or a number */
struct in6_addr next_ip(struct words *words, int *prefix);	/* of either family; IPv4 as ::ffff:…; /N if prefix */
/* The number of a command of the connection manager, or ANY_COMMAND. */
int next_command(struct words *words);
/* The same, or a function of libibverbs: the number of its call. */
int next_call(struct words *words);
/* "3", "every" (0), and without either 1. */
unsigned int next_nth(struct words *words);
size_t next_bytes(struct words *words, unsigned char *bytes, size_t size);	/* 00ff… */

enum { ANY_COMMAND = -1 };

/* Remembers the first error. */
void wrong(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
