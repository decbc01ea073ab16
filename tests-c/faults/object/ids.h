/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The account of the kernel's ids, which tells no one of those that are not bound. */
#ifndef FAULTS_IDS_H
#define FAULTS_IDS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the message ends something in the kernel. */
bool faults_is_end(const void *message, size_t size);
/* A message that the connection manager has executed. */
void faults_count_command(int fd, const void *message, size_t size);
/* The kernel's ids go with their descriptor. */
void faults_forget_ids(int fd);

#endif
