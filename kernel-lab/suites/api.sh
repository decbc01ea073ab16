#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The connection manager: the C test programs of tests-c/api, with the library under test.
source /work/lab/guest/lib.sh

PROGRAMS=(listen connect connect_errors connect_data private_data reject disconnect establish qp_attr ece queue_pair
    queue_pair_errors shared_queue datagram multicast waiting waiting_alone endpoint endpoint_errors messages moving
    held failures last_messages crowd)
# Those with memory of the library's own to lose.
CHECKED=(connect connect_data queue_pair queue_pair_errors shared_queue datagram multicast waiting endpoint messages
    moving held failures last_messages racing)

# The address that tests-c/api/connection.h names.
ipv6_up() {
    local tries
    ip addr add fd00:99::1/64 dev d0 nodad || return
    for tries in {1..50}; do
        ! grep -qsi 'fd00:0099' /sys/class/infiniband/rxe0/ports/1/gids/* || return 0
        sleep 0.1
    done
    echo "rxe0 has no GID for fd00:99::1 after $tries tries"
    return 1
}

rdma_up || exit 1
trap rdma_down EXIT
ipv6_up || exit 1

for program in "${PROGRAMS[@]}"; do
    run_program -t 300 "/work/tests/api/$program" | expected
done
# Hundreds of remarks, which are there for the comparison.
run_program /work/tests/api/dump | expected | grep -v '^#'

# The C library has no defence against the races, and may crash; of the load only ours is to be known.
[[ $LAB_LIB != system ]] || exit 0
run_program -t 300 -n racing.alone /work/tests/api/racing
run_program -t 900 -n load.alone /work/tests/api/load

# Under the checker everything is slower, and fewer rounds tell as much. It sees the same code wherever that comes from.
[[ $LAB_LIB == ours ]] || exit 0
export TEST_SCALE=5 TEST_ROUNDS=10
for program in "${CHECKED[@]}"; do
    run_program -t 300 -n "$program.asan" "/work/tests-asan/api/$program"
done
