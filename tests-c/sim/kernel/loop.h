/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel process is one thread around epoll: descriptors that are ready, and times that have come. */
#ifndef SIM_KERNEL_LOOP_H
#define SIM_KERNEL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct watch;
struct timer;

/* Calls `ready` whenever the descriptor is readable, or its other end is closed. The descriptor stays the caller's. */
struct watch *watch(int fd, void (*ready)(void *arg), void *arg);
/* The same, only for the other end's being closed. */
struct watch *watch_hangup(int fd, void (*gone)(void *arg), void *arg);
/* May be called for any watch at any time, also by the function that it calls. Before the descriptor is closed. */
void unwatch(struct watch *watch);

/* Calls `run` once; those of the same time in the order of their making. 0: after what is being done now. */
struct timer *after(unsigned int ms, void (*run)(void *arg), void *arg);
/* One that has not run. */
void cancel(struct timer *timer);

/* Runs until the function says so, which is asked after each round. */
void loop(bool (*ended)(void));

uint64_t now_ms(void);

#endif
