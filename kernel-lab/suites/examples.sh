#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The examples: once with the library under test; once, if that is ours, with it linked in as a static library.
source /work/lab/guest/lib.sh

examples=/work/examples

# conversation ANSWER SERVER... -- CLIENT...
conversation() {
    local answer=$1 command=() talk=$OUT/conversation waiting
    shift
    while [[ $1 != -- ]]; do command+=("$1"); shift; done
    shift
    : >"$talk.server"
    timeout 20 "${command[@]}" >>"$talk.server" 2>&1 &
    waiting=$!
    until grep -qs listening "$talk.server" || ! kill -0 "$waiting" 2>/dev/null; do
        sleep 0.2
    done
    timeout 20 "$@" >"$talk.client" 2>&1 && grep -F "answer \"$answer\"" "$talk.client" && wait "$waiting" &&
        grep -F "received \"$answer\"" "$talk.server" && return
    kill "$waiting" 2>/dev/null
    cat "$talk.server" "$talk.client"
    return 1
}

# converse ANSWER SERVER CLIENT PORT SUFFIX [ENV...]: ENV is how the programs meet the library.
converse() {
    local answer=$1 server=$2 client=$3 port=$4 suffix=$5 there=(10.99.0.1 "$4")
    shift 5
    [[ $client != endpoint ]] || there=("$port" 10.99.0.1)
    check "$server-$client$suffix" conversation "$answer" \
        "$@" "$examples/$server$suffix" "$port" -- "$@" "$examples/$client$suffix" "${there[@]}"
}

conversations() {
    converse 'hello over RDMA' server client 7471 "$@"
    converse 'hello from an endpoint' endpoint endpoint 7472 "$@"
    converse 'hello from an endpoint' server endpoint 7473 "$@"
    converse 'hello over RDMA' endpoint client 7474 "$@"
}

rdma_up || exit 1
trap rdma_down EXIT
check wake lib_env timeout 30 "$examples/wake"
# shellcheck disable=SC2046
conversations '' env $(preload)
if [[ $LAB_LIB == ours ]]; then
    check wake-static timeout 30 "$examples/wake-static"
    conversations -static
fi
