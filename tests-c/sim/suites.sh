#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: suites.sh BUILD USER_SPACE [MACHINE...]
# Runs the C tests on the simulator, as the suites of the lab run them on kernels: on each machine (a script of
# scripts/; all, unless some are named) with this library and with the C library of the lab's user space, for which
# USER_SPACE is the disk image. Prints results as the suites do, into BUILD/lab/out/sim-MACHINE.
set -euo pipefail

[[ $# -ge 2 ]] || { sed -n 's/^# \(usage: .*\)/\1/p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
LAB_WORK=$(cd "$1" && pwd)
image=$2
shift 2
machines=("$@")
[[ $# -gt 0 ]] || machines=(roce infiniband subnet iwarp no-user-events ip-only abi-3)

# shellcheck source=tests-c/sim/machines.sh
source "$here/machines.sh"

# Two libraries at once, on a machine that may have other things to do.
export LAB_WORK LAB_ICOUNT=no TEST_SCALE=2
# Of sockets that come and go, fewer tell as much.
export TEST_CLIENTS=1100 TEST_CONNECTIONS=1000
export PATH=$LAB_WORK/sim:$LAB_WORK/sim/bin:$PATH
# Where the C library is, which needs a younger libc than the host may have.
libraries=
failed=0

EVENTS=(event wake many destroy migrate channel cancel signals fork dl ids)
OTHERS=(leaks event_str devices tour)
CONNECTIONS=(listen connect connect_errors connect_data private_data reject disconnect establish qp_attr ece
    queue_pair queue_pair_errors shared_queue datagram multicast waiting waiting_alone endpoint endpoint_errors messages
    moving held failures option_effects dump)

SUBNET=(ib_address ib_path ib_service ib_hosts)

# Of machines that have less than others.
declare -A LEFT_OUT=(
    # It cannot move ids.
    [abi-3]="migrate tour connect_data moving"
    # It has only connections.
    [iwarp]="datagram"
)
# run SUITE PROGRAM...: in a shell of its own, as lib.sh wants it.
run() {
    local suite=$1 program folder=
    shift
    LAB_SUITE=$suite
    OUT=$LAB_WORK/lab/out/$LAB_KERNEL/$LAB_LIB/$suite
    mkdir -p "$OUT"
    [[ $suite != api ]] || folder=$LAB_WORK/tests/api/
    for program; do
        [[ " ${LEFT_OUT[$machine]:-} " != *" $program "* ]] || continue
        run_program -t 600 -w "$command" "$folder$program" | expected | grep -v '^#' || true
    done
}

# Only with this library, so not to be compared.
run_alone() {
    local program
    for program; do
        run_program -t 900 -n "${program##*/}.alone" -w "$command" "$LAB_WORK/tests/$program" | grep -v '^#' || true
    done
}

# Datagrams tell their sender's address: the machine gets the simulated host's, in a network of its own.
run_with_addresses() {
    local command="bash $here/addressed.sh $command"
    run_alone "$@"
}

# Programs on both libraries, where the C library's datagrams work.
run_mixed_datagrams() {
    local simulator="$LAB_WORK/sim/librdmacm-sim --script $here/scripts/$machine.sim"
    run_program -t 300 -w "$simulator bash $here/addressed.sh" "$here/mixed_datagrams.sh" "$LAB_WORK" "$libraries" |
        grep -v '^#' || true
}

# The kernel's sockets, which librspreload.so turns. The simulator has no way over TCP between its addresses.
run_preloaded() {
    local program
    LAB_SUITE=preload
    OUT=$LAB_WORK/lab/out/$LAB_KERNEL/$LAB_LIB/preload
    mkdir -p "$OUT"
    for program; do
        SOCKETS=kernel run_program -t 300 -w "$command bash $here/preloaded.sh" "$LAB_WORK/tests/$program" |
            grep -v '^#' || true
    done
}

# machine NAME LIBRARY: what runs where.
machine() {
    export LAB_KERNEL=sim-$1 LAB_LIB=$2 LAB_SUITE=user-event TEST_WITHOUT=${WITHOUT[$1]:-}
    local machine=$1
    local command="$LAB_WORK/sim/librdmacm-sim --script $here/scripts/$1.sim"
    [[ $2 == ours ]] || command+=" $libraries/ld-linux-x86-64.so.2 --library-path $libraries"
    # shellcheck source=/dev/null
    source "$here/../../kernel-lab/guest/lib.sh"
    if grep -qs '^without write_cm_event' "$here/scripts/$1.sim"; then
        # An event costs more here, and the C library has none.
        # shellcheck disable=SC2034 # expected uses it
        EXPECTED_WORDS='rdma_write_cm_event: EINVAL'
        export TEST_BELLS=1 TEST_ROUNDS=100 TEST_EVENTS=1000
    fi
    case $1 in
        subnet) run api "${SUBNET[@]}" ;;
        no-user-events | ip-only)
            # Nearly all programs of user events run on such kernels in the lab.
            run user-event event ids migrate destroy
            run api "${CONNECTIONS[@]}"
            ;;
        *)
            run user-event "${EVENTS[@]}" "${OTHERS[@]}"
            run api "${CONNECTIONS[@]}" verbs_fail
            # With the C library chance decides how it ends.
            [[ $2 != ours ]] || run_alone api/odd_kernel
            ;;
    esac
    case $1-$2 in
        # What a peer is told goes as messages there.
        iwarp-ours) run_alone rsocket/{stream,polling,connecting,options} ;;
        roce-ours | infiniband-ours) run sim scripted "$LAB_WORK"/tests/api/answers "$LAB_WORK"/tests/sim/* ;;
    esac
    [[ $1-$2 != roce-ours ]] || run_alone diagnostics api/{answers,last_messages,crowd} \
        rsocket/{stream,polling,connecting,options,missed,interrupted,threads,resources,attack,attack_greeting,attack_sender,scale}
    case $1-$2 in
        roce-ours | infiniband-ours) run_with_addresses rsocket/datagram{s,_addresses,_strangers,_ending} ;;
    esac
    [[ $1-$2 != subnet-system ]] || run_mixed_datagrams
    [[ $1-$2 != roce-ours ]] || run_preloaded preload/{duplicates,calls} rsocket/{stream,polling,options}
}

[[ ${LAB_LIBS:-both} == ours ]] || libraries=$("$here/c-library.sh" "$LAB_WORK" "$image")
cp "$here/../../docs/differences.md" "$LAB_WORK/"
mkdir -p "$LAB_WORK/lab"
for name in "${machines[@]}"; do
    # Both at once: much of the time is waiting.
    for library in ours system; do
        [[ ${LAB_LIBS:-both} == both || $LAB_LIBS == "$library" ]] || continue
        (machine "$name" "$library") | sed -u "s/^\(ok\|not ok\|skip\) /&sim-$name-$library-/" &
    done | tee "$LAB_WORK/lab/sim-$name.log"
    wait
    ! grep -q '^not ok ' "$LAB_WORK/lab/sim-$name.log" || failed=1
done
exit $failed
