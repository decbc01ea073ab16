#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Prints the C header from the Rust source:  tools/gen-headers.sh [FILE]   (default include/rdma/rdma_cma.h)
# CBINDGEN names the program to use, version 0.29.
set -euo pipefail
cd "$(dirname "$0")/.."

cbindgen=${CBINDGEN:-cbindgen}
output=${1:-include/rdma/rdma_cma.h}
sources=(src/ctypes/cma.rs src/ctypes/addrinfo.rs)
for file in src/capi/*.rs; do
    [[ $file == src/capi/rsocket.rs ]] || sources+=("$file")
done

if ! command -v "$cbindgen" >/dev/null; then
    echo "gen-headers: $cbindgen not found; 'make deps' installs it" >&2
    exit 1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# One file of all sources, as cbindgen does not look into modules of a lone file. On the way
# - the enums come out of their macro, which cbindgen cannot expand;
# - comments lose what speaks to a Rust caller: the last section "# Safety", links and code marks.
prepare() {
    local file
    for file; do
        echo "mod $(basename "$file" .rs)_ {"
        sed -E '/^c_enum! \{/,/^\}$/ { s/^c_enum! .*/#[repr(C)]/; /^\}$/d }
                /^ *\/\/\/ # Safety/,/^ *[^ \/]/ { /^ *\/\/\//d }
                /^ *\/\/\// { s/\/\/\/ # (.*)/\/\/\/ \1:/; s/\[`([^]]*)`\]/\1/g; s/`//g }' "$file"
        echo '}'
    done
}

# cbindgen names every type; C's header has unions that stand where their only member is (without a name they are an
# extension to C99 that compilers want to see marked), and a comment of one sentence fits one line.
tidy() {
    awk '
        function put(line) {
            if (union) body[union] = body[union] "    " line "\n"
            else print line
        }
        function flush_comment(    i) {
            while (lines && comment[lines] ~ /^ *\*$/) lines--
            if (lines == 1 && length(comment[1]) < 107) {
                sub(/\* /, "/** ", comment[1])
                sub(/^ /, "", comment[1])
                put(comment[1] " */")
            } else if (lines) {
                put(indent "/**")
                for (i = 1; i <= lines; i++) put(comment[i])
                put(indent " */")
            }
            lines = 0
        }
        /^ *\/\*\*$/ { indent = $0; sub(/\/.*/, "", indent); in_comment = 1; next }
        in_comment && /^ *\*\/$/ { in_comment = 0; next }
        in_comment { comment[++lines] = $0; next }
        /^union [a-z_]+ \{$/ { lines = 0; union = $2; next }
        union && /^\};$/ { union = ""; getline; next }
        { flush_comment() }
        /^ +union rdma_/ && $2 in body {
            if ($3 == ";") printf "    __extension__ union {\n%s    };\n", body[$2]
            else printf "    union {\n%s    } %s\n", body[$2], $3
            next
        }
        { sub(/^enum  \{/, "enum {"); put($0) }
    '
}

prepare "${sources[@]}" >"$scratch/all.rs"
"$cbindgen" --quiet --config cbindgen.toml "$scratch/all.rs" >"$scratch/raw.h"
mkdir -p "$(dirname "$output")"
tidy <"$scratch/raw.h" >"$scratch/tidy.h"
mv "$scratch/tidy.h" "$output"
