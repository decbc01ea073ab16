#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The examples: once with the library under test; once, if that is ours, with it linked in as a static library.
source /work/lab/guest/lib.sh

examples=/work/examples

# conversation ENV ANSWER SERVER... -- CLIENT...: ENV is how a program meets the library.
conversation() {
    local run=$1 answer=$2 server=() talk=$OUT/conversation waiting
    shift 2
    while [[ $1 != -- ]]; do server+=("$1"); shift; done
    shift
    : >"$talk.server"
    timeout 30 $run "${server[@]}" >"$talk.server" 2>&1 &
    waiting=$!
    for _ in {1..100}; do
        ! grep -q listening "$talk.server" || break
        sleep 0.1
    done
    timeout 30 $run "$@" >"$talk.client" 2>&1 && grep -F "answer \"$answer\"" "$talk.client" && wait "$waiting" &&
        grep -F "received \"$answer\"" "$talk.server" && return
    cat "$talk.server" "$talk.client"
    return 1
}

# conversations SUFFIX ENV
conversations() {
    local suffix=$1 run=$2
    if [[ ! -e $examples/client$suffix ]]; then
        skip "conversations$suffix" "not built: the functions do not exist yet"
        return
    fi
    check "client-server$suffix" conversation "$run" 'hello over RDMA' \
        "$examples/server$suffix" 7471 -- "$examples/client$suffix" 10.99.0.1 7471
    check "endpoint$suffix" conversation "$run" 'hello from an endpoint' \
        "$examples/endpoint$suffix" 7472 -- "$examples/endpoint$suffix" 7472 10.99.0.1
    check "endpoint-client$suffix" conversation "$run" 'hello from an endpoint' \
        "$examples/server$suffix" 7473 -- "$examples/endpoint$suffix" 7473 10.99.0.1
}

rdma_up || exit 1
trap rdma_down EXIT
check wake lib_env timeout 30 "$examples/wake"
conversations '' "env $(preload)"
if [[ $LAB_LIB == ours ]]; then
    check wake-static timeout 30 "$examples/wake-static"
    conversations -static ''
fi
