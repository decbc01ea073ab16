#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds the header generator in the cache: $CBINDGEN is where the Makefile expects it, $CBINDGEN_VERSION which one.
set -euo pipefail

if ! "$CBINDGEN" --version 2>/dev/null | grep -qx "cbindgen $CBINDGEN_VERSION"; then
    echo "building cbindgen $CBINDGEN_VERSION"
    cargo install --quiet --locked --force --version "$CBINDGEN_VERSION" --root "${CBINDGEN%/bin/cbindgen}" cbindgen
fi
