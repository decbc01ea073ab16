#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Holds the C headers against the Rust source and against the headers of the distribution.
# SDK names a folder with the distribution's usr/include; without it the kernel lab fetches one.
set -euo pipefail
cd "$(dirname "$0")/.."

generated=rdma/rdma_cma.h
headers=("$generated" rdma/rdma_verbs.h rdma/rsocket.h rdma/rdma_cma_abi.h infiniband/ib.h)
sdk=${SDK:-$(kernel-lab/lab sdk)}
system=$sdk/usr/include
for header in "${headers[@]}"; do
    [[ -e $system/$header ]] || { echo "check-headers: no $system/$header" >&2; exit 1; }
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
warnings=(-Wall -Wextra -Wshadow -Werror -pedantic)
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

# compiles "HEADER..." FLAG...: in all standards, each header twice.
compiles() {
    local names=$1 standard
    shift
    # shellcheck disable=SC2086
    printf '#include <%s>\n' $names $names | tee "$scratch/use.c" >"$scratch/use.cpp"
    for standard in c99 c11 gnu17; do
        "${CC:-cc}" -std=$standard "${warnings[@]}" "$@" -fsyntax-only "$scratch/use.c" || return 1
    done
    for standard in c++11 c++17 c++20; do
        "${CXX:-c++}" -std=$standard "${warnings[@]}" "$@" -fsyntax-only "$scratch/use.cpp" || return 1
    done
}

# The distribution has no helpers of our own.
declarations() {
    tools/list-declarations.sh "$1" | grep -v ' rdma_verbs_' | sort
}

same_declarations() {
    diff <(declarations "$system/$1") <(declarations "include/$1")
}

measurable() {
    declarations "$system/$1" | grep -E '^(TYPE|FIELD|VALUE)\('
}

prototypes() {
    awk '/^[a-z_].*[a-z_]+\(/ && !/^static/ { on = 1 } on { print } /;$/ { on = 0 }' "include/$1"
}

function_names() {
    grep -oE '\b[a-z_]+\(' | sort -u
}

source_functions() {
    find src/capi -name '*.rs' -exec sed -nE 's/^pub (unsafe )?extern "C" fn ([a-z_]+\().*/\2/p' {} + | sort
}

# The printer leaves out in silence a function that it does not understand.
every_function() {
    local missing
    missing=$(comm -23 <(source_functions) <(for header in "${headers[@]}"; do prototypes "$header"; done | function_names))
    [[ -z $missing ]] || { echo "no prototype: $missing"; return 1; }
}

no_new_functions() {
    local unknown
    unknown=$(comm -23 <(prototypes "$1" | grep -oE '^[a-z_].*\b[a-z_]+\(' | function_names) \
                       <(function_names <"$system/$1"))
    [[ -z $unknown ]] || { echo "not in rdma-core: $unknown"; return 1; }
}

# The original refuses a second, different declaration.
again() {
    {
        echo "#include <$1>"
        printf '#ifdef __cplusplus\nextern "C" {\n#endif\n'
        prototypes "$1"
        printf '#ifdef __cplusplus\n}\n#endif\n'
    } | tee "$scratch/again.c" >"$scratch/again.cpp"
    "${c[@]}" "${theirs[@]}" -fsyntax-only "$scratch/again.c" &&
        "${cxx[@]}" "${theirs[@]}" -fsyntax-only "$scratch/again.cpp"
}

# layout_list.h names all that the header declares, so that none goes unmeasured.
list_is_complete() {
    local missing
    missing=$(comm -23 <(measurable "$generated") \
        <(sed -E 's/^FIELD_AS\(([a-z]+, [a-z_]+, [a-z_0-9.]+), [a-z_0-9.]+,/FIELD(\1,/' tests-c/abi/layout_list.h | sort))
    [[ -z $missing ]] || { echo "not measured: $missing"; return 1; }
}

# build_and_run SOURCE OUTPUT FLAG...
build_and_run() {
    local source=$1 output=$2
    shift 2
    "${c[@]}" "$@" "$source" -o "$output.bin" && "$output.bin" >"$output"
}

