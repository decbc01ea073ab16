#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The man pages: what mandoc finds, references to pages that there are not, functions without a page and pages of functions
# that there are not.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

complain() {
    echo "$1"
    failed=1
}

# Of other packages' pages mandoc knows only what this machine has; ours are looked at below. Long lines are for an editor.
mandoc -Tlint -W style man/*.[1-9] 2>/dev/null |
    grep -v -e 'referenced manual not found' -e 'longer than 80 bytes' -e 'mandoc.db' >"$scratch/lint" || true
[[ ! -s $scratch/lint ]] || complain "$(cat "$scratch/lint")"

for page in man/*.[1-9]; do
    for name in $(tools/man-names.sh "$page"); do echo "$name ${page##*.}"; done
done | sort >"$scratch/names"
double=$(uniq -d "$scratch/names")
[[ -z $double ]] || complain "on two pages: $double"

# Functions of the object, and the inline ones of the headers but those that are said not to be for applications.
{
    tools/list-symbols.sh abi/librdmacm.map | cut -d' ' -f1
    for header in include/rdma/rdma_cma.h include/rdma/rdma_verbs.h; do
        tools/list-declarations.sh "$header" | sed -n 's/^FUNCTION([^(]* \([a-z_0-9]*\) (.*/\1/p'
    done | grep -v '^rdma_verbs_'
} | sort -u >"$scratch/functions"
sed -n 's/ 3$//p' "$scratch/names" | sort -u >"$scratch/pages"
without=$(comm -23 "$scratch/functions" "$scratch/pages")
[[ -z $without ]] || complain "without a page: $without"
unknown=$(comm -13 "$scratch/functions" "$scratch/pages")
[[ -z $unknown ]] || complain "a page of what is no function: $unknown"

# What is in sections 3 and 7 and begins so is ours.
grep -ohE '\bXr (r[a-z_]+ [37]|librspreload 7|librdmacm-sim 1|rdmacm-doctor 1)\b' man/*.[1-9] | cut -d' ' -f2- | sort -u |
    comm -23 - "$scratch/names" >"$scratch/dangling"
[[ ! -s $scratch/dangling ]] || complain "no such page: $(cat "$scratch/dangling")"
exit $failed
