#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# compare.sh OURS_DIR SYSTEM_DIR DIFFERENCES.md: holds what the test programs printed with this library and with the
# C library against each other. A case that differs needs a row in the table of differences; a row whose case does
# not differ has to go. A row may also stand for every case that fails with its words, with the C library only: their
# first column is no PROGRAM/CASE. Each directory has one PROGRAM.out for each program; names with a further dot are runs under
# a checker and are left out.
set -euo pipefail

[[ $# -eq 3 ]] || { echo "usage: compare.sh OURS_DIR SYSTEM_DIR DIFFERENCES.md" >&2; exit 2; }
ours=$1 system=$2 table=$3

programs() {
    local file
    for file in "$1"/*.out; do
        [[ -f $file ]] || continue
        file=$(basename "$file" .out)
        [[ $file == *.* ]] || echo "$file"
    done
}

# SIDE PROGRAM/CASE LINE, separated by tabs.
facts() {
    local side=$1 dir=$2 program
    programs "$dir" | while read -r program; do
        sed -nE "s,^((ok|not ok|skip|#) ([^ :]+).*)$,$side\t$program/\3\t\1,p" "$dir/$program.out"
    done
}

if ! diff <(programs "$ours") <(programs "$system"); then
    echo "compare: not the same programs in $ours and $system" >&2
    exit 1
fi

{
    sed -nE 's,^\| `([^`]+)` \|.*$,row\t\1,p' "$table"
    facts ours "$ours"
    facts system "$system"
} | awk -F '\t' '
    function ends_with(text, end) { return substr(text, length(text) - length(end) + 1) == end }
    $1 == "row" && $2 !~ /\// { words[$2]; next }
    $1 == "row" { row[$2] = 1; next }
    {
        said[$1, $2] = said[$1, $2] "    " $1 ": " $3 "\n"
        plain[$1, $2] = plain[$1, $2] $3 "\n"
        if ($3 ~ /^skip /) skipped[$2] = 1
        if ($1 == "system" && $3 ~ /^not ok /) for (end in words) if (ends_with($3, ": " end)) worded[$2] = 1
        if (!($2 in known)) { known[$2] = 1; name[++count] = $2 }
        sub(/\/.*/, "", $2)
        ran[$2] = 1
    }
    END {
        for (i = 1; i <= count; i++) {
            test = name[i]
            if (test in skipped) { left++; continue }
            if (plain["ours", test] == plain["system", test]) {
                same++
                if (test in row) { bad++; print "no difference, but a row: " test }
            } else if (test in row || test in worded) {
                documented++
            } else {
                bad++
                printf "differs without a row: %s\n%s%s", test, said["ours", test], said["system", test]
            }
        }
        for (test in row) {
            program = test
            sub(/\/.*/, "", program)
            if (program in ran && !(test in known)) { bad++; print "row of a case that does not exist: " test }
        }
        printf "compare: %d cases alike, %d differ as documented, %d skipped, %d wrong\n", same, documented, left, bad
        exit bad > 0 || count == 0
    }'
