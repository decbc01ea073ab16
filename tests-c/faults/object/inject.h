/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the preloaded object: which call fails. */
#ifndef FAULTS_INJECT_H
#define FAULTS_INJECT_H

#include "../faults.h"
#include "../../sim/next.h"

#include <errno.h>

/* The place in the library that an address is, from 1; 0 for an address outside. */
uintptr_t faults_place(const void *address);

/* Counts a call. 0, or the way in which it is to fail. */
int faults_way(const struct faults_kind *kind, const void *caller);

#define CALLER __builtin_return_address(0)
#define IS_OURS faults_place(CALLER)

/* At the beginning of a function: counts the call, and tells the way in which it is to fail, or 0. */
#define WAY(name, ...)                                                                          \
	({                                                                                      \
		static const struct faults_kind kind_ = { name, { __VA_ARGS__ } };              \
		faults_way(&kind_, CALLER);                                                     \
	})

/* The same, and fails with this value and errno. */
#define FAIL(value, name, ...)                          \
	do {                                            \
		int way_ = WAY(name, __VA_ARGS__);      \
		if (way_) {                             \
			errno = way_;                   \
			return value;                   \
		}                                       \
	} while (0)

#endif
