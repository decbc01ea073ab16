#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: check-abi.sh LIBRARY MAP THEIRS SYMBOLS
# The shipped object exports what the version script lists, node by node, which is all that the C library does, and is
# linked as it must be. THEIRS is the distribution's library, SYMBOLS the list of its symbols in the package.
set -euo pipefail
[[ $# -eq 4 ]] || { sed -n 's/^# \(usage: .*\)/\1/p' "$0" >&2; exit 2; }
library=$1 map=$2 theirs=$3 symbols=$4
group=abi
# shellcheck source=tools/expect.sh
source "$(dirname "$0")/expect.sh"

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

all_symbols() { diff <("$(dirname "$0")/list-symbols.sh" "$map" | sort) <(grep -v '^#' abi/symbols.list | sort); }

# What the distribution's packages look at. The version is that of a package, and does not matter here.
debian_symbols() { dpkg-gensymbols -c4 -plibrdmacm1t64 -v65 -e"$library" -I"$symbols" -O/dev/null; }
nothing_changed() { abidiff "$theirs" "$library"; }

# "make matrix" makes it so.
matrix_is_current() { diff docs/MATRIX.md <(tools/gen-matrix.sh); }

expect symbols same_symbols
expect all-symbols all_symbols
expect debian-symbols debian_symbols
expect abidiff nothing_changed
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
