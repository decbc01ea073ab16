#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Unmodified programs with librspreload.so: their connections are made over RDMA. First the C test programs of tests-c/preload,
# and those of tests-c/rsocket with the kernel's sockets; then programs of the distribution, with both ends on this object,
# and with one end on the C library's.
source /work/lab/guest/lib.sh
source /work/lab/guest/pair.sh

if [[ $LAB_LIB != ours ]]; then
    skip preload "it is about the object of this build"
    exit
fi

export ADDRESS=10.99.0.1 PORT=7000
CONFIG=/etc/rdma/rsocket/preload_config
FILES=/work/lab/suites/preload

# What programs are started with.
preload() {
    case $LAB_LIB in
        ours) echo "LD_PRELOAD=$WORK/librspreload.so:$WORK/librdmacm.so.1" ;;
        system) echo "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so" ;;
    esac
}

rdma_up || exit 1
trap rdma_down EXIT
mkdir -p "${CONFIG%/*}" /tmp/web
rm -f "$CONFIG"

for program in duplicates calls fallback handed_over; do
    run_program -t 300 "$WORK/tests/preload/$program"
done
for program in stream polling connecting options; do
    SOCKETS=kernel run_program -t 300 -n "$program" "$WORK/tests/rsocket/$program"
done

# What the kernel's TCP has received, in segments of at most 64 KiB.
segments() { awk '/^Tcp: [0-9]/ { print $11 }' /proc/net/snmp; }

# Each run moves so much that by TCP it takes more segments than that.
head -c 8M /dev/urandom >/tmp/web/served
FEW=100

# moved WAY LABEL COMMAND...: what the command moves goes by that way, rdma or tcp.
moved() {
    local way=$1 label=$2 before after
    before=$(segments)
    "${@:3}"
    after=$((($(segments) - before)))
    if [[ $way == rdma && $after -lt $FEW || $way == tcp && $after -ge $FEW ]]; then
        ok "$label-by-$way"
    else
        not_ok "$label-by-$way" "$after segments by TCP"
    fi
}

# transfer WAY HOW LABEL PROGRAM STATUSES: of a file.
transfer() {
    moved "$1" "$3" "$2" "$3" "bash $FILES/transfer.sh $4 server" "bash $FILES/transfer.sh $4 client" "$5" ': the same$'
}

# Ends that hang or crash on the C library's object, whoever is at the other one.
PYTHON_WAITS="with the C library's object a socket waits after all if a program says by ioctl that it should not"
CURL_HANGS="on the C library's object curl hangs, whoever serves"
ASKING_AGAIN="with the C library's object, closing hangs or crashes after connect was asked twice, as redis does"

# programs HOW SUFFIX
programs() {
    local how=$1 suffix=$2
    transfer rdma "$how" "nc$suffix" nc 0/0
    transfer rdma "$how" "socat$suffix" socat 0/0
    C_CLIENT_FAILS=$CURL_HANGS transfer rdma "$how" "curl$suffix" curl -/0
    C_SERVER_FAILS=$PYTHON_WAITS C_CLIENT_FAILS=$PYTHON_WAITS moved rdma "asyncio$suffix" "$how" "asyncio$suffix" \
        "python3 $FILES/echo.py server" "python3 $FILES/echo.py client" -/0 '^client: the same$'
    moved rdma "memcached$suffix" "$how" "memcached$suffix" "memcached -u root -l $ADDRESS -p $PORT -U 0 -t 2" \
        "python3 $FILES/store.py" -/0 '^client: the same$'
    C_CLIENT_FAILS=$ASKING_AGAIN moved rdma "redis$suffix" "$how" "redis$suffix" \
        "redis-server --bind $ADDRESS --port $PORT --protected-mode no --appendonly no" \
        "redis-benchmark -h $ADDRESS -p $PORT -c 10 -n 300 -d 32768 -t set,get -q" -/0 'SET: .*requests per second' 'GET: .*requests per second'
    moved rdma "iperf3$suffix" "$how" "iperf3$suffix" "iperf3 -s -1 -B $ADDRESS -p $PORT" \
        "iperf3 -c $ADDRESS -p $PORT -n 8M" 0/0 '^client: iperf Done'
}

programs mixed ''

export RDMAV_FORK_SAFE=1
transfer rdma pair inetd inetd -/0
unset RDMAV_FORK_SAFE

# With rules: for these programs, and then for others.
cat >"$CONFIG" <<'END'
# comment
nc * STREAM TCP
SOCAT INET SOCK_STREAM *
curl PF_INET * *
python * stream tcp
memcached AF_INET STREAM *
redis INET STREAM IPPROTO_TCP
iperf3 * * TCP
END
programs pair -rules
echo 'other * * *' >"$CONFIG"
transfer tcp pair nc-other-rules nc 0/0
rm "$CONFIG"
