#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tools/fuzz.sh run TARGET|all SECONDS: looks for inputs that break a decoder, one target after the other. Inputs that
#     reach something new are kept in build/fuzz; one that breaks it is named, and ends the run.
# tools/fuzz.sh keep TARGET|all: makes fuzz/corpus/TARGET the smallest set of all inputs known that reaches as much.
#
# $CARGO_FUZZ is where the Makefile expects cargo-fuzz, $CARGO_FUZZ_VERSION which one.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! "$CARGO_FUZZ" --version 2>/dev/null | grep -qx "cargo-fuzz $CARGO_FUZZ_VERSION"; then
    echo "building cargo-fuzz $CARGO_FUZZ_VERSION"
    cargo install --quiet --locked --force --version "$CARGO_FUZZ_VERSION" --root "${CARGO_FUZZ%/bin/cargo-fuzz}" cargo-fuzz
fi

# Coverage of branches and the address sanitizer are for compilers under development; a stable one has them too.
export RUSTC_BOOTSTRAP=1
work=$PWD/build/fuzz
fuzz() { "$CARGO_FUZZ" run --target-dir "$work/target" "$@" -artifact_prefix="$work/"; }

options=(-max_len=4096 -rss_limit_mb=2048 -timeout=20 -print_final_stats=1)

mapfile -t targets < <(basename -s .rs fuzz/fuzz_targets/*.rs)
[[ $2 == all ]] || targets=("$2")
for target in "${targets[@]}"; do
    found=$work/corpus/$target kept=fuzz/corpus/$target
    mkdir -p "$found" "$kept"
    echo "== $target"
    case $1 in
        run) fuzz "$target" "$found" "$kept" -- "${options[@]}" -max_total_time="$3" ;;
        keep)
            rm -rf "$work/smallest"
            mkdir "$work/smallest"
            fuzz "$target" "$work/smallest" "$kept" "$found" -- "${options[@]}" -set_cover_merge=1 -use_counters=0
            rm -r "$kept"
            mv "$work/smallest" "$kept"
            ;;
        *) exit 2 ;;
    esac
done
