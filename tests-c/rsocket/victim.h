/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets under attack, and others that have to go on meanwhile. */
#ifndef TESTS_VICTIM_H
#define TESTS_VICTIM_H

#include "attacker.h"

/* A connection between honest sockets, for as long as attacks last. */
void begin_attack(void);
/* It has survived; nothing is left of what came since. */
void end_attack(void);
/* Data still goes both ways. */
void check_bystanders(void);

/* A socket that listened, and got the attacker, who has changed its greeting. */
int be_victim(struct attacker *attacker, void (*change)(struct greeting *greeting));
/* A socket that connected to the attacker. */
int be_victim_as_client(struct attacker *attacker);
/* Whatever came before, its connection ends for this reason. */
void check_broken(int victim, int reason);
void close_in_time(int victim);
/* Closes both sides, and ends the attack. */
void finish_attack(int victim, struct attacker *attacker);

#endif
