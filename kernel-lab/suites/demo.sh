#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The example that wakes a waiting thread, as a person would run it.
source /work/lab/guest/lib.sh

rdma_up || exit 1
if [[ $LAB_LIB != ours ]]; then
    skip wake "the example is linked to our library"
elif LD_LIBRARY_PATH=/work timeout 30 /work/examples/wake 2>&1; then
    ok wake
else
    not_ok wake "ended with status $?"
fi
rdma_down
