#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Channels, ids, devices and user events: the C test programs, with the library under test.
source /work/lab/guest/lib.sh

# What depends on user events, and all the rest.
EVENTS=(event wake many destroy migrate channel cancel signals fork dl ids removal)
OTHERS=(loaded leaks event_str devices open_errors tour)
# The C library's words where the kernel has no command for user events.
NO_COMMAND='rdma_write_cm_event: EINVAL'

# run_all PROGRAM...
run_all() {
    local program
    for program; do
        run_program -t 300 "$program" | expected
    done
}

# run_again SUFFIX FOLDER PROGRAM...: under another label, and so not compared.
run_again() {
    local suffix=$1 folder=$2 program
    shift 2
    for program; do
        run_program -t 300 -n "$program.$suffix" "$folder/$program"
    done
}

no_version_warning() {
    ! grep -H 'no version information' "$OUT"/*.err
}

rdma_up || exit 1
trap rdma_down EXIT

BELLS=no
if ! has_user_event_command; then
    echo "# this kernel has no command for user events"
    # An event costs a hundred times as much here.
    BELLS=yes
    # shellcheck disable=SC2034 # expected uses it
    EXPECTED_WORDS=$NO_COMMAND
    export TEST_BELLS=1 TEST_ROUNDS=300 TEST_EVENTS=3000
fi

run_all "${EVENTS[@]}" "${OTHERS[@]}"
check no-version-warning no_version_warning

[[ $LAB_LIB == ours ]] || exit 0

run_program -n diagnostics.alone diagnostics

# By its path, without a preload: this object really comes and goes.
LAB_LIB=system TEST_LIBRARY=/work/librdmacm.so.1 run_program -n dl.by-path dl

if [[ $BELLS == yes ]]; then
    # On the oldest kernel only, for it takes a minute.
    [[ $LAB_KERNEL != 6.1 ]] || TEST_EVENTS=100000 run_program -t 300 -n many.all many eight_readers
    export TEST_EVENTS=800
    run_again asan /work/tests-asan event many destroy migrate
    exit
fi

# The way of other kernels on this one.
export TEST_ROUNDS=100 TEST_EVENTS=800
LAB_SHIM=/work/shim/no-command.so TEST_BELLS=1 run_again bells /work/tests "${EVENTS[@]}"

# Under the checkers everything is slower, and fewer rounds tell as much.
export TEST_SCALE=10 TEST_ROUNDS=20

# One processor for this, which takes longer than all the rest, one for the rest.
run_program -t 600 -n tour.valgrind -w "valgrind -q --vgdb=no --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite --error-exitcode=99" tour &
run_again asan /work/tests-asan event wake many destroy migrate channel cancel signals fork ids devices
wait
