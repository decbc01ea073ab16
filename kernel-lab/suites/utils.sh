#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# rdma-core's own utilities, unmodified: against each other, and where nobody answers. Messages and exit codes are those
# of the C library.
source /work/lab/guest/lib.sh
source /work/lab/guest/pair.sh

rdma_up || exit 1
trap rdma_down EXIT
ip -6 addr add fd99::1/64 dev d0 nodad

V4=10.99.0.1 V6=fd99::1 NOWHERE=203.0.113.5 GROUP=239.1.1.1

PINGED='^client: ping data: rdma-ping-2: CDE'
mixed rping "rping -s -a $V4 -C 3 -v" "rping -c -a $V4 -C 3 -v" 0/0 "$PINGED" '^server: server ping data: rdma-ping-2: CDE'
pair rping-any "rping -s -C 3 -v" "rping -c -a $V4 -I $V4 -C 3 -v" 0/0 "$PINGED"
mixed rping-v6 "rping -s -a $V6 -C 3 -v" "rping -c -a $V6 -C 3 -v" 0/0 "$PINGED"
pair rping-v6-any "rping -s -a ::0 -C 3 -v" "rping -c -a $V6 -C 3 -v" 0/0 "$PINGED"
mixed rping-small "rping -s -V -C 20 -S 23" "rping -c -a $V4 -V -C 20 -S 23" 0/0
pair rping-large "rping -s -V -C 5 -S 65535" "rping -c -a $V4 -V -C 5 -S 65535" 0/0
mixed rping-own-qp "rping -s -q -C 3 -v" "rping -c -q -a $V4 -C 3 -v" 0/0 "$PINGED"
pair rping-persistent "rping -s -P" "rping -c -a $V4 -C 3 -v" -/0 "$PINGED"

# Valgrind finds nothing wrong, without suppressions. It does not know what arrives by RDMA, and the server measures a text
# that did: of its report only what names a library counts.
names_no_library() { ! grep -E 'librdmacm|libibverbs' "$OUT/rping-valgrind.server"; }
if [[ $LAB_LIB == ours ]]; then
    CHECKED="valgrind -q --vgdb=no --error-exitcode"
    PROGRAM_SECONDS=400 START_SECONDS=200 pair rping-valgrind "$CHECKED=0 rping -s -a $V4 -C 2" \
        "$CHECKED=99 rping -c -a $V4 -C 2" 0/0
    check rping-valgrind-server names_no_library
fi

MOVED=('^server: data transfers complete' '^client: data transfers complete' '^server: return status 0')
MIGRATED=('^server: migrating to new event channel' '^client: migrating to new event channel')
pair ucmatose "ucmatose" "ucmatose -s $V4" 0/0 "${MOVED[@]}"
mixed ucmatose-10 "ucmatose -c 10" "ucmatose -s $V4 -c 10" 0/0 "${MOVED[@]}"
pair ucmatose-200 "ucmatose -c 200" "ucmatose -s $V4 -c 200" 0/0 "${MOVED[@]}"
mixed ucmatose-migrate "ucmatose -m -c 10" "ucmatose -s $V4 -m -c 10" 0/0 "${MOVED[@]}" "${MIGRATED[@]}"
pair ucmatose-options "ucmatose -t 8 -a 19 -C 3 -S 4000" "ucmatose -s $V4 -b $V4 -t 8 -a 19 -C 3 -S 4000" 0/0 "${MOVED[@]}"
pair ucmatose-v6 "ucmatose -b $V6" "ucmatose -s $V6" 0/0 "${MOVED[@]}"

mixed udaddy "udaddy -c 5" "udaddy -s $V4 -c 5" 0/0 "${MOVED[@]}"
pair udaddy-v6 "udaddy -b $V6 -S 1000" "udaddy -s $V6 -t 8 -S 1000" 0/0 "${MOVED[@]}"

# The sender never waits for its messages to go out, and soft RoCE drops what is left when it ends: it has more than enough.
REPEAT=yes mixed mckey "mckey -m $GROUP -b $V4" "mckey -m $GROUP -b $V4 -s -C 500" 0/0 "${MOVED[@]}"
REPEAT=yes pair mckey-send-only "mckey -m $GROUP -b $V4" "mckey -m $GROUP -b $V4 -s -o -C 500" 0/0 "${MOVED[@]}"

# The server waits for its last message to be acknowledged. With either library soft RoCE forgets that now and then, when
# the client has everything and goes.
TRIES=3 PROGRAM_SECONDS=40 mixed rdma_client "rdma_server" "rdma_client -s $V4" 0/0 '^server: rdma_server: end 0' '^client: rdma_client: end 0'
TRIES=3 PROGRAM_SECONDS=40 pair rdma_client-v6 "rdma_server -s $V6 -p 7500" "rdma_client -s $V6 -p 7500" 0/0 '^client: rdma_client: end 0'
TRIES=3 PROGRAM_SECONDS=40 mixed rdma_xclient "rdma_xserver -c r" "rdma_xclient -s $V4 -c r" 0/0 '^server: rdma_xserver: end 0' '^client: rdma_xclient: end 0'
# Soft RoCE has no XRC.
mixed rdma_xclient-xrc "rdma_xserver -c x" "rdma_xclient -s $V4 -c x" -/255 '^client: rdma_create_ep: Operation not supported$'

mixed cmtime "cmtime -L -b $V4 -C $V4 -c 20 -q 1000" "cmtime -b $V4 -C $V4 -c 20 -q 2000" 0/0 \
    '^client: Connect \(20\) test - no QPs' '^client: destroy qp '

pair port-in-use "rping -s -a $V4" "rping -s -a $V4" -/255 '^client: rdma_bind_addr: Address already in use$'

alone rping-refused "rping -c -a $V4" 255 'cma event RDMA_CM_EVENT_REJECTED, error 8$' 'connect error -1$'
alone rping-no-route "rping -c -a $NOWHERE" 255 'rdma_resolve_addr: Network is unreachable$'
alone ucmatose-refused "ucmatose -s $V4" 8 'cmatose: event: RDMA_CM_EVENT_REJECTED, error: 8$' 'return status 8$'
alone ucmatose-no-route "ucmatose -s $NOWHERE" 255 'cmatose: failure getting addr: Network is unreachable$'
alone ucmatose-gid "ucmatose -s fe80::1 -f gid" 255 'cmatose: resolve route failed: No such device$'
alone udaddy-refused "udaddy -s $V4" 1 'udaddy: event: RDMA_CM_EVENT_UNREACHABLE, error: 1$'
alone udaddy-no-route "udaddy -s $NOWHERE" 255 'udaddy: failure getting addr: Network is unreachable$'
alone rdma_client-refused "rdma_client -s $V4" 255 'rdma_connect: Connection refused$' 'rdma_client: end -1$'
alone rdma_client-no-route "rdma_client -s $NOWHERE" 255 'rdma_create_ep: Network is unreachable$'
alone rdma_xclient-refused "rdma_xclient -s $V4" 255 'rdma_connect: Connection refused$'
alone mckey-unmapped "mckey -M 239.1.1.2 -b $V4" 255 'mckey: failure joining: Invalid argument$'
alone mckey-ipoib "mckey -m $GROUP -p 2 -b $V4" 255 'mckey: addr bind failure: Invalid argument$'
alone mckey-no-loopback "mckey -m $GROUP -l -b $V4" 255 'mckey: unable to create QP: Operation not supported$'
alone mckey-no-address "mckey -m $GROUP -b $NOWHERE" 255 'mckey: addr bind failure: Cannot assign requested address$'
