#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compiles with the oldest compiler that Cargo.toml promises to do with: clippy does not see every newer construct.
# Prints "ok", "not ok" or "skip" like a test.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
toolchain=$version.0
if ! cargo "+$toolchain" --version &>/dev/null &&
    ! { command -v rustup && rustup toolchain install "$toolchain" --profile minimal; } &>/dev/null; then
    echo "skip msrv: there is no Rust $toolchain, and rustup cannot fetch it"
elif CARGO_TARGET_DIR=build/msrv cargo "+$toolchain" check --locked --workspace --quiet; then
    echo "ok msrv $toolchain"
else
    echo "not ok msrv: Rust $toolchain does not compile it"
    exit 1
fi
