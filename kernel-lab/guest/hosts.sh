# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by suites that need two hosts: network namespaces with an RDMA device each and a cable between them. All RDMA
# devices can be seen in both; the kernel picks the one whose network it is.

if [[ $LAB_KERNEL == 6.* ]]; then
    skip hosts "soft RoCE of this kernel knows no namespaces"
    exit
fi

# shellcheck disable=SC2034 # suites use them
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
