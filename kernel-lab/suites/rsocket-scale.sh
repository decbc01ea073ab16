#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sockets over RDMA: many of them. Takes minutes here; on the simulator it is part of `make test-sim`.
source /work/lab/guest/lib.sh

rdma_up || exit 1
trap rdma_down EXIT
(while sleep 30; do echo "# at work"; done) &

export TEST_CONNECTIONS=${TEST_CONNECTIONS:-1000} TEST_SCALE=${TEST_SCALE:-3}
run_program -t 4000 /work/tests/rsocket/scale
