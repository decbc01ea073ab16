#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Datagram sockets over RDMA: the C test programs, also with the kernel's own sockets, whose rules they state; then
# rdma-core's udpong between two hosts, either way.
source /work/lab/guest/lib.sh
source /work/lab/guest/pair.sh

if [[ $LAB_LIB == system ]]; then
    skip datagram "the C library sends no datagrams over RoCE"
    exit
fi

one_host() {
    local program
    rdma_up && ip -6 addr add fd00:99::1/64 dev d0 nodad && ip addr add 10.98.0.1/24 dev lo || return
    for program in datagrams datagram_addresses datagram_strangers datagram_ending; do
        run_program -t 300 "/work/tests/rsocket/$program"
        SOCKETS=kernel run_program -t 300 -n "$program.kernel" "/work/tests/rsocket/$program"
    done
    ip addr del 10.98.0.1/24 dev lo
    rdma_down
}

[[ $LAB_LIB != ours ]] || one_host || not_ok one_host "cannot be set up"
source /work/lab/guest/hosts.sh

# Instead of pair.sh's: a server of datagrams listens when it has its port.
somebody_listens() {
    [[ -n $(ip netns exec "$at" ss -Hlun 'sport = 7174') ]]
}

# between LABEL SERVER CLIENT ADDRESS OPTION...: udpong between hosts, the server's being at the address.
between() {
    local label=$1 at=$2 address=$4
    # shellcheck disable=SC2034 # pair.sh uses them
    local SERVER_HOST="ip netns exec $2" CLIENT_HOST="ip netns exec $3"
    shift 4
    pair "$label" "udpong -b $address $*" "udpong -s $address $*" -/0 '^client: custom '
}

# Echoes of what fits a packet, and of what is longer; then as fast as it goes. Few, for udpong repeats after a millisecond
# what is not echoed yet, and each repetition is echoed too.
between echo east west "$EAST" -T b -T e -S 64 -C 20
between echo-back west east "$WEST" -T n -T e -S 1000 -C 20
between echo-poll east west "$EAST" -T a -T e -S 2000 -C 20
between echo-v6 west east "$WEST6" -T b -T e -S 64 -C 20
between flood east west "$EAST" -T b -S 64 -C 500
between flood-back west east "$WEST" -T a -S 1000 -C 500
