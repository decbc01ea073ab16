/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions that this object replaces, as the next object or libc has them. */
#ifndef SIM_NEXT_H
#define SIM_NEXT_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

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

/* The last argument of open(2) and its like, which is there only with flags that make a file. */
static inline mode_t mode_of(int flags, va_list *arguments)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(*arguments, mode_t) : 0;
}

#endif
