#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: list-symbols.sh MAP
# Prints "symbol node" for each symbol that a version script makes global, sorted.
set -euo pipefail
sed 's|/\*.*\*/||' "$1" | awk '
    /^[A-Z].* \{/ { node = $1; next }
    /global:/ { global = 1 } /local:/ { global = 0 } /^}/ { global = 0 }
    global && /;/ { gsub(/[ \t;]/, ""); print $0, node }' | sort
