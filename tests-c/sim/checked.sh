#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: checked.sh BUILD
# Runs C tests on the simulator with this library under AddressSanitizer and UndefinedBehaviorSanitizer, and a few under
# valgrind, which sees what the Rust code does with its memory as well. Prints results as the suites of the lab do.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
LAB_WORK=$(cd "$1" && pwd)
export LAB_WORK LAB_ICOUNT=no LAB_KERNEL=sim-checked LAB_LIB=ours LAB_SUITE=checked
export PATH=$LAB_WORK/sim:$LAB_WORK/sim/bin:$PATH
# Everything is slower, and fewer rounds tell as much.
export TEST_SCALE=10 TEST_ROUNDS=10 TEST_EVENTS=500
# shellcheck source=/dev/null
source "$here/../../kernel-lab/guest/lib.sh"
# What fails is a result.
set +e

ASAN=(event wake many destroy migrate channel cancel signals fork ids event_str devices)
ASAN+=(listen connect connect_errors connect_data private_data reject disconnect establish qp_attr ece queue_pair
    queue_pair_errors shared_queue datagram multicast waiting waiting_alone endpoint endpoint_errors messages moving held
    failures verbs_fail odd_kernel)
ASAN+=(stream polling connecting options attack attack_greeting attack_sender)
SUBNET=(ib_address ib_path ib_service ib_hosts)

# None that looks at data which a peer has sent: valgrind does not see it arrive.
VALGRIND=(event many connect queue_pair held)

# Where a program of that kind lies.
path() {
    local folder
    for folder in "$LAB_WORK/$1"{,/api,/rsocket}; do
        [[ ! -f $folder/$2 ]] || echo "$folder/$2"
    done
}

# checked MACHINE PROGRAM...
checked() {
    local machine=$1 program
    shift
    for program; do
        run_program -t 300 -n "$program.asan" -w "$LAB_WORK/sim/librdmacm-sim --script $here/scripts/$machine.sim" \
            "$(path tests-asan "$program")"
    done
}

# with_valgrind MACHINE PROGRAM...
with_valgrind() {
    local machine=$1 program
    shift
    for program; do
        run_program -t 300 -n "$program.valgrind" -w "$LAB_WORK/sim/librdmacm-sim --script $here/scripts/$machine.sim \
            valgrind -q --vgdb=no --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
            --error-exitcode=99 --suppressions=$here/valgrind.supp" "$(path tests "$program")"
    done
}

"$here/../../tools/install-deps.sh" valgrind
{
    checked roce "${ASAN[@]}"
    checked subnet "${SUBNET[@]}"
    with_valgrind roce "${VALGRIND[@]}"
} | tee "$LAB_WORK/checked.log"
! grep -q '^not ok ' "$LAB_WORK/checked.log"
