#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What documents name: files and headings that links lead to, targets of make, and the figures in the README, which have to be
# those of docs/performance.md.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
complain() {
    echo "$1"
    failed=1
}

# A heading's name in links, as GitHub makes it.
headings() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }

mapfile -t documents < <(git ls-files '*.md')
for document in "${documents[@]}"; do
    while read -r link; do
        file=${link%%#*} heading=
        [[ $link != *'#'* ]] || heading=${link#*#}
        target=$(dirname "$document")/$file
        [[ -n $file ]] || target=$document
        if [[ ! -e $target ]]; then
            complain "$document: there is no $file"
        elif [[ -n $heading ]] && ! headings "$target" | grep -qxF -e "$heading"; then
            complain "$document: $target has no heading $heading"
        fi
    done < <(grep -oE '\]\([^)]+\)' "$document" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' || true)
done

# Of all makefiles, which the first one includes.
targets=$({ make -qp 2>/dev/null || true; } | sed -n 's/^\.PHONY: //p' | tr ' ' '\n')
while read -r target; do
    grep -qxF -e "$target" <<<"$targets" || complain "make has no target $target, which a document names"
done < <(grep -hoE '(^    |`)make [a-z][a-z-]*' "${documents[@]}" | sed 's/.*make //' | sort -u)

while read -r figure; do
    grep -qw "$figure" docs/performance.md || complain "README.md: $figure is no figure of docs/performance.md"
done < <(sed -n '/^## What it costs/,/^## /p; /^| cost of write/p' README.md | grep -oE '\b[0-9]{4,}\b')
exit $failed
