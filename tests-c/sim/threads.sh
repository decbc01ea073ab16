#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: threads.sh BUILD PROGRAM...
# Runs those programs on the simulator with this library under ThreadSanitizer: all of it is compiled for that, and what
# it uses of the standard library too, whose source rustup has. A race ends a case. Prints results as the suites of the
# lab do.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
LAB_WORK=$(cd "$1" && pwd)
shift

sysroot=$(rustc --print sysroot)
if [[ ! -d $sysroot/lib/rustlib/src/rust/library ]] && ! rustup component add rust-src; then
    echo "the source of the standard library is neither in $sysroot nor to be had from rustup" >&2
    exit 1
fi

target=x86_64-unknown-linux-gnu
# Both are for compilers under development; a stable one has them too.
RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=$LAB_WORK/threads/target \
    cargo rustc --locked --quiet --manifest-path "$here/../../Cargo.toml" --lib --crate-type staticlib \
    -Zbuild-std=std,panic_abort --target "$target"
# The sanitizer itself is in the program.
make --no-print-directory -C "$here/../.." "BUILD=$LAB_WORK/threads" LDFLAGS=-Wl,-z,undefs \
    "ARCHIVE=$LAB_WORK/threads/target/$target/debug/librdmacm.a" "$LAB_WORK/threads/librdmacm.so.1"

# Preloaded, it would meet programs that have no sanitizer.
export LD_LIBRARY_PATH=$LAB_WORK/threads
export LAB_WORK LAB_ICOUNT=no LAB_KERNEL=sim-threads LAB_LIB=linked LAB_SUITE=threads
export PATH=$LAB_WORK/sim:$LAB_WORK/sim/bin:$PATH
# Everything is slower, and an order of threads that is wrong is seen without being taken.
export TEST_SCALE=10 TEST_ROUNDS=20 TEST_EVENTS=500 TEST_CONNECTIONS=50
export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0:suppressions=$here/threads.supp
# shellcheck source=/dev/null
source "$here/../../kernel-lab/guest/lib.sh"
# What fails is a result.
set +e

for program; do
    run_program -t 600 -w "$LAB_WORK/sim/librdmacm-sim --script $here/scripts/roce.sim" "$(realpath "$program")"
done | tee "$LAB_WORK/threads.log"
! grep -q '^not ok ' "$LAB_WORK/threads.log"
