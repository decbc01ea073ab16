# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by every suite. A suite prints "ok SUITE NAME", "not ok SUITE NAME: reason" or "skip SUITE NAME: reason"
# for each test; every other line is a remark. In its environment: LAB_SUITE, LAB_LIB (ours, installed or system),
# LAB_KERNEL (the name in the lab's table), LAB_ICOUNT (yes under the counting clock).
set -uo pipefail

# The build folder, which elsewhere than in the lab has another place.
WORK=${LAB_WORK:-/work}
OUT=$WORK/lab/out/$LAB_KERNEL/$LAB_LIB/$LAB_SUITE
mkdir -p "$OUT"

ok() { echo "ok $LAB_SUITE $1"; }
not_ok() { echo "not ok $LAB_SUITE $1: $2"; }
skip() { echo "skip $LAB_SUITE $1: $2"; }
remark() { sed 's/^/# /'; }

# check NAME COMMAND...: one test that passes when the command does; of a failure the last output is the reason.
check() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then
        ok "$name"
    else
        remark <<<"$out"
        not_ok "$name" "$(tail -n 1 <<<"$out")"
    fi
}

rdma_up() {
    ip link add d0 type dummy && ip addr add 10.99.0.1/24 dev d0 && ip link set d0 up &&
        rdma link add rxe0 type rxe netdev d0 || return
    # The port is active at once, its GIDs for the address follow.
    local tries
    for tries in {1..50}; do
        ! grep -qsi 'ffff:0a63:0001' /sys/class/infiniband/rxe0/ports/1/gids/* || return 0
        sleep 0.1
    done
    echo "rxe0 has no GID for 10.99.0.1 after $tries tries"
    return 1
}

rdma_down() {
    rdma link del rxe0
    ip link del d0
}

# Whether the kernel has the command for user events. One that it does not know is EINVAL; this one is ENOENT, for it
# names an id that does not exist.
has_user_event_command() {
    local zeros='\0\0\0\0' no_id='\xff\xff\xff\xff' said
    said=$(printf "\x18\0\0\0\x18\0\0\0$no_id$zeros\x12\0\0\0$zeros$zeros$zeros" 2>&1 >/dev/infiniband/rdma_cm)
    case $said in
        *"No such file"*) return 0 ;;
        *"Invalid argument"*) return 1 ;;
        *) not_ok kernel "cannot be asked for its commands: $said"; exit 1 ;;
    esac
}

# With the C library many cases hang, as documented, and are not waited for long. With this one none should, and the machine
# may be busy.
[[ $LAB_LIB == system ]] || export TEST_SECONDS=60

# Puts this library in the place of the distribution's, for this suite alone, and keeps a copy of the other one.
install_library() {
    local place=/usr/lib/x86_64-linux-gnu/librdmacm.so.1
    C_LIBRARY=/run/c-library/librdmacm.so.1
    mkdir -p "${C_LIBRARY%/*}"
    cp "$place" "$C_LIBRARY" && mount --bind $WORK/librdmacm.so.1 "$(readlink -f "$place")"
}

# Preloaded where the library that is asked for is not the one in place.
C_LIBRARY=
[[ $LAB_LIB != installed ]] || install_library || exit 1

preload() {
    local objects=${LAB_SHIM:-}
    case $LAB_LIB in
        ours) objects+=${objects:+:}$WORK/librdmacm.so.1 ;;
        system) objects+=${objects:+${C_LIBRARY:+:}}$C_LIBRARY ;;
    esac
    [[ -z $objects ]] || echo "LD_PRELOAD=$objects"
}

# Runs a command with the library under test, and with the object that LAB_SHIM names.
# shellcheck disable=SC2046
lib_env() { env $(preload) "$@"; }

# run_program [-t SECONDS] [-n LABEL] [-w WRAPPER] PROGRAM [ARGS...]: runs a test program, by name one of
# $WORK/tests, as lib_env does. The program prints "ok CASE", "not ok CASE: reason", "skip CASE: reason";
# here they become results of LABEL/CASE (LABEL: the program's name). Its stdout is kept as $OUT/LABEL.out, its
# stderr as $OUT/LABEL.err. WRAPPER is put in front, for valgrind and the like.
run_program() {
    local OPTIND option limit=60 label='' wrapper=() program status line results=0 failures=0
    while getopts t:n:w: option; do
        case $option in
            t) limit=$OPTARG ;;
            n) label=$OPTARG ;;
            w) read -r -a wrapper <<<"$OPTARG" ;;
            *) return 2 ;;
        esac
    done
    shift $((OPTIND - 1))
    program=$1
    shift
    label=${label:-${program##*/}}
    [[ $program == */* ]] || program=$WORK/tests/$program
    # Only the program is to meet the library, not the timeout before it.
    # shellcheck disable=SC2046
    {
        while IFS= read -r line; do
            case $line in
                "ok "* | "skip "*) echo "${line%% *} $LAB_SUITE $label/${line#* }" ;;
                "not ok "*)
                    echo "not ok $LAB_SUITE $label/${line#not ok }"
                    failures=$((failures + 1))
                    ;;
                "#"*) echo "$line"; continue ;;
                *) echo "# $line"; continue ;;
            esac
            results=$((results + 1))
        done
        wait $!
        status=$?
    } < <(timeout -k 5 "$limit" env $(preload) "${wrapper[@]}" "$program" "$@" 2>"$OUT/$label.err" | tee "$OUT/$label.out")
    head -n 20 "$OUT/$label.err" | remark
    if [[ $status -eq 124 || $status -eq 137 ]]; then
        not_ok "$label" "killed, or still running after $limit seconds"
    elif [[ $status -gt 1 || $status -ne 0 && $failures -eq 0 ]]; then
        not_ok "$label" "ended with status $status"
    elif [[ $results -eq 0 ]]; then
        not_ok "$label" "gave no result"
    fi
}

# Whether the documented differences to the C library have a row for this PROGRAM/CASE, or for these words.
has_row() { grep -qF "| \`$1\` |" "$WORK/differences.md"; }

# A filter for the results of run_program: from the distribution's library the documented differences are expected, and
# the failures with the words $EXPECTED_WORDS, if those are documented.
expected() {
    local line test words=${EXPECTED_WORDS:-}
    while IFS= read -r line; do
        test=${line#"not ok $LAB_SUITE "}
        test=${test%%:*}
        if [[ $LAB_LIB != system || $line != "not ok "* ]]; then
            echo "$line"
        elif has_row "$test"; then
            echo "ok $LAB_SUITE $test (the C library differs as documented)"
        elif [[ -n $words && $line == *": $words" ]] && has_row "$words"; then
            echo "ok $LAB_SUITE $test (as documented for this kernel, the C library says $words)"
        else
            echo "$line"
        fi
    done
}