# layouts WHAT FLAG...: types, offsets, sizes and values, the same in both headers.
layouts() {
    local what=$1 flags=()
    shift
    flags=("$@")
    step "$what: layout with the original" build_and_run tests-c/abi/layout.c "$scratch/theirs" "${flags[@]}" "${theirs[@]}"
    step "$what: layout with ours" build_and_run tests-c/abi/layout.c "$scratch/ours" "${flags[@]}" "${ours[@]}"
    step "$what: layouts and values are equal" diff "$scratch/theirs" "$scratch/ours"
}

# The inline functions do the same on the same device.
inlines() {
    local optimize
    for optimize in -O0 -O2; do
        build_and_run tests-c/abi/verbs.c "$scratch/theirs" "$optimize" "${theirs[@]}" &&
            build_and_run tests-c/abi/verbs.c "$scratch/ours" "$optimize" "${ours[@]}" &&
            diff "$scratch/theirs" "$scratch/ours" || return 1
    done
}

inline_errors() {
    "$scratch/ours.bin" errors >"$scratch/errors" && [[ -s $scratch/errors ]] &&
        ! grep -E '^  = ' "$scratch/errors" | grep -vE '= (-1|NULL), errno (5|22)$'
}

tools/gen-headers.sh "$scratch/generated.h"
step "$generated is the one that the source prints" diff "include/$generated" "$scratch/generated.h"
step "every entry point has a prototype" every_function
step "all headers in C and C++" compiles "${headers[*]}" "${ours[@]}"

for header in "${headers[@]}"; do
    step "$header: in C and C++, alone" compiles "$header" "${ours[@]}"
    # As where the other headers come from another package.
    mkdir -p "$scratch/$header.alone/$(dirname "$header")"
    cp "include/$header" "$scratch/$header.alone/$header"
    step "$header: among the distribution's" compiles "${headers[*]}" -I"$scratch/$header.alone" "${theirs[@]}"
    step "$header: declares what the original does" same_declarations "$header"
    step "$header: every function is one of the original's" no_new_functions "$header"
    step "$header: the original accepts every prototype" again "$header"
done

for header in rdma/rdma_cma_abi.h infiniband/ib.h; do
    measurable "$header" >"$scratch/list.h"
    list=("-DHEADER=<$header>" "-DLIST=\"$scratch/list.h\"")
    step "$header: field types of the original" "${cxx[@]}" "${list[@]}" "${theirs[@]}" -fsyntax-only tests-c/abi/types.cpp
    step "$header: field types of ours" "${cxx[@]}" "${list[@]}" "${ours[@]}" -fsyntax-only tests-c/abi/types.cpp
    layouts "$header" "${list[@]}"
done

step "$generated: every type and value is measured" list_is_complete
step "$generated: field types of the original" "${cxx[@]}" "${theirs[@]}" -fsyntax-only tests-c/abi/types.cpp
step "$generated: field types of ours" "${cxx[@]}" "${ours[@]}" -fsyntax-only tests-c/abi/types.cpp
layouts "$generated"
if [[ $(getconf LONG_BIT) == 64 ]]; then
    step "$generated: layout as in abi/layout.golden" diff abi/layout.golden "$scratch/theirs"
fi
if echo 'int main(void) { return 0; }' >"$scratch/m32.c" && "${c[@]}" -m32 "$scratch/m32.c" -o "$scratch/m32" \
    2>/dev/null && "$scratch/m32"; then
    layouts "$generated, 32 bits" -m32
    measurable rdma/rdma_cma_abi.h >"$scratch/list.h"
    layouts "rdma/rdma_cma_abi.h, 32 bits" -m32 '-DHEADER=<rdma/rdma_cma_abi.h>' "-DLIST=\"$scratch/list.h\""
else
    echo "skipped 32 bits: ${CC:-cc} -m32 cannot build or run a program here"
fi

step "rdma/rdma_verbs.h: inline functions do what the original's do" inlines
step "rdma/rdma_verbs.h: inline functions answer with errors" inline_errors
