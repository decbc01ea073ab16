/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions that this object replaces, as the next object or libc has them. */
#ifndef SIM_NEXT_H
#define SIM_NEXT_H

#include <dlfcn.h>

/* What a name stands for behind this object. Found once for each place that asks. */
#define NEXT(function)                                                                  \
	({                                                                              \
		static __typeof__(&function) next_;                                     \
		if (!next_)                                                             \
			next_ = (__typeof__(&function))dlsym(RTLD_NEXT, #function);     \
		next_;                                                                  \
	})

/* For definitions that programs are to find. */
#define REPLACES __attribute__((visibility("default")))

#endif
