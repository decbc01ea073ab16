#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Channels, ids, devices and user events: the C test programs, with the library under test.
source /work/lab/guest/lib.sh

PROGRAMS=(loaded event wake many destroy migrate channel cancel signals fork dl leaks event_str ids devices open_errors
    removal tour)

# From the distribution's library the documented differences are expected.
expected() {
    local line test
    while IFS= read -r line; do
        test=${line#"not ok $LAB_SUITE "}
        test=${test%%:*}
        if [[ $LAB_LIB == system && $line == "not ok "* ]] && grep -qF "| \`$test\` |" /work/differences.md; then
            echo "ok $LAB_SUITE $test (the C library differs as documented)"
        else
            echo "$line"
        fi
    done
}

no_version_warning() {
    ! grep -H 'no version information' "$OUT"/*.err
}

rdma_up || exit 1
trap rdma_down EXIT
for program in "${PROGRAMS[@]}"; do
    run_program -t 300 "$program" | expected
done
check no-version-warning no_version_warning

[[ $LAB_LIB == ours ]] || exit 0

# By its path, without a preload: this object really comes and goes.
LAB_LIB=system TEST_LIBRARY=/work/librdmacm.so.1 run_program -n dl.by-path dl

# Under the checkers everything is slower, and fewer rounds tell as much.
export TEST_SCALE=10 TEST_ROUNDS=20 TEST_EVENTS=800

# One processor for this, which takes longer than all the rest, one for the rest.
run_program -t 200 -n tour.valgrind -w "valgrind -q --vgdb=no --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite --error-exitcode=99" tour &
for program in event wake many destroy migrate channel cancel signals fork ids devices; do
    run_program -t 300 -n "$program.asan" "/work/tests-asan/$program"
done
wait
