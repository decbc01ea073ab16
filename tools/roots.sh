# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Debian roots for checks that need another release or another processor, in the folder that $target names; one that is there
# is used again. Sourced from the top of the tree.

suite=trixie
CACHE=${target:?names the folder}
# What the caller exits with.
# shellcheck disable=SC2034
failed=0
mkdir -p "$target"
# shellcheck source=kernel-lab/host/common.sh
source kernel-lab/host/common.sh
# shellcheck source=kernel-lab/host/mirror.sh
source kernel-lab/host/mirror.sh

# expect NAME COMMAND...: one property; what the command printed is in NAME.log, its end is shown if it fails.
expect() {
    local name=$1
    shift
    if "$@" >"$target/$name.log" 2>&1; then
        echo "ok $(basename "$0" .sh) $name"
    else
        tail -n 20 "$target/$name.log"
        echo "not ok $(basename "$0" .sh) $name: see $target/$name.log"
        # shellcheck disable=SC2034
        failed=1
    fi
}

# make_root NAME PACKAGES [OPTION...]
make_root() {
    [[ -e $target/$1/etc/debian_version ]] ||
        mmdebstrap --variant=minbase "--include=$2" "${@:3}" "$suite" "$target/$1" "$(mirror)"
}

# Runs a command in a root, with namespaces of its own, and whatever else is to be unshared: without network there still is
# a loopback, as distributions' builders have it.
inside() {
    local root=$target/$1 unshare=$2
    shift 2
    # shellcheck disable=SC2016,SC2086
    unshare --mount --pid --fork $unshare bash -c 'ip link set lo up && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@"
}
offline() { inside "$1" --net "${@:2}"; }
online() { inside "$1" "" "${@:2}"; }

# The archive of what is committed: nothing else of this folder is built.
make_archive() {
    rm -rf "$target/clone"
    git clone -q . "$target/clone"
    expect dist make --no-print-directory -C "$target/clone" dist SDK="$(kernel-lab/lab sdk)"
    archive=$(ls "$target"/clone/build/dist/*.tar.xz)
}

# unpack ROOT PLACE: the archive's contents, and the archive, in a folder of a root.
unpack() {
    rm -rf "${target:?}/$1$2"
    mkdir -p "$target/$1$2"
    tar -C "$target/$1$2" --strip-components=1 -xJf "$archive"
    cp "$archive" "$target/$1$2/"
}
