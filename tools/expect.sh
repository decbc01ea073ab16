# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by checks of properties, which say in $group what they are about, and exit with $failed.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# What the caller exits with.
# shellcheck disable=SC2034
failed=0

# expect NAME COMMAND...: one property; what the command printed is shown if it fails.
expect() {
    local name=${group:?names the check}/$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        echo "ok $name"
    else
        cat "$scratch/log"
        echo "not ok $name"
        # shellcheck disable=SC2034
        failed=1
    fi
}
