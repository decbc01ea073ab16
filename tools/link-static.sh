#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: link-static.sh ARCHIVE MAP OUTPUT
# Makes of Rust's archive the static library that C programs link: one object, where only the symbols of the version
# script are global. So a program can hold other Rust code too, and takes nothing of ours by accident.
set -euo pipefail
archive=$1 map=$2 output=$3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$(dirname "$0")/list-symbols.sh" "$map" | cut -d' ' -f1 >"$scratch/symbols"
mapfile -t wanted < <(sed 's/^/-Wl,-u,/' "$scratch/symbols")

# Groups are resolved here: a group whose name is no longer global would clash with one of the same name elsewhere.
"${CC:-cc}" -r -nostdlib -Wl,--gc-sections -Wl,--force-group-allocation "${wanted[@]}" "$archive" -o "$scratch/librdmacm.o"
# A linker with LLVM's plugin would take an object that has bitcode beside its code for bitcode only.
"${OBJCOPY:-objcopy}" --keep-global-symbols="$scratch/symbols" --remove-section=.llvmbc --remove-section=.llvmcmd \
    "$scratch/librdmacm.o"
rm -f "$output"
"${AR:-ar}" rcsD "$output" "$scratch/librdmacm.o"
