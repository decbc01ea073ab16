#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that use the connection manager, unmodified as the distribution ships them.
source /work/lab/guest/lib.sh
source /work/lab/guest/pair.sh

rdma_up || exit 1
trap rdma_down EXIT

SERVER=10.99.0.1

# perftest PROGRAM OPTIONS...: a hundred messages of a thousand bytes on each queue pair, and the line of figures.
perftest() {
    local program=$1 options="-R -d rxe0 -F -n 100 -s 1000 ${*:2}" label=$*
    pair "${label// /}" "$program $options" "$program $options $SERVER" 0/0 '^client:  *1000 +[1-9]00 '
}
perftest ib_send_bw
perftest ib_write_lat
perftest ib_read_bw
perftest ib_write_bw -q 4
perftest ib_send_lat -c UD

pair qperf "qperf" "qperf $SERVER -cm1 -t 1 rc_bw rc_lat rc_rdma_read_bw" -/0 \
    '^client: rc_bw:' '^client: rc_lat:' '^client: rc_rdma_read_bw:' '^client:  *latency *= '

# Not verb=send: fio allows no retry when the receiver is late. Threads, for its processes outlive it.
for verb in write read; do
    job="--name=job --thread --ioengine=rdma --port=8888 --bs=4k --size=256k"
    pair "fio-$verb" "fio $job --rw=read --iodepth=16" "fio $job --hostname=$SERVER --verb=$verb --rw=write" 0/0 \
        '^client:  *WRITE: .*io=256KiB'
done

# More peers would need larger queues than soft RoCE has.
export FI_UNIVERSE_SIZE=8
alone fi_info "fi_info -p verbs" 0 '^client: provider: verbs$' '^client:  *type: FI_EP_MSG$'
pair fi_pingpong "fi_pingpong -p verbs -e msg -I 100 -S 1024 -c" "fi_pingpong -p verbs -e msg -I 100 -S 1024 -c $SERVER" 0/0
pair fi_pingpong-rxm "fi_pingpong -p verbs;ofi_rxm -e rdm -I 100 -S 1024 -c" "fi_pingpong -p verbs;ofi_rxm -e rdm -I 100 -S 1024 -c $SERVER" 0/0
