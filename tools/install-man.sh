#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: install-man.sh DIRECTORY
# Installs the man pages, and for each further name of a page a file that leads there.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$1
for page in man/*.[1-9]; do
    section=${page##*.}
    file=$(basename "$page")
    install -d "$target/man$section"
    install -m 644 "$page" "$target/man$section/$file"
    for name in $(tools/man-names.sh "$page"); do
        [[ $name.$section == "$file" ]] || echo ".so man$section/$file" >"$target/man$section/$name.$section"
    done
done
