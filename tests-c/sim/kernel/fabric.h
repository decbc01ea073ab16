/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel process as a process: its beginning, its folder, its end. */
#ifndef SIM_KERNEL_FABRIC_H
#define SIM_KERNEL_FABRIC_H

/*
 * Serves this folder in a process in the background, until its clients have gone. Returns an exit status, once it
 * listens: success also if another one serves the folder already. The script (NULL: none) is a file.
 */
int run_fabric(const char *folder, const char *script);

#endif
