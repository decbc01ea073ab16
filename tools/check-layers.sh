#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each layer of src/ may name only the layers listed for it here (docs/architecture.md).
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A below=(
    [errno]=''
    [diag]='sys'
    [ctypes]=''
    [uapi]=''
    [sync]='errno'
    [sys]='errno'
    [ucma]='errno diag uapi sys sync'
    [verbs]='errno diag ctypes sys sync'
    [resolve]='errno diag ctypes uapi sys sync'
    [cm]='errno diag ctypes uapi sys sync resolve ucma verbs'
    [rsocket]='errno diag ctypes uapi sys sync resolve ucma verbs cm'
    [capi]='errno diag ctypes sync resolve cm rsocket'
    [fuzz]='errno diag ctypes uapi sys sync resolve ucma verbs cm rsocket capi'
)

bad=0
for path in src/*; do
    layer=$(basename "$path" .rs)
    [[ $layer != lib ]] || continue
    if [[ ! -v below[$layer] ]]; then
        echo "$path: not a layer"
        bad=1
        continue
    fi
    while IFS=: read -r file line name; do
        name=${name#crate::}
        if [[ $name != "$layer" && " ${below[$layer]} " != *" $name "* ]]; then
            echo "$file:$line: $layer must not use $name"
            bad=1
        fi
    done < <(grep -rnoE 'crate::[a-z_]+' "$path" --include='*.rs' -H)
done
if grep -rn 'crate::{' src; then
    echo "name one layer in each use: grouped imports are not checked"
    bad=1
fi
# The object that is preloaded speaks to the library by the C ABI alone, and calls no standard library that would call it.
if sed -n '/^\[dependencies\]/,/^\[/p' preload/Cargo.toml | grep -E '^[a-z]' | grep -v '^libc '; then
    echo "preload/Cargo.toml: nothing but libc"
    bad=1
fi
exit $bad
