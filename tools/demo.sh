#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: demo.sh BUILD
# The main job, shown: a thread blocked in rdma_get_cm_event() is woken by rdma_write_cm_event() from another. On the
# machine's own RDMA device if it has one, else on a simulated one.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
device=$(find /sys/class/infiniband -mindepth 1 -printf '%f\n' 2>/dev/null | head -n 1 || true)
if [[ -n $device && -w /dev/infiniband/rdma_cm ]]; then
    echo "running on this machine's RDMA device $device, kernel $(uname -r)"
    LD_LIBRARY_PATH=$build "$build/examples/wake"
else
    echo "this machine has no RDMA device that this user may use: running on a simulated one (librdmacm-sim)"
    LD_LIBRARY_PATH=$build "$build/sim/librdmacm-sim" "$build/examples/wake"
fi
