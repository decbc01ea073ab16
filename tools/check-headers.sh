#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Holds include/rdma/rdma_cma.h against the Rust source and against the header of the distribution.
# SDK names a folder with the distribution's usr/include; without it the kernel lab fetches one.
set -euo pipefail
cd "$(dirname "$0")/.."

header=include/rdma/rdma_cma.h
sdk=${SDK:-$(kernel-lab/lab sdk)}
system=$sdk/usr/include
original=$system/rdma/rdma_cma.h
[[ -e $original ]] || { echo "check-headers: no $original" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
warnings=(-Wall -Wextra -Werror -pedantic)
c=("${CC:-cc}" -std=c11 "${warnings[@]}")
cxx=("${CXX:-c++}" -std=c++17 "${warnings[@]}")
ours=(-Iinclude -isystem "$system")
theirs=(-isystem "$system")

step() {
    local what=$1
    shift
    if "$@"; then
        echo "ok      $what"
    else
        echo "FAILED  $what"
        exit 1
    fi
}

# A header without comments and included text, as C sees it.
bare() {
    sed '/^#include/d' "$1" | "${CC:-cc}" -E -P -x c -
}

# All names between braces: fields, enum values, the words of their types.
members() {
    bare "$1" | awk '{
        gsub(/[{}]/, "\n&\n")
        count = split($0, parts, "\n")
        for (i = 1; i <= count; i++) {
            if (parts[i] == "{") depth++
            else if (parts[i] == "}") depth--
            else if (depth) print parts[i]
        }
    }' | words
}

macros() {
    sed -nE 's/^#define ([A-Za-z_0-9]+).*/\1/p' "$1" | sort -u
}

words() {
    grep -oE '\b[A-Za-z_][A-Za-z_0-9]*' | sort -u
}

prototypes() {
    awk '/^[a-z_].*rdma_[a-z_]+\(/ && !/^static/ { on = 1 } on { print } /;$/ { on = 0 }' "$header"
}

same_names() {
    diff <("$1" "$original") <("$1" "$header")
}

# The printer leaves out in silence a function that it does not understand.
every_function() {
    diff <(sed -nE 's/^pub (unsafe )?extern "C" fn (rdma_[a-z_]+)\(.*/\2/p' src/capi/*.rs | sort) \
         <(prototypes | sed -nE 's/^.*\b(rdma_[a-z_]+)\(.*/\1/p' | sort)
}

no_new_functions() {
    local unknown
    unknown=$(comm -23 <(prototypes | grep -oE 'rdma_[a-z_]+\(' | sort) \
                       <(bare "$original" | grep -oE 'rdma_[a-z_]+\(' | sort -u))
    [[ -z $unknown ]] || { echo "not in rdma-core: $unknown"; return 1; }
}

# layout_list.h names every macro, enum value and struct, so that none goes unmeasured.
list_is_complete() {
    local missing
    missing=$(comm -23 <({ macros "$original"; members "$original" | grep -E '^(RDMA|RAI)_'
                           bare "$original" | grep -oE '^struct rdma_[a-z_]+ \{' | words | grep -v '^struct$'
                         } | grep -v '^RDMA_CMA_H$' | sort -u) \
                       <(sed -nE 's/^(TYPE\([a-z]+, |VALUE\()([A-Za-z_0-9]+)\)$/\2/p' tests-c/abi/layout_list.h | sort))
    [[ -z $missing ]] || { echo "not measured: $missing"; return 1; }
}

layout() {
    local output=$1
    shift
    "${c[@]}" "$@" tests-c/abi/layout.c -o "$output.bin" && "$output.bin" >"$output"
}

tools/gen-headers.sh "$scratch/generated.h"
step "the header is the one that the source prints" diff "$header" "$scratch/generated.h"

printf '#include <rdma/rdma_cma.h>\n#include <rdma/rdma_cma.h>\n' | tee "$scratch/use.c" >"$scratch/use.cpp"
step "it compiles as C11" "${c[@]}" "${ours[@]}" -fsyntax-only "$scratch/use.c"
step "it compiles as C++17" "${cxx[@]}" "${ours[@]}" -fsyntax-only "$scratch/use.cpp"

step "the macros are the original's" same_names macros
step "the fields and enum values are the original's" same_names members
step "every entry point has a prototype" every_function
step "every function is one of the original's" no_new_functions

{
    echo '#include <rdma/rdma_cma.h>'
    echo '#ifdef __cplusplus'
    echo 'extern "C" {'
    echo '#endif'
    prototypes
    echo '#ifdef __cplusplus'
    echo '}'
    echo '#endif'
} | tee "$scratch/again.c" >"$scratch/again.cpp"
step "the original accepts every prototype (C)" "${c[@]}" "${theirs[@]}" -fsyntax-only "$scratch/again.c"
step "the original accepts every prototype (C++)" "${cxx[@]}" "${theirs[@]}" -fsyntax-only "$scratch/again.cpp"

step "every type and value is measured" list_is_complete
step "field types of the original" "${cxx[@]}" "${theirs[@]}" -fsyntax-only tests-c/abi/types.cpp
step "field types of ours" "${cxx[@]}" "${ours[@]}" -fsyntax-only tests-c/abi/types.cpp
step "layout.c with the original" layout "$scratch/theirs" "${theirs[@]}"
step "layout.c with ours" layout "$scratch/ours" "${ours[@]}"
step "layouts and values are equal" diff "$scratch/theirs" "$scratch/ours"
if [[ $(getconf LONG_BIT) == 64 ]]; then
    step "and equal to abi/layout.golden" diff abi/layout.golden "$scratch/theirs"
fi

if echo 'int main(void) { return 0; }' >"$scratch/m32.c" && "${c[@]}" -m32 "$scratch/m32.c" -o "$scratch/m32" \
    2>/dev/null && "$scratch/m32"; then
    step "layout.c with the original, 32 bits" layout "$scratch/theirs32" -m32 "${theirs[@]}"
    step "layout.c with ours, 32 bits" layout "$scratch/ours32" -m32 "${ours[@]}"
    step "layouts and values are equal, 32 bits" diff "$scratch/theirs32" "$scratch/ours32"
else
    echo "skipped 32 bits: ${CC:-cc} -m32 cannot build or run a program here"
fi
