#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: mixed_datagrams.sh BUILD LIBRARIES
# Datagrams between this library and the C library, which each is at either end: rdma-core's udpong, from where
# c-library.sh has put it. Runs on the simulator, in the network of addressed.sh.
set -uo pipefail

[[ $# -eq 2 ]] || { sed -n 's/^# \(usage: .*\)/\1/p' "$0" >&2; exit 2; }
c=$2 ours=$1:$2 address=10.99.0.1
port=1C06 # 7174, as the kernel's list has it

# on PATH OPTION...: becomes udpong, with the libraries of the path.
on() {
    exec timeout 60 "$c/ld-linux-x86-64.so.2" --library-path "$1" "$c/../../bin/udpong" "${@:2}"
}

# between NAME SERVER CLIENT OPTION...
between() {
    local name=$1 server=$2 client=$3 pid out
    shift 3
    (on "$server" -b $address "$@") >/dev/null &
    pid=$!
    for _ in {1..100}; do
        kill -0 "$pid" 2>/dev/null && ! grep -q ":$port " /proc/net/udp || break
        sleep 0.1
    done
    if out=$(on "$client" -s $address "$@") && grep -q '^custom ' <<<"$out"; then
        echo "ok $name"
    else
        echo "not ok $name: the client ends without a result"
    fi
    kill "$pid" 2>/dev/null
    wait "$pid"
}

# Few echoes, for udpong repeats after a millisecond what is not echoed yet, and each repetition is echoed too.
for pair in "c-server $c $ours" "c-client $ours $c"; do
    read -r name server client <<<"$pair"
    between "$name-echo" "$server" "$client" -T b -T e -S 64 -C 20
    between "$name-poll" "$server" "$client" -T a -T e -S 2000 -C 20
    between "$name-flood" "$server" "$client" -T n -S 1000 -C 1000
done
exit 0
