#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What connections cost, phase by phase and on both sides, with this library and the distribution's, in turns in one
# boot: system calls and, where the clock counts instructions, instructions.
source /work/lab/guest/lib.sh

ROUNDS=3 NS_PER_INSTRUCTION=2 ADDRESS=10.99.0.1
SCENARIOS=(none ext qp qpcq ep)
# What is chance in the instructions of a side: how the memory of its process is laid out, and where timers come to lie.
TOLERANCE=1.02

rdma_up || exit 1
trap rdma_down EXIT
mount -t tracefs tracefs /sys/kernel/tracing || exit 1

libraries=(system)
[[ $LAB_LIB == system ]] || libraries=(ours system)

# measure LIBRARY calls|cpu CONNECTIONS ROUND
measure() {
    echo "# $2, round $4, $1"
    LAB_LIB=$1 lib_env /work/benches/connect "$2" "$ADDRESS" "$3" | sed "s/^/$1 $2 /" >"$OUT/measured.$1.$2.$4" ||
        not_ok "$2" "the program failed with $1"
}

for library in "${libraries[@]}"; do
    measure "$library" calls 20 1
done
if [[ $LAB_ICOUNT == yes ]]; then
    for ((round = 1; round <= ROUNDS; round++)); do
        for library in "${libraries[@]}"; do
            measure "$library" cpu 100 "$round"
        done
    done
fi

# LIBRARY KIND SCENARIO SIDE PHASE VALUE: the least of all rounds, and the sums of each side.
awk -v ns="$NS_PER_INSTRUCTION" '
    {
        value = $2 == "cpu" ? $6 / ns : $6
        side = $1 " " $2 " " $3 " " $4
        if (!((side, $5) in least) || value < least[side, $5])
            least[side, $5] = value
    }
    END {
        for (key in least) {
            split(key, name, SUBSEP)
            print name[1], name[2], least[key]
            sum[name[1] " " (name[2] ~ /^(disconnect|destroy)/ ? "close" : "set-up")] += least[key]
            sum[name[1] " all"] += least[key]
        }
        for (key in sum) print key, sum[key]
    }' "$OUT"/measured.* | sort >"$OUT/figures"

table() { awk -v kind="$1" -v scenarios="${SCENARIOS[*]}" -f "${BASH_SOURCE%.sh}.awk" "$OUT/figures"; }

# no_more KIND SCENARIO TOLERANCE PHASE...: in none of these phases (without one: in none at all) is ours above that much of
# the C library's.
no_more() {
    awk -v kind="$1" -v scenario="$2" -v tolerance="$3" -v phases=" ${*:4} " '
        $2 != kind || $3 != scenario { next }
        { value[$1, $4 " " $5] = $6 }
        $1 == "system" && (phases == "  " || index(phases, " " $5 " ")) { names[$4 " " $5] }
        END {
            for (name in names) {
                compared++
                if (!(("ours", name) in value) || value["ours", name] > value["system", name] * tolerance)
                    above = above (above ? ", " : "") name
            }
            if (above) print "above the C library: " above
            exit !compared || above != ""
        }' "$OUT/figures"
}

# calls_of LIBRARY COMPARISON CLIENT SERVER: the system calls of a connection with a queue pair, of all phases together.
calls_of() {
    awk -v library="$1" -v comparison="$2" -v client="$3" -v server="$4" '
        $1 == library && $2 == "calls" && $3 == "qp" && $5 == "all" { value[$4] = $6 }
        END {
            print value["client"] " + " value["server"] " system calls, not " comparison " " client " + " server
            if (comparison == "exactly") exit !(value["client"] == client && value["server"] == server)
            exit !(value["client"] > 0 && value["client"] <= client && value["server"] > 0 && value["server"] <= server)
        }' "$OUT/figures"
}

table calls
[[ $LAB_ICOUNT != yes ]] || table cpu
check counts-c-library calls_of system exactly 29 24
[[ $LAB_LIB != system ]] || exit 0
check counts-ours calls_of ours "at most" 28 23
for scenario in "${SCENARIOS[@]}"; do
    check "calls-$scenario" no_more calls "$scenario" 1
    [[ $LAB_ICOUNT != yes ]] || check "instructions-$scenario" no_more cpu "$scenario" "$TOLERANCE" set-up close
done
