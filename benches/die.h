/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BENCHES_DIE_H
#define BENCHES_DIE_H

/* Ends the program; says what failed, and errno. */
_Noreturn void die(const char *what);

#endif
