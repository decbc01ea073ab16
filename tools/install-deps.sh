#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Installs what building and checking need and the machine lacks: Debian packages, and the header generator cbindgen
# into the cache ($CBINDGEN is where the Makefile expects it, $CBINDGEN_VERSION which one).
set -euo pipefail

packages=(gcc g++ libc6-dev make binutils libibverbs-dev shellcheck)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [[ ${#missing[@]} -gt 0 ]]; then
    echo "installing ${missing[*]}"
    as_root=()
    [[ $(id -u) -eq 0 ]] || as_root=(sudo)
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
fi

if ! "$CBINDGEN" --version 2>/dev/null | grep -qx "cbindgen $CBINDGEN_VERSION"; then
    echo "building cbindgen $CBINDGEN_VERSION"
    cargo install --quiet --locked --force --version "$CBINDGEN_VERSION" --root "${CBINDGEN%/bin/cbindgen}" cbindgen
fi
