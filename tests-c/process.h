/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads, time, descriptors and memory of the test process; nothing of the library under test. */
#ifndef TESTS_PROCESS_H
#define TESTS_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

pthread_t start_thread(void *(*run)(void *), void *arg);
void join_thread(pthread_t thread);
/* True when the thread ended within this time (times TEST_SCALE). */
bool thread_ends(pthread_t thread, unsigned int ms);

uint64_t now_ms(void);
void sleep_ms(unsigned int ms);

void set_nonblocking(int fd);
/* Open descriptors of this process whose target contains the text (NULL: all). */
int count_fds(const char *text);
int count_threads(void);
/* The memory that this process has in use. */
long resident_kb(void);

/* Runs a shell command, which meets neither the library under test nor descriptors. Returns as system() does. */
int run_command(const char *command);

/* Runs this in a forked child; a case that fails there fails as a whole. */
void run_child(void (*child)(void));

#endif
