#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: check-abi.sh LIBRARY MAP
# The shipped object exports what the version script lists, node by node, and is linked as it must be.
set -euo pipefail
library=$1 map=$2
failed=0

# expect NAME TEST...: one property.
expect() {
    local name=$1
    shift
    if "$@"; then
        echo "ok abi/$name"
    else
        echo "not ok abi/$name"
        failed=1
    fi
}

# "symbol@@NODE" for each symbol of the map, the nodes themselves included.
listed() {
    { "$(dirname "$0")/list-symbols.sh" "$map" | sed 's/ /@@/'; grep -oE '^RDMACM_[0-9.]+' "$map"; } | sort
}

# Debian's symbols file wants the nodes too. GNU ld writes them as absolute symbols; other linkers leave them out.
exported() { nm -D --defined-only "$library" | awk '{ print $3 }' | sort; }
same_symbols() { diff <(listed) <(exported); }

dynamic=$(readelf -dW "$library")
segments=$(readelf -lW "$library")
has() { grep -qE "$1" <<<"$2"; }
lacks() { ! has "$1" "$2"; }
undefined_verbs() { nm -D --undefined-only "$library" | grep -oE 'IBVERBS_[0-9.]+' | sort -uV; }
old_verbs_only() { [[ -z $(undefined_verbs | grep -vxE 'IBVERBS_1\.[01]') ]]; }

# "make matrix" makes it so.
matrix_is_current() { diff docs/MATRIX.md <(tools/gen-matrix.sh); }

expect symbols same_symbols
expect soname has 'SONAME.*\[librdmacm\.so\.1\]' "$dynamic"
expect bind-now has 'FLAGS.*BIND_NOW|FLAGS_1.*NOW' "$dynamic"
expect gnu-hash has 'GNU_HASH' "$dynamic"
expect no-sysv-hash lacks '\(HASH\)' "$dynamic"
expect no-text-relocations lacks 'TEXTREL' "$dynamic"
expect no-rpath lacks 'RPATH|RUNPATH' "$dynamic"
expect relro has 'GNU_RELRO' "$segments"
expect stack-not-executable has 'GNU_STACK.* RW ' "$segments"
expect no-writable-code lacks 'LOAD.* RWE ' "$segments"
expect build-id has 'NT_GNU_BUILD_ID|GNU.*build-id' "$(readelf -nW "$library")"
expect old-libibverbs old_verbs_only
expect matrix matrix_is_current
exit $failed
