#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: c-library.sh BUILD USER_SPACE
# Takes the C library out of the disk image of the lab's user space, with the younger libc and the dynamic linker that it
# needs, and a program; prints the folder where the libraries are.
set -euo pipefail

[[ $# -eq 2 ]] || { sed -n 's/^# \(usage: .*\)/\1/p' "$0" >&2; exit 2; }
root=$1/sim/c-library
image=$2
place=usr/lib/x86_64-linux-gnu
[[ $root/$place -nt $image && -e $root/usr/bin/udpong ]] || {
    rm -rf "$root"
    unsquashfs -q -n -no-xattrs -d "$root" "$image" "$place/ld-linux-x86-64.so.2" "$place/libc.so.6" \
        "$place/libm.so.6" "$place/librdmacm.so*" "$place/libibverbs.so*" "$place/libnl-*" usr/bin/udpong >&2
    touch "$root/$place"
}
echo "$root/$place"
