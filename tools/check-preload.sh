#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: check-preload.sh LIBRARY MAP
# The object that is preloaded replaces what the list says, needs librdmacm and libc only, and is linked as it must be.
set -euo pipefail
library=$1 map=$2
group=preload-abi
# shellcheck source=tools/expect.sh
source "$(dirname "$0")/expect.sh"

exported() { nm -D --defined-only "$library" | awk '{ print $3 }' | sort; }
same_symbols() { diff <(grep -oE '^[[:space:]]+[a-z_0-9]+;' "$map" | tr -d '\t ;' | sort) <(exported); }
needs() { readelf -dW "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'; }
needs_little() { diff <(printf '%s\n' libc.so.6 librdmacm.so.1) <(needs | sort); }
# Nothing of the library but its sockets.
sockets_only() { ! nm -D --undefined-only "$library" | grep 'RDMACM_' | grep -vE ' (r[a-z]+@RDMACM_1\.0|repoll_[a-z]+@RDMACM_1\.5)$'; }
has() { grep -qE "$1" <<<"$2"; }
lacks() { ! has "$1" "$2"; }
dynamic=$(readelf -dW "$library")

expect symbols same_symbols
expect needed needs_little
expect sockets-only sockets_only
expect bind-now has 'FLAGS.*BIND_NOW|FLAGS_1.*NOW' "$dynamic"
expect no-text-relocations lacks 'TEXTREL' "$dynamic"
expect no-rpath lacks 'RPATH|RUNPATH' "$dynamic"
expect relro has 'GNU_RELRO' "$(readelf -lW "$library")"
exit $failed
