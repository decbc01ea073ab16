#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: list-usable.sh FILE...
# Prints which of these C programs call only functions of the connection manager that exist by now.
set -euo pipefail
cd "$(dirname "$0")/.."

calls() { grep -ohE '\brdma_[a-z_]+\(' "$@" | tr -d '(' | sort -u; }

existing=$({ tools/list-symbols.sh abi/librdmacm.map | cut -d' ' -f1
             grep -hE '^static inline ' include/rdma/*.h | calls; } | sort -u)
for file; do
    [[ -n $(comm -23 <(calls "$file") <(echo "$existing")) ]] || echo "$file"
done
