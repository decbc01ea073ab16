#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Process 1 of the guest: runs the suites, counts their results, switches the machine off.
set -uo pipefail

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 LAB_KERNEL
cd /
# The first serial line is the kernel's, the second one carries results.
stty -F /dev/ttyS1 raw -echo
exec </dev/null >/dev/ttyS1 2>&1

mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
for dir in /dev/shm /tmp /run; do
    mount -t tmpfs -o size=75% tmpfs "$dir"
done
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr
ip link set lo up
mapfile -t modules </work/lab/modules
modprobe -qa "${modules[@]}"

source /work/lab/job
: >/work/lab/begun
export LAB_ICOUNT
passed=0 failed=0 skipped=0

fail() {
    echo "not ok $1: $2"
    failed=$((failed + 1))
}

# Which processes there are, and where in the kernel their threads wait.
show_waiting() {
    local dir command
    for dir in /proc/[0-9]*; do
        command=$(tr '\0' ' ' <"$dir/cmdline")
        [[ -n $command ]] || continue
        echo "# ${dir#/proc/}: $command"
        sed 's/^/#     /' "$dir"/task/*/stack
    done 2>/dev/null
}

# One suite, in process and mount namespaces of its own: what it leaves behind ends with it.
run_suite() {
    local suite=$1 pid line status count=0 silent=no out
    export LAB_SUITE=$1 LAB_LIB=$2
    echo "# suite $suite, kernel $(uname -r), library $LAB_LIB"
    rm -rf "/work/lab/out/$LAB_KERNEL/$LAB_LIB/$suite"
    mkfifo /run/suite
    unshare --mount --pid --fork --kill-child --mount-proc bash "/work/lab/suites/$suite.sh" >/run/suite 2>&1 &
    pid=$!
    exec {out}</run/suite
    rm /run/suite
    while true; do
        status=0
        IFS= read -r -t "$LAB_SILENCE" -u "$out" line || status=$?
        if [[ $status -gt 128 ]]; then
            show_waiting
            fail "$suite" "no output for $LAB_SILENCE seconds"
            kill -KILL "$pid"
            silent=yes
            break
        fi
        [[ $status -eq 0 ]] || break
        echo "$line"
        case $line in
            "ok $suite "*) passed=$((passed + 1)) ;;
            "not ok $suite "*) failed=$((failed + 1)) ;;
            "skip $suite "*) skipped=$((skipped + 1)) ;;
            *) continue ;;
        esac
        count=$((count + 1))
    done
    exec {out}<&-
    wait "$pid" 2>/dev/null
    status=$?
    if [[ $silent == yes ]]; then
        return
    elif [[ $status -ne 0 ]]; then
        fail "$suite" "ended with status $status"
    elif [[ $count -eq 0 ]]; then
        fail "$suite" "gave no result"
    fi
}

for suite in $LAB_SUITES; do
    for lib in $LAB_LIBS; do
        run_suite "$suite" "$lib"
    done
done

echo "$passed $failed $skipped" >/work/lab/tally
sync
echo o >/proc/sysrq-trigger
# Process 1 must not end before the machine does.
sleep 60
