#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sockets over RDMA: rdma-core's own programs, unmodified, against each other; some also against themselves on the C
# library, which speaks the same protocol.
source /work/lab/guest/lib.sh
source /work/lab/guest/pair.sh

V4=10.99.0.1 V6=fd99::1
COPY_MIB=${COPY_MIB:-64}

rdma_up || exit 1
trap rdma_down EXIT
ip -6 addr add $V6/64 dev d0 nodad

# stream HOW LABEL OPTION...: both sides with the same options, which must say what is sent; HOW is pair or mixed.
stream() {
    local how=$1 label=$2
    shift 2
    "$how" "$label" "rstream -T v $*" "rstream -s $V4 -T v $*" 0/0 '^client: custom '
}

stream mixed rstream-1 -S 1 -C 200
stream pair rstream-64 -S 64 -C 200
stream pair rstream-4k -S 4096 -C 100
stream mixed rstream-64k -S 65536 -C 100
stream pair rstream-1m -S 1048576 -C 20
stream pair rstream-inline -S 4096 -C 100 -i 0
stream pair rstream-small-buffer -S 65536 -C 20 -B 4096
stream mixed rstream-odd -S 99999 -C 20 -B 10001
stream pair rstream-large-buffer -S 1048576 -C 20 -B 4194304
stream mixed rstream-blocking -T b -S 65536 -C 50
stream pair rstream-nonblocking -T n -S 65536 -C 50
stream pair rstream-async -T a -S 65536 -C 50
stream pair rstream-async-nonblocking -T a -T n -S 1000 -C 200
stream pair rstream-keepalive -k 1 -S 64 -C 200
pair rstream-resolve "rstream -T r -S 64 -C 100" "rstream -T r -s $V4 -S 64 -C 100" 0/0 '^client: custom '
mixed rstream-v6 "rstream -f ipv6 -b $V6 -S 64 -C 100" "rstream -f ipv6 -s $V6 -S 64 -C 100" 0/0 '^client: custom '
pair rstream-iterations "rstream -S 64 -I 2 -C 20" "rstream -s $V4 -S 64 -I 2 -C 20" 0/0 '^client: custom '

direct() {
    local how=$1 label=$2
    shift 2
    "$how" "$label" "riostream -T v $*" "riostream -s $V4 -T v $*" 0/0 '^client: custom '
}

direct pair riostream-64 -S 64 -C 100
direct mixed riostream-64k -S 65536 -C 50
direct pair riostream-1m -S 1048576 -C 10
direct pair riostream-blocking -T b -S 4096 -C 50
direct pair riostream-nonblocking -T n -S 4096 -C 50
direct pair riostream-async -T a -S 4096 -C 50

# Slower than this is no emulated machine.
PROGRAM_SECONDS=$((PROGRAM_SECONDS + COPY_MIB))
head -c "${COPY_MIB}M" /dev/urandom >/tmp/source
# copied HOW LABEL [LIBRARIES...]: a copy that equals its source.
copied() {
    rm -f /tmp/target
    "$1" "$2" "${@:3}" rcopy "rcopy /tmp/source $V4:/tmp/target" -/0
    check "$2-equal" cmp /tmp/source /tmp/target
}
copied pair rcopy
if [[ $LAB_LIB == ours ]]; then
    copied run_pair rcopy.c-server system ours
    copied run_pair rcopy.c-client ours system
fi
rm -f /tmp/source /tmp/target

# What poll says of the socket.
alone rstream-refused "rstream -s $V4 -S 64 -C 1" 24 'rpoll: Operation now in progress$'
