#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# host-device.sh HOST: gives the host its RDMA device, unless it has it, and returns when that has all its GIDs. A device
# of the same name may still be leaving, and looks as if it were there until it is gone.
set -uo pipefail

for _ in {1..50}; do
    ! pgrep -f "^rdma link del rxe-$1" >/dev/null || { sleep 0.1; continue; }
    gids=$(cat "/sys/class/infiniband/rxe-$1/ports/1/gids/"* 2>/dev/null)
    [[ $gids != *ffff:0a58:* || $gids != *fd88:* ]] || exit 0
    rdma link add "rxe-$1" type rxe netdev "$1" 2>/dev/null
    sleep 0.1
done
echo "rxe-$1 does not come up"
exit 1
