#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs every test and check, and ends with "N passed, N failed, N skipped"; the logs are kept in build/test.
# LAB_KERNELS and LAB_OLD_KERNELS name the kernels that the lab boots.
set -euo pipefail
cd "$(dirname "$0")/.."

logs=build/test
mkdir -p "$logs"
rm -rf build/lab/out
passed=0 failed=0 skipped=0
failures=()

count() { grep -cE "$1" "$2" || true; }
# Sums the number in front of WORD in the closing lines of cargo's test runner.
cargo_count() { awk -v word="$1" '/^test result:/ { for (i = 2; i <= NF; i++) if ($i ~ "^" word) sum += $(i - 1) }
    END { print sum + 0 }' "$2"; }

# step NAME COMMAND...: results are cargo's closing lines, and lines "ok …", "not ok …", "skip …". A step that has
# none is a test by itself; one that fails without saying of what counts as a failure too.
step() {
    local name=$1 log=$logs/$1.log status=0 good bad ignored start=$SECONDS
    shift
    echo "== $name"
    "$@" 2>&1 | tee "$log" || status=1
    good=$(($(count '^ok ' "$log") + $(cargo_count passed "$log")))
    bad=$(($(count '^not ok ' "$log") + $(cargo_count failed "$log")))
    ignored=$(($(count '^skip(ped)? ' "$log") + $(cargo_count ignored "$log")))
    if [[ $status -ne 0 && $bad -eq 0 ]]; then
        bad=1
    elif [[ $((good + bad + ignored)) -eq 0 ]]; then
        good=1
    fi
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + ignored))
    [[ $bad -eq 0 ]] || failures+=("$log")
    echo "== $name: $good passed, $bad failed, $ignored skipped in $((SECONDS - start)) s"
}

RDMACM_UAPI_INCLUDE=$(kernel-lab/lab sdk)/kernel/usr/include
export RDMACM_UAPI_INCLUDE

step build make --no-print-directory -j"$(nproc)" programs
step lint make --no-print-directory lint
step msrv tools/check-msrv.sh
step rust cargo test --locked --quiet
step models env CARGO_TARGET_DIR=build/models cargo test --locked --quiet --manifest-path tests/models/Cargo.toml
step check-abi make --no-print-directory check-abi
step check-headers make --no-print-directory check-headers
step check-install make --no-print-directory check-install
step check-examples make --no-print-directory check-examples
step check-doctor make --no-print-directory check-doctor
FAULTS_EVERY=10 FAULTS_MACHINES="roce ip-only iwarp abi-3" step faults make --no-print-directory test-faults FAULTS_LIB=ours
step lab make --no-print-directory lab "KERNEL=$LAB_KERNELS" SUITE="$LAB_SUITES" LIB=both
[[ -z $LAB_OLD_KERNELS ]] ||
    step lab-old make --no-print-directory lab "KERNEL=$LAB_OLD_KERNELS" SUITE="$LAB_OLD_SUITES" LIB=ours
# The C library's hangs are waited for, which takes ten minutes a machine: on one of the large ones only.
step sim make --no-print-directory test-sim MACHINE="roce subnet"
LAB_LIBS=ours step sim-others make --no-print-directory test-sim \
    MACHINE="infiniband iwarp no-user-events ip-only abi-3"
step checked make --no-print-directory test-checked
for results in build/lab/out/*; do
    [[ -d $results/system ]] || continue
    kernel=$(basename "$results")
    for suite in user-event api resolve two-hosts; do
        ! compgen -G "$results/*/$suite/*.out" >/dev/null ||
            step "compare-$kernel-$suite" tests-c/compare.sh "$results"/{ours,system}/"$suite" docs/differences.md
    done
done

step lab-programs make --no-print-directory lab "KERNEL=$LAB_KERNELS" SUITE="$LAB_PROGRAM_SUITES" LIB=ours,installed
step lab-installed make --no-print-directory lab "KERNEL=$LAB_KERNELS" SUITE="$LAB_INSTALLED_SUITES" LIB=installed

for log in "${failures[@]}"; do
    echo "== $log: what failed, or how it ended"
    grep -aE '^not ok |^test .* FAILED$' "$log" || tail -n 20 "$log"
done
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 && $passed -gt 0 ]]
