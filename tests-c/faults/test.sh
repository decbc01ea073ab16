#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: test.sh BUILD [USER_SPACE]
# Lets every call that the library makes fail once, on simulated machines (scripts of tests-c/sim/scripts). With the
# disk image of the lab's user space then also every call of the C library in there; what comes of that are remarks.
# Environment: see main.c; FAULTS_MACHINES names other machines.
set -euo pipefail

[[ $# -ge 1 ]] || { sed -n 's/^# \(usage: .*\)/\1/p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
image=${2:-}
read -r -a machines <<<"${FAULTS_MACHINES:-roce infiniband no-user-events ip-only iwarp abi-3}"
# shellcheck source=tests-c/sim/machines.sh
source "$here/../sim/machines.sh"

# run MACHINE OBJECTS [COMMAND...]: the driver, started by the command.
run() {
    local machine=$1 objects=$2
    shift 2
    TEST_WITHOUT=${WITHOUT[$machine]:-} LD_PRELOAD=$build/faults/faults.so:$objects$build/sim/librdmacm-sim.so \
        "$build/sim/librdmacm-sim" --script "$here/../sim/scripts/$machine.sim" "$@" "$build/faults/faults"
}

status=0
for machine in "${machines[@]}"; do
    run "$machine" "$build/librdmacm.so.1:" | sed -u "s/^\(ok\|not ok\|skip\) /&$machine-/; s/^# total:/# $machine, this library:/" ||
        status=1
done

if [[ -n $image ]]; then
    # Its libc is younger than the host's may be. It keeps devices, and hangs: that takes time.
    libraries=$("$here/../sim/c-library.sh" "$build" "$image")
    FAULTS_KEEPS=1 FAULTS_SECONDS=${FAULTS_SECONDS:-10} FAULTS_JOBS=16 \
        run roce "" "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" 2>/dev/null |
        sed -u 's/^# total:/roce, C library:/; s/^\(# \)\?/# C library: /' || true
fi
exit $status
