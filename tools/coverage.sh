#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Prints which part of the lines of each layer the unit tests and the C tests on the simulator reach together. The lines
# that none reaches are listed in build/coverage/missing.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$PWD/build/coverage
mkdir -p "$work"
rm -rf "$work/raw" "$work/missing"

# The compiler's own LLVM may be packaged; an older one does not understand what it writes.
llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
tool() { command -v "$1-$llvm" || command -v "/usr/lib/llvm-$llvm/bin/$1"; }
if ! tool llvm-profdata >/dev/null; then
    tools/install-deps.sh "llvm-$llvm"
fi
profdata=$(tool llvm-profdata) cov=$(tool llvm-cov)

# Counters live in the file of the process and its forked children: so they count whatever way those end.
export RUSTFLAGS="-Cinstrument-coverage -Cllvm-args=-runtime-counter-relocation"
export CARGO_TARGET_DIR=$work/target

# The compiler itself runs instrumented code too.
export LLVM_PROFILE_FILE=/dev/null

echo "== unit tests"
cargo test --locked --quiet --lib --no-run --message-format=json-render-diagnostics |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' >"$work/unit-tests"
read -r unit_tests <"$work/unit-tests"
LLVM_PROFILE_FILE=$work/raw/unit/%p%c.profraw "$unit_tests" --quiet

echo "== C tests on the simulator"
# Without optimisation: then a line is what stands in the source.
cargo rustc --locked --quiet --lib --crate-type staticlib
library=$work/library
make --no-print-directory "BUILD=$library" "ARCHIVE=$work/target/debug/librdmacm.a" "$library/librdmacm.so.1"
ln -sfn ../../sim "$library/sim"
ln -sfn ../../tests "$library/tests"
# Not its own lines: those of the sockets that it leads to.
ln -sfn ../../librspreload.so "$library/librspreload.so"
# What fails here fails in `make test` as well, and is told there.
export LLVM_PROFILE_FILE=$work/raw/library/%p%c.profraw
# Few rounds reach as much as many.
export TEST_ROUNDS=10 TEST_EVENTS=300 TEST_SCALE=10
LAB_LIBS=ours tests-c/sim/suites.sh "$library" - || true
# What these suites leave out, for the lab or for the sake of time.
programs=(getaddrinfo option addrinfo bells bells_threads bells_readable api/racing)
programs+=(rsocket/{epoll,epoll_members,epoll_random,ending,forking})
# The program of ibacm puts a service of its own into /run.
alone=()
if [[ $(id -u) -eq 0 ]]; then
    programs+=(ibacm)
    alone=(unshare --mount sh -c 'mount -t tmpfs none /run && exec "$@"' sh)
fi
for program in "${programs[@]}"; do
    "${alone[@]}" timeout 300 env "LD_PRELOAD=$library/librdmacm.so.1" build/sim/librdmacm-sim "build/tests/$program" || true
done

# lines NAME OBJECT: which lines were reached in that object. Each has its own: functions of the C ABI have the same name
# in both, and are not the same.
lines() {
    find "$work/raw/$1" -name '*.profraw' >"$work/$1-files"
    "$profdata" merge --sparse --failure-mode=all -o "$work/$1.profile" --input-files="$work/$1-files"
    "$cov" export --format=lcov --instr-profile "$work/$1.profile" "$2" --sources src
}
{ lines unit "$unit_tests"; lines library "$library/librdmacm.so.1"; } >"$work/lcov"

# Of each file only what is in the library counts: tests stand at its end.
awk -v root="$PWD/src/" -v missing="$work/missing" '
    /^SF:/ {
        path = substr($0, 4)
        file = substr(path, length(root) + 1)
        layer = file
        sub(/[\/.].*/, "", layer)
        tests = 1e9
        for (number = 1; (getline line < path) > 0; number++)
            if (before == "#[cfg(test)]" && line ~ /^mod tests/) tests = number; else before = line
        close(path)
        # All else is for tests only.
        counts = layer != "fuzz" && file != "ucma/stand_in.rs" && file !~ /tests\.rs$/
    }
    /^DA:/ && counts {
        split(substr($0, 4), at, ",")
        if (at[1] < tests) count[file ":" at[1]] += at[2]
    }
    END {
        for (place in count) {
            layer = place
            sub(/[\/.].*/, "", layer)
            lines[layer]++
            if (count[place] > 0) reached[layer]++; else print "src/" place | "sort -t: -k1,1 -k2,2n >" missing
        }
        for (layer in lines) {
            printf "%-8s %5.1f %%  %5d of %5d lines\n", layer, 100 * reached[layer] / lines[layer], reached[layer],
                lines[layer] | "sort"
            all += lines[layer]
            there += reached[layer]
        }
        close("sort")
        printf "%-8s %5.1f %%  %5d of %5d lines\n", "all", 100 * there / all, there, all
    }' "$work/lcov"
