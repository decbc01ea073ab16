#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Some of the calls that the library makes fail once, on the real kernel. FAULTS_EVERY=1 takes all of them, which lasts
# an hour. What the C library makes of them are remarks: there is nothing that it promises.
source /work/lab/guest/lib.sh

rdma_up || exit 1
trap rdma_down EXIT

export LAB_SHIM=/work/faults/faults.so FAULTS_EVERY=${FAULTS_EVERY:-12} TEST_SCALE=4
if [[ $LAB_LIB == system ]]; then
    FAULTS_KEEPS=1 FAULTS_SECONDS=5 run_program -t 1500 /work/faults/faults | sed 's/^\(ok\|not ok\|skip\) /# /'
    ok ran
else
    run_program -t 1500 /work/faults/faults
fi
