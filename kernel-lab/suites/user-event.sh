#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Channels, ids, devices and user events: the C test programs, with the library under test.
source /work/lab/guest/lib.sh

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

rdma_up || exit 1
for program in event wake many destroy migrate channel cancel signals fork dl leaks event_str ids devices open_errors; do
    run_program -t 300 "$program" | expected
done
