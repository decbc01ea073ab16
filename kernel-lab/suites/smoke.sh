# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Shows that the lab itself is sound: soft RoCE works, and a program is started with the library under test.
source /work/lab/guest/lib.sh

# The original must not even be mapped where ours stands in for it.
right_library() {
    local maps
    maps=$(lib_env bash -c 'cat /proc/$$/maps')
    case $LAB_LIB in
        ours) grep -q ' /work/librdmacm.so.1' <<<"$maps" ;;
        system) ! grep -q ' /work/librdmacm.so.1' <<<"$maps" ;;
        installed) cmp /work/librdmacm.so.1 /usr/lib/x86_64-linux-gnu/librdmacm.so.1 && ! grep librdmacm <<<"$maps" ;;
    esac || { echo "$maps"; return 1; }
}

ping_over_rdma() {
    local server
    lib_env rping -s -a 10.99.0.1 -p 7174 -C 3 &
    server=$!
    sleep 1
    lib_env timeout 20 rping -c -a 10.99.0.1 -p 7174 -C 3 -v && wait "$server"
}

check rdma_up rdma_up
check ibv_devices grep -w rxe0 <(ibv_devices)
check node test -c /dev/infiniband/rdma_cm
check right_library right_library
check rping ping_over_rdma
check rdma_down rdma_down
