#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What stream sockets cost with this library, with the distribution's, and the kernel's own over loopback, in turns in one
# boot: system calls and, where the clock counts instructions, those of the whole machine.
source /work/lab/guest/lib.sh

ROUNDS=2 NS_PER_INSTRUCTION=2 ADDRESS=10.99.0.1
COUNTED=(connection ping.1 ping.1024 pour.64 pour.1024 pour.65536)
TIMED=(connection ping.1 ping.64 ping.1024 ping.4096 ping.16384 ping.65536 pour.64 pour.1024 pour.65536)
WATCHED=(watch.10 watch.100 watch.500)

rdma_up || exit 1
trap rdma_down EXIT
mount -t tracefs tracefs /sys/kernel/tracing || exit 1

ways=(system tcp)
[[ $LAB_LIB == system ]] || ways=(ours system tcp)

# measure KIND ROUND SCENARIO...: with each way.
measure() {
    local kind=$1 round=$2 way sockets
    shift 2
    for way in "${ways[@]}"; do
        echo "# $kind, round $round, $way"
        sockets=rsocket
        [[ $way != tcp ]] || sockets=tcp
        LAB_LIB=${way/tcp/system} lib_env /work/benches/stream "$sockets" "$kind" "$ADDRESS" "$@" |
            sed "s/^/$way $kind /" >"$OUT/measured.$way.$kind.$round" || not_ok "$kind" "the program failed with $way"
    done
}

measure calls 1 "${COUNTED[@]}"
measure doorbells 1 "${COUNTED[@]}"
if [[ $LAB_ICOUNT == yes ]]; then
    measure cpu 1 connection
    for ((round = 1; round <= ROUNDS; round++)); do
        measure time "$round" "${TIMED[@]}"
    done
    measure time watched "${WATCHED[@]}"
fi

# UNIT SUBJECT WAY VALUE
awk -v ns="$NS_PER_INSTRUCTION" -f "${BASH_SOURCE%.sh}.awk" "$OUT"/measured.* | sort >"$OUT/figures"

# table UNIT TITLE: a row for each subject, a column for each way.
table() {
    local row='# %-38s %10s %10s %10s %8s\n'
    # shellcheck disable=SC2059
    printf "$row" "$2" ours "C library" TCP ours/C
    awk -v unit="$1" -v row="$row" '
        function cell(way, subject) { return (way, subject) in value ? value[way, subject] : "-" }
        $1 == unit { value[$3, $2] = $4; subjects[$2] }
        END {
            for (subject in subjects) {
                ours = cell("ours", subject); theirs = cell("system", subject)
                ratio = ours > 0 && theirs > 0 ? sprintf("%.3f", ours / theirs) : "-"
                printf row, subject, ours, theirs, cell("tcp", subject), ratio
            }
        }' "$OUT/figures" | sort -V
}

# at_most UNIT PART SUBJECT: ours takes at most this part of what the C library takes.
at_most() {
    awk -v unit="$1" -v part="$2" -v subject="$3" '
        $1 == unit && $2 == subject { value[$3] = $4 }
        END {
            print value["ours"] " are more than " part " of " value["system"]
            exit !("ours" in value && value["system"] != "" && value["ours"] <= value["system"] * part)
        }' "$OUT/figures"
}

has_figures() { grep -q "^calls ping.1,client system [1-9]" "$OUT/figures"; }

table calls "system calls, doorbells left out"
[[ $LAB_ICOUNT != yes ]] || table instructions instructions
check figures has_figures
[[ $LAB_LIB != system ]] || exit 0

# How threads of the kernel come in between is chance.
CHANCE=1.05
for side in client server; do
    check "calls-connection-$side" at_most calls 1 "connection,$side"
    check "calls-ping-$side" at_most calls 0.9 "ping.1,$side"
    for scenario in pour.64 pour.1024 pour.65536; do
        check "calls-$scenario-$side" at_most calls 1 "$scenario,$side"
    done
done
[[ $LAB_ICOUNT == yes ]] || exit 0
for subject in connection,client connection,server connection,machine; do
    check "instructions-$subject" at_most instructions 0.65 "$subject"
done
for subject in "${TIMED[@]:1}" watch.10; do
    check "instructions-$subject" at_most instructions "$CHANCE" "$subject"
done
for subject in watch.100 watch.500; do
    check "instructions-$subject" at_most instructions 0.5 "$subject"
done
