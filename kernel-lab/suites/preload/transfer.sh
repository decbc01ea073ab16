#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: transfer.sh PROGRAM server|client
# One end of a transfer of /tmp/web/served by a program of the distribution, from $ADDRESS, port $PORT. The end that receives
# says "the same".
set -euo pipefail

served=/tmp/web/served
same() { cmp - "$served" && echo "the same"; }

case $1-$2 in
    nc-server) nc -d -l "$ADDRESS" "$PORT" | same ;;
    nc-client) nc -N "$ADDRESS" "$PORT" <"$served" ;;
    socat-server) socat -u "TCP4-LISTEN:$PORT,bind=$ADDRESS,reuseaddr" - | same ;;
    socat-client) socat -u "OPEN:$served" "TCP4:$ADDRESS:$PORT" ;;
    curl-server) exec python3 -m http.server --directory /tmp/web --bind "$ADDRESS" "$PORT" ;;
    curl-client) curl -sS "http://$ADDRESS:$PORT/served" | same ;;
    # As inetd does: a child becomes another program, which has the connection as its input and output.
    inetd-server) exec socat "TCP4-LISTEN:$PORT,bind=$ADDRESS,reuseaddr,fork" EXEC:cat,nofork ;;
    inetd-client) socat -t 30 - "TCP4:$ADDRESS:$PORT" <"$served" | same ;;
esac
