#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: doctor.sh BUILD
# rdmacm-doctor on simulated machines, in good order and not. Prints results as the suites of the lab do.
set -euo pipefail

build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LD_LIBRARY_PATH=$build PATH=$build/sim:$PATH
failed=0

# on STATUS SCRIPT [PROGRAM]: what the doctor says of a machine, with that exit status, is in said.
on() {
    local status=0 wanted=$1 script=$2
    shift 2
    [[ -f $script ]] || { cat >"$scratch/script" <<<"$script"; script=$scratch/script; }
    timeout 60 librdmacm-sim --script "$script" "$build/rdmacm-doctor" "$@" >"$scratch/said" 2>&1 || status=$?
    [[ $status -eq $wanted ]] || { echo "exit status $status, not $wanted"; return 1; }
}

# says VERDICT SUBJECT TEXT [ADVICE]: a line, and what to do in those below it.
says() {
    awk -v start="^$1 +$2 " -v text="$3" -v advice="${4:-}" '
        $0 ~ start && index($0, text) { line = 1; found = advice == "" ; next }
        /^ / && line { if (index($0, advice)) found = 1; next }
        { line = 0 }
        found { exit }
        END { exit !found }' "$scratch/said" || { echo "not said: $1 $2 $3${4:+ -> $4}"; return 1; }
}

says_nothing_bad() { ! grep '^bad' "$scratch/said"; }

# logs TEXT: a line of the library's own, with RDMACM_LOG.
logs() { grep -qE "^librdmacm\[.*$1" "$scratch/said" || { echo "not logged: $1"; return 1; }; }

expect() {
    local name=$1
    if "$name" >"$scratch/log" 2>&1; then
        echo "ok doctor $name"
    else
        cat "$scratch/said" "$scratch/log"
        echo "not ok doctor $name: $(tail -n 1 "$scratch/log")"
        failed=1
    fi
}

machine() { echo "$here/scripts/$1.sim"; }

healthy() {
    on 0 "$(machine roce)" &&
        says_nothing_bad &&
        says ok library "librdmacm.so.1" &&
        says ok device "rxe0, node /dev/infiniband/uverbs0" &&
        says ok 'port 1' "of rxe0: Ethernet, active" &&
        says ok kernel "interface 4" &&
        says ok node /dev/infiniband/rdma_cm &&
        says ok 'user events' "by the kernel's command"
}

kernel_without_user_events() {
    RDMACM_LOG="command" on 0 "$(machine no-user-events)" &&
        logs "the kernel has no command for user events .*: they go by hidden ids" &&
        says_nothing_bad &&
        says note 'user events' "by the library's own way" "Linux 6.18" &&
        says note commands "services" EOPNOTSUPP
}

old_interface() {
    on 0 "$(machine abi-3)" &&
        says_nothing_bad &&
        says note kernel "interface 3" "ids cannot be moved" &&
        says note commands "IP addresses only" AF_IB
}

unknown_interface() {
    on 1 "abi 5" && says bad kernel "the interface 5, unknown here" "newer release"
}

no_device() {
    RDMACM_LOG=error on 1 $'device rxe0 roce\nremove rxe0' &&
        logs "there is no RDMA device; rdmacm-doctor says what to do" &&
        says bad devices "no RDMA device" "rdma link add" &&
        says bad channel "rdma_create_event_channel: No such device" "RDMACM_LOG"
}

no_permission() {
    RDMACM_LOG=error on 1 "fail open every EACCES" &&
        logs "/dev/infiniband/rdma_cm: Permission denied .EACCES.; rdmacm-doctor says" &&
        says bad node "/dev/infiniband/rdma_cm: Permission denied" "0666"
}

no_permission_for_the_device() {
    on 1 "fail ibv_open_device every EACCES" && says bad rxe0 "/dev/infiniband/uverbs0: Permission denied" "0666"
}

no_node() {
    on 1 "fail open every ENOENT" && says bad node "/dev/infiniband/rdma_cm: No such file" "udevadm trigger"
}

forbidden_in_a_container() {
    on 1 "fail open every EPERM" && says bad node "Operation not permitted" "--device=/dev/infiniband"
}

port_down() {
    on 0 $'device rxe0 roce\nport rxe0 down' && says note 'port 1' "of rxe0: Ethernet, down" "ip link set"
}

failing_command() {
    on 1 "fail create_id every ENOMEM" && says bad 'user events' "rdma_create_id: Cannot allocate memory" "RDMACM_LOG"
}

# Which library a program gets: by its own name, by PATH, through a script; and what is none.
programs() {
    local own=$build/rdmacm-doctor

    on 0 "$(machine roce)" "$own" && says ok program "$(realpath "$build/librdmacm.so.1"), the one in Rust" &&
        on 0 "$(machine roce)" sh && says note program "does not name librdmacm.so.1" LD_DEBUG &&
        printf '#!/usr/bin/env sh\n' >"$scratch/program" && chmod +x "$scratch/program" &&
        on 0 "$(machine roce)" "$scratch/program" && says note program "is a script for sh, which is looked at" &&
        on 1 "$(machine roce)" "$scratch/nothing" && says bad program "nothing is not there" PATH &&
        on 1 "$(machine roce)" "$scratch/script" && says bad program "cannot be loaded" "file"
}

# A program that was linked with this library, and finds one that lacks its version nodes.
program_for_a_newer_library() {
    local old=$scratch/old

    mkdir -p "$old"
    echo 'RDMACM_0.9 { *; };' >"$old/map"
    "${CC:-cc}" -shared -Wl,-soname,librdmacm.so.1,--version-script="$old/map" -o "$old/librdmacm.so.1" -x c /dev/null
    echo 'void rdma_create_event_channel(void); int main(void) { rdma_create_event_channel(); }' |
        "${CC:-cc}" -Wl,--disable-new-dtags,-rpath,"$old" -o "$old/program" -x c - -L"$build" -lrdmacm
    on 1 "$(machine roce)" "$old/program" &&
        says bad program "$old/program cannot be loaded: $old/librdmacm.so.1: version" "newer library" &&
        rm "$old/librdmacm.so.1" && ln -s /nowhere "$old/librdmacm.so.1" &&
        on 0 "$(machine roce)" "$old/program" && says ok program "$(realpath "$build/librdmacm.so.1")"
}

program_with_another_file() {
    cp "$build/librdmacm.so.1" "$scratch/"
    LD_LIBRARY_PATH=$scratch "$build/rdmacm-doctor" "$build/rdmacm-doctor" >"$scratch/said" 2>&1 || true
    says ok program "$scratch/librdmacm.so.1, the one in Rust"
}

wrong_usage() {
    local status=0
    "$build/rdmacm-doctor" one two >"$scratch/said" 2>&1 || status=$?
    [[ $status -eq 2 ]] && grep -q '^usage: rdmacm-doctor' "$scratch/said"
}

for name in healthy kernel_without_user_events old_interface unknown_interface no_device no_permission \
    no_permission_for_the_device no_node forbidden_in_a_container port_down failing_command programs \
    program_for_a_newer_library program_with_another_file wrong_usage; do
    expect "$name"
done
exit $failed
