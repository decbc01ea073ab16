/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FAULTS_TOLD_H
#define FAULTS_TOLD_H

#include "faults.h"

/* Whether this errno tells of the failure that happened. */
bool is_told(const struct faults *faults, int error);

#endif
