#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What sets of connections cost, with this library, with the distribution's, and the kernel's own over loopback, in turns in
# one boot: system calls and, where the clock counts instructions, those of the process.
source /work/lab/guest/lib.sh

NS_PER_INSTRUCTION=2 ADDRESS=10.99.0.1
COMPARED=(set.10 set.100 ask.10 ask.100)
LARGE=(set.500 set.2000 ask.500 ask.2000)

rdma_up || exit 1
trap rdma_down EXIT
mount -t tracefs tracefs /sys/kernel/tracing || exit 1
# Thousands of connections are to fit into the machine.
mkdir -p /etc/rdma/rsocket
echo 4096 | tee /etc/rdma/rsocket/{mem,wmem}_default >/dev/null
echo 64 | tee /etc/rdma/rsocket/{sqsize,rqsize}_default >/dev/null

# measure KIND WAY SCENARIO...
measure() {
    local kind=$1 way=$2 sockets=rsocket
    shift 2
    [[ $way != tcp ]] || sockets=tcp
    echo "# $kind, $way"
    LAB_LIB=${way/tcp/system} lib_env /work/benches/stream "$sockets" "$kind" "$ADDRESS" "$@" |
        awk -v ns="$NS_PER_INSTRUCTION" -v way="$way" -v kind="$kind" '
            { print kind, $1 "," $2, way, kind == "calls" ? $4 : int($4 / ns) }' >>"$OUT/figures" ||
        not_ok "$kind" "the program failed with $way"
}

ways=(system tcp)
[[ $LAB_LIB == system ]] || ways=(ours system tcp)
: >"$OUT/figures"
for way in "${ways[@]}"; do
    measure calls "$way" "${COMPARED[@]}"
    [[ $LAB_ICOUNT != yes ]] || measure cpu "$way" "${COMPARED[@]}"
done
[[ $LAB_ICOUNT != yes || $LAB_LIB == system ]] || measure cpu ours "${LARGE[@]}"

sort "$OUT/figures" | awk '
    function cell(way) { return (way, key) in value ? value[way, key] : "-" }
    function row() { if (key) printf "# %-28s %10s %10s %10s\n", key, cell("ours"), cell("system"), cell("tcp") }
    BEGIN { printf "# %-28s %10s %10s %10s\n", "", "ours", "C library", "kernel" }
    { if ($1 " " $2 != key) { row(); key = $1 " " $2 } value[$3, key] = $4 }
    END { row() }' | tee "$OUT/table"

# at_most KIND SUBJECT FACTOR WAY [SUBJECT]: ours takes at most so many times what WAY takes.
at_most() {
    awk -v kind="$1" -v subject="$2" -v factor="$3" -v way="$4" -v other="${5:-$2}" '
        $1 == kind && $2 == subject && $3 == "ours" { ours = $4 }
        $1 == kind && $2 == other && $3 == way { theirs = $4 }
        END {
            print ours " is more than " factor " times " theirs
            exit !(ours > 0 && theirs > 0 && ours <= theirs * factor)
        }' "$OUT/figures"
}

asks_cheaply() {
    awk '$1 == "cpu" && $2 == "ask.100,client" && $3 == "ours" { instructions = $4 }
        END { print instructions " instructions"; exit !(instructions > 0 && instructions <= 1500) }' "$OUT/figures"
}
has_figures() { grep -q '^calls set.100,server system [1-9]' "$OUT/figures"; }

check figures has_figures
[[ $LAB_LIB != system ]] || exit 0
check calls at_most calls set.100,server 1 system set.10,server
[[ $LAB_ICOUNT == yes ]] || exit 0
check half at_most cpu set.100,server 0.5 system
check asking asks_cheaply
for number in 500 2000; do
    check "asking-$number" at_most cpu "ask.$number,client" 1.1 ours ask.10,client
    check "as-with-few-$number" at_most cpu "set.$number,server" 1.15 ours set.10,server
done
