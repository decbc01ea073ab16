#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sockets over RDMA: the C test programs of tests-c/rsocket, with the library under test, and once with the kernel's own
# sockets, whose rules they state.
source /work/lab/guest/lib.sh

PROGRAMS=(stream ending polling connecting options)

rdma_up || exit 1
trap rdma_down EXIT

for program in "${PROGRAMS[@]}"; do
    run_program -t 300 "/work/tests/rsocket/$program"
    [[ $LAB_LIB != ours ]] || SOCKETS=kernel run_program -t 300 -n "$program.kernel" "/work/tests/rsocket/$program"
done
# A child of fork() may use the kernel's own.
run_program -t 300 /work/tests/rsocket/forking
