#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs between two hosts, whose devices come and go.
source /work/lab/guest/lib.sh
source /work/lab/guest/pair.sh
source /work/lab/guest/hosts.sh

run_program -t 200 /work/tests/api/two_hosts | expected
run_program -t 100 /work/tests/api/out_of_sight | expected
host_device east
host_device west

# shellcheck disable=SC2034 # pair.sh uses them
SERVER_HOST="ip netns exec west" CLIENT_HOST="ip netns exec east"
PINGED='^client: ping data: rdma-ping-2: CDE'
MOVED=('^server: data transfers complete' '^client: data transfers complete' '^server: return status 0')
mixed rping "rping -s -a $WEST -C 3 -v" "rping -c -a $WEST -C 3 -v" 0/0 "$PINGED"
pair rping-v6 "rping -s -a $WEST6 -C 3 -v" "rping -c -a $WEST6 -C 3 -v" 0/0 "$PINGED"
pair ucmatose "ucmatose -c 10" "ucmatose -s $WEST -c 10" 0/0 "${MOVED[@]}"
pair udaddy "udaddy" "udaddy -s $WEST" 0/0 "${MOVED[@]}"
REPEAT=yes mixed mckey "mckey -m 239.1.1.1 -b $WEST" "mckey -m 239.1.1.1 -b $EAST -s -C 500" 0/0 "${MOVED[@]}"
