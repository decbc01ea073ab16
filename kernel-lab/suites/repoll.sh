#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sets of sockets: the rules of epoll(7), with the library under test and with the kernel's own sockets and sets; and long
# rows of random steps, of which both say the same.
source /work/lab/guest/lib.sh

rdma_up || exit 1
trap rdma_down EXIT

for program in epoll epoll_members epoll_random; do
    run_program -t 600 "/work/tests/rsocket/$program"
    [[ $LAB_LIB != ours ]] || SOCKETS=kernel run_program -t 600 -n "$program.kernel" "/work/tests/rsocket/$program"
done
[[ $LAB_LIB != ours ]] || check same diff "$OUT/epoll_random.kernel.out" "$OUT/epoll_random.out"
