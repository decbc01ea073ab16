# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by suites that run existing programs, mostly in pairs: a server and a client on this machine. Their output is
# kept as $OUT/LABEL.server and $OUT/LABEL.client. Starting a process is slow here, so the shell itself does what it can.

# How long a program may run, and how long a server may take to listen: much longer than they need, for the machine may be
# busy. Meanwhile the suite is not to look silent.
PROGRAM_SECONDS=100
START_SECONDS=40
(while sleep 30; do echo "# at work"; done) &

# on LIBRARY COMMAND [HOST...]: becomes the command, on that library; HOST is put in front of it, to start it elsewhere.
on() {
    local LAB_LIB=$1
    # Only the program is to meet the library, not the timeout before it. The command's words are to be split.
    # shellcheck disable=SC2046,SC2086
    exec timeout -k 2 "$PROGRAM_SECONDS" "${@:3}" env $(preload) $2 </dev/null
}

# Whether anybody waits for connections: on TCP (programs that agree on a connection there first), or on RDMA.
somebody_listens() {
    local tables
    tables=$(cat /proc/net/tcp /proc/net/tcp6)
    [[ $tables == *:0000\ 0A\ * || $(rdma resource show cm_id) == *LISTEN* ]]
}

# The listener of the pair before, or of the suite before, may still be leaving: it is not to be taken for the next one.
wait_until_nobody_listens() {
    local end=$((SECONDS + 10))
    while ((SECONDS < end)) && somebody_listens; do
        sleep 0.1
    done
}

# wait_for_server PID: returns when it listens, or has ended.
wait_for_server() {
    local end=$((SECONDS + START_SECONDS))
    while ((SECONDS < end)) && kill -0 "$1" 2>/dev/null && ! somebody_listens; do
        sleep 0.1
    done
    # A listener is shown a moment before the kernel has it on all devices.
    sleep 0.2
}

# missing_line LABEL PATTERN...: prints the first pattern that no line of the output matches. Lines begin with
# "server: " or "client: ".
missing_line() {
    local label=$1 side line lines pattern output=()
    shift
    for side in server client; do
        [[ -f $OUT/$label.$side ]] || continue
        mapfile -t lines <"$OUT/$label.$side"
        output+=("${lines[@]/#/$side: }")
    done
    for pattern; do
        for line in "${output[@]}"; do
            [[ ! $line =~ $pattern ]] || continue 2
        done
        echo "$pattern"
        return
    done
}

# verdict LABEL STATUSES WANTED PATTERN...: prints what is wrong with what ran; nothing if it is right.
verdict() {
    local label=$1 statuses=$2 wanted=$3 missing
    shift 3
    if [[ ! $statuses =~ ^($wanted)$ ]]; then
        echo "ended with $statuses, not $wanted"
    elif missing=$(missing_line "$label" "$@") && [[ -n $missing ]]; then
        echo "no line matches '$missing'"
    fi
}

# conclude LABEL REASON: the result of what ran; it is good without a reason.
conclude() {
    if [[ -z $2 ]]; then
        ok "$1"
    else
        tail -n 12 "$OUT/$1".* | remark
        not_ok "$1" "$2"
    fi
}

# run_once LABEL SERVER-LIBRARY CLIENT-LIBRARY SERVER CLIENT WANTED: leaves "SERVER/CLIENT" in $statuses.
run_once() {
    local label=$1 server_lib=$2 client_lib=$3 server=$4 client=$5 wanted=$6 repeat=${REPEAT:-no} pid status server_status
    [[ $repeat == yes ]] || wait_until_nobody_listens
    # shellcheck disable=SC2086
    on "$server_lib" "$server" ${SERVER_HOST:-} >"$OUT/$label.server" 2>&1 &
    pid=$!
    [[ $repeat == yes ]] || wait_for_server "$pid"
    while true; do
        # shellcheck disable=SC2086
        (on "$client_lib" "$client" ${CLIENT_HOST:-}) >"$OUT/$label.client" 2>&1
        status=$?
        [[ $repeat == yes && $status -eq 0 ]] && kill -0 "$pid" 2>/dev/null || break
    done
    # A server that serves on has to be ended; so has one whose client failed.
    [[ $wanted != -* && $status -eq 0 ]] || kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    server_status=$?
    [[ $wanted != -* ]] || server_status=-
    statuses=$server_status/$status
}

# run_pair LABEL SERVER-LIBRARY CLIENT-LIBRARY SERVER CLIENT STATUSES PATTERN...
run_pair() {
    local tries=${TRIES:-1} statuses reason
    while true; do
        run_once "${@:1:6}"
        reason=$(verdict "$1" "$statuses" "${@:6}")
        [[ -n $reason && $((--tries)) -gt 0 ]] || break
        echo "# $1 $reason; once more"
    done
    conclude "$1" "$reason"
}

# pair LABEL SERVER CLIENT STATUSES PATTERN...: runs the two against each other on the library under test. STATUSES,
# SERVER/CLIENT, is a regular expression; "-" for a server that serves until it is ended. With REPEAT=yes the client
# runs again and again until the server has ended. With TRIES=N both may fail N - 1 times. SERVER_HOST and CLIENT_HOST are commands that start the two elsewhere.
pair() {
    local label=$1
    shift
    run_pair "$label" "$LAB_LIB" "$LAB_LIB" "$@"
}

# run_unless REASON LABEL ...: as run_pair; if there is a reason against it, that is the result.
run_unless() {
    if [[ -n $1 ]]; then
        skip "$2" "$1"
    else
        run_pair "${@:2}"
    fi
}

# mixed LABEL SERVER CLIENT STATUSES PATTERN...: the same, and then each of the two against the other on the C library,
# unless C_SERVER_FAILS or C_CLIENT_FAILS says why the C library cannot be at that end.
mixed() {
    local label=$1
    pair "$@"
    shift
    [[ $LAB_LIB != system ]] || return 0
    run_unless "${C_SERVER_FAILS:-}" "$label.c-server" system "$LAB_LIB" "$@"
    run_unless "${C_CLIENT_FAILS:-}" "$label.c-client" "$LAB_LIB" system "$@"
}

# alone LABEL COMMAND STATUS PATTERN...: a client that nobody answers.
alone() {
    local label=$1 command=$2 wanted=$3
    shift 3
    (on "$LAB_LIB" "$command") >"$OUT/$label.client" 2>&1
    conclude "$label" "$(verdict "$label" $? "$wanted" "$@")"
}
