#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: make-deb.sh ARCHIVE DIRECTORY
# Builds the Debian packages from the archive of `make dist`, and has lintian look at them.
set -euo pipefail
cd "$(dirname "$0")/.."

archive=$(realpath "$1") target=$(realpath -m "$2")
for command in dpkg-buildpackage dh lintian; do
    command -v "$command" >/dev/null || tools/install-deps.sh dpkg-dev debhelper lintian
done
name=$(basename "$archive" .tar.xz)
work=$target/build
rm -rf "$work"
mkdir -p "$work"
cp "$archive" "$work/${name%-*}_${name##*-}.orig.tar.xz"
tar -C "$work" -xJf "$archive"
cp -r packaging/debian "$work/$name/debian"
cd "$work/$name"
# A compiler that is no Debian package serves as well.
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
dpkg-buildpackage --no-check-builddeps --no-sign
cd "$work"
lintian --fail-on error --tag-display-limit 0 ./*.changes
mv ./*.deb ./*.dsc ./*.changes ./*.buildinfo ./*.tar.xz "$target"
