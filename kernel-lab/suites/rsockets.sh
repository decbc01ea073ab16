#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sockets over RDMA: the C test programs of tests-c/rsocket, with the library under test, and with this one also with the
# kernel's own sockets, whose rules they state.
source /work/lab/guest/lib.sh

PROGRAMS=(stream ending polling connecting options)
# Only for this library: the C library's memory is at the mercy of its peers, and where those are gone it waits for ever.
ALONE=(forking missed interrupted threads resources attack attack_greeting attack_sender)

rdma_up || exit 1
trap rdma_down EXIT
# With the C library some cases wait for longer than a suite may be silent.
[[ $LAB_LIB != system ]] || (for _ in {1..20}; do sleep 30; echo "# at work"; done) &

for program in "${PROGRAMS[@]}"; do
    run_program -t 300 "/work/tests/rsocket/$program" | expected
    [[ $LAB_LIB != ours ]] || SOCKETS=kernel run_program -t 300 -n "$program.kernel" "/work/tests/rsocket/$program"
done

[[ $LAB_LIB != system ]] || exit 0
for program in "${ALONE[@]}"; do
    run_program -t 300 -n "$program.alone" "/work/tests/rsocket/$program"
done
# Last, since it removes the device.
run_program -t 300 -n gone.alone /work/tests/rsocket/gone
