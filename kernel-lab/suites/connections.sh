#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What connections cost, phase by phase and on both sides, with this library and the distribution's, in turns in one
# boot: system calls and, where the clock counts instructions, instructions. Those are chance to a small part: how the memory
# of a process is laid out, and where timers come to lie. So the C library runs a second time, as "again".
source /work/lab/guest/lib.sh

ROUNDS=3 NS_PER_INSTRUCTION=2 ADDRESS=10.99.0.1
SCENARIOS=(none ext qp qpcq ep)

rdma_up || exit 1
trap rdma_down EXIT
mount -t tracefs tracefs /sys/kernel/tracing || exit 1

libraries=(system)
[[ $LAB_LIB == system ]] || libraries=(ours system)

# measure LIBRARY calls|cpu CONNECTIONS ROUND
measure() {
    echo "# $2, round $4, $1"
    LAB_LIB=${1/again/system} lib_env /work/benches/connect "$2" "$ADDRESS" "$3" | sed "s/^/$1 $2 /" >"$OUT/measured.$1.$2.$4" ||
        not_ok "$2" "the program failed with $1"
}

for library in "${libraries[@]}"; do
    measure "$library" calls 20 1
done
if [[ $LAB_ICOUNT == yes ]]; then
    for ((round = 1; round <= ROUNDS; round++)); do
        for library in "${libraries[@]}" again; do
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

# noise: by how much the two runs of the C library differ, at most, in set-up or close of a side, of what one of them takes.
noise() {
    awk '
        $2 == "cpu" && $5 ~ /^(set-up|close)$/ { value[$1, $3 " " $4 " " $5] = $6; names[$3 " " $4 " " $5] }
        END {
            for (name in names) {
                difference = value["again", name] / value["system", name] - 1
                if (difference < 0) difference = -difference
                if (difference > most) most = difference
            }
            printf "%.4f", most
        }' "$OUT/figures"
}

# no_more KIND SCENARIO TOLERANCE PHASE...: in none of these phases (without one: in none at all) is ours above what the C
# library takes, in the more expensive of its runs, by more than this part of it.
no_more() {
    awk -v kind="$1" -v scenario="$2" -v tolerance="$3" -v phases=" ${*:4} " '
        $2 != kind || $3 != scenario { next }
        { value[$1, $4 " " $5] = $6 }
        $1 == "system" && (phases == "  " || index(phases, " " $5 " ")) { names[$4 " " $5] }
        END {
            for (name in names) {
                compared++
                most = value["system", name]
                if (("again", name) in value && value["again", name] > most) most = value["again", name]
                if (!(("ours", name) in value) || value["ours", name] > most * (1 + tolerance))
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
if [[ $LAB_ICOUNT == yes ]]; then
    table cpu
    tolerance=$(noise)
    echo "# the noise is $tolerance of a figure: so much do two runs of the C library differ in set-up or close of a side"
fi
check counts-c-library calls_of system exactly 29 24
[[ $LAB_LIB != system ]] || exit 0
check counts-ours calls_of ours "at most" 28 23
for scenario in "${SCENARIOS[@]}"; do
    check "calls-$scenario" no_more calls "$scenario" 0
    [[ $LAB_ICOUNT != yes ]] || check "instructions-$scenario" no_more cpu "$scenario" "$tolerance" set-up close
done
