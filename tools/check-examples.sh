#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: check-examples.sh BUILD
# Runs the examples, and those of the man pages, on the simulator. A man page's has to print what the page says.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "$1")
export LD_LIBRARY_PATH=$build PATH=$build/sim:$PATH
group=examples
# shellcheck source=tools/expect.sh
source tools/expect.sh

simulated() { timeout 120 librdmacm-sim "$@"; }

prints_what_it_says() {
    simulated "$build/man-examples/$(basename "$1" .3)" 10.99.0.1 | diff - <(tools/man-example.sh output "$1")
}

# conversation ANSWER CLIENT... -- SERVER...: programs of two commands on one fabric. A server that does not end is told to.
conversation() {
    local answer=$1 client=() server said=$scratch/server
    shift
    while [[ $1 != -- ]]; do client+=("$1"); shift; done
    shift
    RDMACM_SIM=$(mktemp -d -p "$scratch")
    export RDMACM_SIM
    : >"$said"
    timeout 120 librdmacm-sim "$@" >"$said" 2>&1 &
    server=$!
    until grep -q listening "$said" || ! kill -0 "$server" 2>/dev/null; do sleep 0.1; done
    simulated "${client[@]}" >"$said.client" 2>&1 || true
    [[ $1 != */epoll ]] || kill "$server"
    wait "$server" && grep -F "received \"$answer\"" "$said" && grep -F "answer \"$answer\"" "$said.client" && return
    cat "$said" "$said.client"
    return 1
}

talk() { (conversation "$@"); }

for page in man/*.3; do
    [[ -z $(tools/man-example.sh program "$page") ]] || expect "$(basename "$page")" prints_what_it_says "$page"
done
programs=$build/examples
expect wake simulated "$programs/wake"
expect simulated simulated "$programs/simulated"
expect client-server talk 'hello over RDMA' "$programs/client" 10.99.0.1 7471 -- "$programs/server" 7471
expect endpoint talk 'hello from an endpoint' "$programs/endpoint" 7471 10.99.0.1 -- "$programs/endpoint" 7471
expect epoll talk 'hello over RDMA' "$programs/client" 10.99.0.1 7471 -- "$programs/epoll" 7471
expect echo talk 'hello over a socket' "$programs/echo" 7471 10.99.0.1 -- "$programs/echo" 7471
exit $failed
