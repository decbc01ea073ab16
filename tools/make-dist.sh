#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: make-dist.sh VERSION SDK DIRECTORY
# Packs what is committed, the crates that it needs, and the kernel's headers for RDMA out of the SDK, which tests compare
# with: with that neither a build nor its tests need a network. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1 sdk=$2 target=$3
name=librdmacm-rs-$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/$name

mkdir -p "$tree/.cargo" "$tree/sdk/kernel/usr/include" "$target"
git archive HEAD | tar -x -C "$tree"
cargo vendor --locked --quiet --versioned-dirs "$tree/vendor" >/dev/null
cat >"$tree/.cargo/config.toml" <<'END'
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"
END
cp -r "$sdk/kernel/usr/include/rdma" "$tree/sdk/kernel/usr/include/"
tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s \
    --mtime="@$(git log -1 --format=%ct)" -c "$name" | xz -T1 >"$target/$name.tar.xz"
echo "$target/$name.tar.xz"
