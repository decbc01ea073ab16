#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: addressed.sh COMMAND...
# Runs a command in a network of its own, which has the addresses of the simulated host, and one of no RDMA device.
set -euo pipefail

# shellcheck disable=SC2016 # the inner shell expands it
exec unshare --user --map-root-user --net bash -euc '
    ip link set lo up
    for address in 10.99.0.1/24 10.98.0.1/24 fd00:99::1/64; do
        ip addr add "$address" dev lo
    done
    exec "$@"' sh "$@"
