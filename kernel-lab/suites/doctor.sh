#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# rdmacm-doctor on a machine in order, and on one whose nodes are missing or forbidden.
source /work/lab/guest/lib.sh

# Without the simulator nobody else can tell what is wrong here.
NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# examine STATUS COMMAND...: what it says is kept under the name of the case.
examine() {
    local status=0 wanted=$1
    shift
    said=$OUT/${FUNCNAME[1]}
    lib_env "$@" >"$said" 2>&1 || status=$?
    cat "$said"
    [[ $status -eq $wanted ]] || { echo "exit status $status, not $wanted"; return 1; }
}

says() { grep -Eq "^$1" "$said" || { echo "not said: $1"; return 1; }; }

healthy() {
    examine 0 /work/rdmacm-doctor rping &&
        says 'ok    program +/.*librdmacm.so.*, the one in Rust' &&
        says 'ok    device +rxe0, node /dev/infiniband/uverbs0' && says 'ok    port 1 +of rxe0: Ethernet, active' &&
        says 'ok    node +/dev/infiniband/rdma_cm' && says "$1"
}

no_node() {
    examine 1 unshare -m sh -c 'mount -t tmpfs none /dev/infiniband && exec /work/rdmacm-doctor' &&
        says 'bad   node +/dev/infiniband/rdma_cm: No such file'
}

no_permission() {
    chmod 600 /dev/infiniband/*
    examine 1 "${NOBODY[@]}" /work/rdmacm-doctor && says 'bad   rxe0 +/dev/infiniband/uverbs0: Permission denied' &&
        says 'bad   node +/dev/infiniband/rdma_cm: Permission denied' &&
        says '                   -> it has mode 0600, owner root'
}

no_device() {
    examine 1 /work/rdmacm-doctor && says 'bad   devices +there is no RDMA device'
}

another_library() {
    examine "$1" /work/rdmacm-doctor && says 'note  library +/.*librdmacm.so.*, not the one in Rust'
}

rdma_up || exit 1
if [[ $LAB_LIB == system ]]; then
    status=0
    # The C library has no other way.
    has_user_event_command || status=1
    check another-library another_library "$status"
    rdma_down
    exit
fi
if has_user_event_command; then
    check healthy healthy "ok    user events +work, by the kernel's command"
else
    check healthy healthy "note  user events +work, by the library's own way"
fi
check no-node no_node
modes=$(stat -c '%a %n' /dev/infiniband/*)
check no-permission no_permission
while read -r mode node; do chmod "$mode" "$node"; done <<<"$modes"
rdma_down
check no-device no_device
