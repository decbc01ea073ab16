#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# User events under stress: many pending, many channels, moving ids, cancelled threads; and the kernel's ids counted.
# Where the kernel has a command for user events, the programs run a second time without it.
source /work/lab/guest/lib.sh

PROGRAMS=(bells bells_threads bells_readable race)

if [[ $LAB_LIB != ours ]]; then
    skip bells "the C library does not deliver without the command"
    exit
fi
rdma_up || exit 1
trap rdma_down EXIT
export TEST_ROUNDS=100 TEST_EVENTS=4000
has_user_event_command || export TEST_BELLS=1

for program in "${PROGRAMS[@]}"; do
    run_program -t 200 "$program"
    if has_user_event_command; then
        TEST_BELLS=1 LAB_SHIM=/work/shim/no-command.so run_program -t 200 -n "$program.bells" "$program"
    fi
done
