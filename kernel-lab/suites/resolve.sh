#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Names, routes and options: the C test programs, with the library under test.
source /work/lab/guest/lib.sh

PROGRAMS=(getaddrinfo option api/option_effects addrinfo ibacm)

rdma_up || exit 1
trap rdma_down EXIT

COMMAND=yes
if ! has_user_event_command; then
    COMMAND=no
    echo "# this kernel has no command for user events"
    # shellcheck disable=SC2034 # expected uses it
    EXPECTED_WORDS='rdma_write_cm_event: EINVAL'
fi

for program in "${PROGRAMS[@]}"; do
    run_program -t 120 "/work/tests/$program" | expected
done

# Other kernels have nothing more to show.
[[ $LAB_LIB == ours && $COMMAND == yes ]] || exit 0

# The way of older kernels on this one.
LAB_SHIM=/work/shim/no-command.so run_program -n addrinfo.bells addrinfo

export TEST_SCALE=10
for program in "${PROGRAMS[@]}"; do
    run_program -t 200 -n "${program##*/}.asan" "/work/tests-asan/$program"
done
