#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a user event costs in instructions, with this library and the distribution's, in turns in one boot; and with this
# library where the kernel has no command for it.
source /work/lab/guest/lib.sh

ROUNDS=3 NS_PER_INSTRUCTION=2

if [[ $LAB_ICOUNT != yes ]]; then
    skip cost "needs the clock that counts instructions (--icount)"
    exit
fi
rdma_up || exit 1
trap rdma_down EXIT

libraries=(system)
[[ $LAB_LIB == system ]] || libraries=(ours system)
for ((round = 1; round <= ROUNDS; round++)); do
    for library in "${libraries[@]}"; do
        echo "# round $round of $ROUNDS, $library"
        LAB_LIB=$library lib_env /work/benches/event >"$OUT/$library.$round" || not_ok cost "the program failed with $library"
    done
done
if [[ $LAB_LIB == ours ]]; then
    echo "# without the command"
    LAB_SHIM=/work/shim/no-command.so lib_env /work/benches/event 5 library >"$OUT/without.1" ||
        not_ok cost "the program failed without the command"
fi

# LIBRARY FIGURE INSTRUCTIONS, the least of all rounds. What does not depend on the library is taken from all runs.
least() {
    local file library
    for file in "$OUT"/*.[0-9]; do
        library=$(basename "${file%.*}")
        sed "s/^\([a-z]*\)\.library /$library \1 /; s/^\([a-z]*\)\.\([a-z]*\) /\2 \1 /" "$file"
    done | awk -v ns="$NS_PER_INSTRUCTION" '
        { value = $3 / ns; key = $1 " " $2; if (!(key in least) || value < least[key]) least[key] = value }
        END { for (key in least) print key, least[key] }'
}

least >"$OUT/figures"
awk '
    { value[$1, $2] = $3 }
    function cell(way, figure) { return (way, figure) in value ? sprintf("%.0f", value[way, figure]) : "-" }
    function ratio(figure, way, other) {
        return (way, figure) in value && (other, figure) in value ? sprintf("%.3f", value[way, figure] / value[other, figure]) : "-"
    }
    function row(figure, title) {
        printf "# %-22s %8s %9s %8s %8s %8s %8s %8s %12s %12s\n", title, cell("ours", figure), cell("system", figure),
            cell("raw", figure), cell("eventfd", figure), cell("without", figure), ratio(figure, "ours", "system"),
            ratio(figure, "ours", "raw"), ratio(figure, "ours", "eventfd"), ratio(figure, "without", "ours")
    }
    END {
        printf "# %-22s %8s %9s %8s %8s %8s %8s %8s %12s %12s\n", "instructions", "ours", "C library", "raw", "eventfd",
            "without", "ours/C", "ours/raw", "ours/eventfd", "without/ours"
        row("same", "write + get + ack")
        row("write", "write")
        row("get", "get")
        row("ack", "ack")
        row("nothing", "get, nothing there")
        row("wake", "wake-up, one way")
        print "# without: ours, where the kernel has no command for user events"
    }' "$OUT/figures" | tee "$OUT/table"

# at_most FIGURE PERCENT WAY: ours costs at most this much of the other way.
at_most() {
    awk -v figure="$1" -v percent="$2" -v way="$3" '
        $2 == figure { value[$1] = $3 }
        END { exit !(value["ours"] > 0 && value[way] > 0 && value["ours"] * 100 <= value[way] * percent) }' "$OUT/figures" ||
        { echo "more than $2 % of $3"; return 1; }
}

has_figures() { grep -q "^$1 wake [1-9]" "$OUT/figures"; }

if [[ $LAB_LIB == system ]]; then
    check figures has_figures system
else
    check same-to-c-library at_most same 100 system
    check same-to-raw at_most same 107.8 raw
    check without-the-command has_figures without
fi
