#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Two hosts: network namespaces with an RDMA device each and a cable between them. All RDMA devices can be seen in both;
# the kernel picks the one whose network it is.
source /work/lab/guest/lib.sh
source /work/lab/guest/pair.sh

if [[ $LAB_KERNEL == 6.* ]]; then
    skip hosts "soft RoCE of this kernel knows no namespaces"
    exit
fi

EAST=10.88.0.1 WEST=10.88.0.2 WEST6=fd88::2

host_device() { ip netns exec "$1" bash /work/lab/guest/host-device.sh "$1"; }

# host NAME NUMBER: what is inside one.
host() {
    ip -n "$1" addr add "10.88.0.$2/24" dev "$1" &&
        ip -n "$1" addr add "fd88::$2/64" dev "$1" nodad &&
        ip -n "$1" link set "$1" up &&
        ip -n "$1" link set lo up &&
        host_device "$1"
}

hosts_up() {
    ip netns add east && ip netns add west &&
        ip link add east netns east type veth peer name west netns west &&
        host east 1 && host west 2
}

hosts_down() {
    rdma link del rxe-east
    rdma link del rxe-west
    ip netns del east
    ip netns del west
}

check hosts hosts_up
trap hosts_down EXIT

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
