/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the command does besides being the kernel process. Each returns an exit status. */
#ifndef SIM_KERNEL_COMMAND_H
#define SIM_KERNEL_COMMAND_H

/* Runs the program on a fabric; on a new one unless the environment names one. Returns only on failure. */
int run_program(const char *script, char **arguments);

/* Has the running fabric do a line of script. */
int order(const char *line);

/* Prints what there is of "cm_id", "qp", "cq", "pd", "mr", … in the running fabric. */
int show_resources(const char *kind);

/* The same for a test that calls the tool `rdma`: "rdma resource show KIND". */
int show_resources_as_rdma(int argc, char **argv);

#endif
