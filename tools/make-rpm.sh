#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: make-rpm.sh ARCHIVE DIRECTORY
# Builds the RPM packages from the archive of `make dist`, also on Debian.
set -euo pipefail
cd "$(dirname "$0")/.."

archive=$(realpath "$1") target=$(realpath -m "$2")
command -v rpmbuild >/dev/null || tools/install-deps.sh rpm
name=$(basename "$archive" .tar.xz)
rm -rf "$target"
mkdir -p "$target"
# Debian's rpm knows none of its packages.
nodeps=()
rpm -q rpm >/dev/null 2>&1 || nodeps=(--nodeps)
rpmbuild -ba "${nodeps[@]}" --define "_topdir $target/build" --define "_sourcedir $(dirname "$archive")" \
    --define "_rpmdir $target" --define "_srcrpmdir $target" --define "upstream ${name##*-}" packaging/rpm/librdmacm-rs.spec
