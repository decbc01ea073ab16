#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Upstream's own Python tests of the connection manager, three times in a row; once where it is only about the place of the library.
source /work/lab/guest/lib.sh

ROUNDS=3 TESTS=11 ROUND_SECONDS=300 PACKAGED=/usr/share/doc/rdma-core/tests

[[ $LAB_LIB != installed ]] || ROUNDS=1
rdma_up || exit 1
trap rdma_down EXIT

# The package holds some of them compressed. The others would only be loaded.
rm -rf /run/pyverbs
mkdir -p /run/pyverbs
cp -r "$PACKAGED" /run/pyverbs/
gunzip /run/pyverbs/tests/*.gz
find /run/pyverbs/tests -name 'test_*' ! -name test_rdmacm.py -delete
cd /run/pyverbs || exit 1

# run_round NUMBER: what unittest prints, as results.
run_round() {
    local round=$1 line name='' count=0
    # shellcheck disable=SC2046
    while IFS= read -r line; do
        [[ ! $line =~ ^(test_[a-z0-9_]+)\  ]] || name=round-$round/${BASH_REMATCH[1]}
        case $line in
            *"... ok") ok "$name" ;;
            *"... skipped"*) not_ok "$name" "skipped, ${line##*... skipped }" ;;
            *"... FAIL" | *"... ERROR") not_ok "$name" "${line##*... }" ;;
            *) echo "# $line"; continue ;;
        esac
        count=$((count + 1))
    done < <(timeout -k 5 "$ROUND_SECONDS" env $(preload) python3 -u tests/run_tests.py -v tests.test_rdmacm 2>&1)
    wait $!
    local status=$?
    [[ $status -eq 0 && $count -eq $TESTS ]] || not_ok "round-$round" "$count tests of $TESTS, status $status"
}

for ((round = 1; round <= ROUNDS; round++)); do
    run_round "$round"
done
