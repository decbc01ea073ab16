#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Installs to a temporary root, and builds the examples from there as a stranger would: by pkg-config alone.
set -euo pipefail
cd "$(dirname "$0")/.."

group=install
# shellcheck source=tools/expect.sh
source tools/expect.sh

install_to() {
    make --no-print-directory install DESTDIR="$scratch/root" "$@"
}

pkg() {
    PKG_CONFIG_PATH=$scratch/root/$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$scratch/root pkg-config "$@"
}

# describes DIRECTORY: where the installed file says that the library is.
describes() {
    [[ $(PKG_CONFIG_PATH=$scratch/root/$1/pkgconfig pkg-config --variable=libdir librdmacm) == "$1" ]]
}

files() {
    local version file
    version=$(pkg --modversion librdmacm)
    for file in "$libdir"/librdmacm.{a,so,so.1,"so.$version"} "$libdir/pkgconfig/librdmacm.pc" \
        usr/include/rdma/rdma_{cma,cma_abi,verbs}.h usr/include/infiniband/ib.h \
        "$libdir"/librdmacm-sim/librdmacm-sim{,.so} usr/bin/rdmacm-doctor usr/share/man/man1/rdmacm-doctor.1 usr/share/man/man1/librdmacm-sim.1 usr/share/man/man7/rdma_cm.7 \
        "$libdir"/rsocket/librspreload.so{,.1,.1.0.0} usr/share/man/man7/librspreload.7; do
        [[ -f $scratch/root/$file ]] || { echo "missing: $file"; return 1; }
    done
    [[ $(readlink -f "$scratch/root/$libdir/librdmacm.so") == */librdmacm.so."$version" ]]
}

# Of each function, whatever the page is called that it stands on.
man_pages() {
    local symbol page target man=$scratch/root/usr/share/man
    for symbol in $(tools/list-symbols.sh abi/librdmacm.map | cut -d' ' -f1); do
        page=$man/man3/$symbol.3
        [[ -f $page ]] || { echo "missing: $page"; return 1; }
        target=$(sed -n 's/^\.so //p' "$page")
        [[ -z $target || -f $man/$target ]] || { echo "leads nowhere: $page"; return 1; }
    done
}

only_our_symbols() {
    diff <(tools/list-symbols.sh abi/librdmacm.map | cut -d' ' -f1) \
         <(nm -g --defined-only "$scratch/root/$libdir/librdmacm.a" | awk 'NF == 3 { print $3 }' | sort)
}

# A program that cannot be loaded ends with 127; what it does without a device does not matter.
starts() {
    local status=0
    LD_BIND_NOW=1 LD_LIBRARY_PATH=$scratch/root/$libdir timeout 20 "$1" || status=$?
    [[ $status -lt 124 ]]
}

# On a simulated device the example does all that it is there to show.
simulated() {
    LD_LIBRARY_PATH=$scratch/root/$libdir timeout 60 "$scratch/root/usr/bin/librdmacm-sim" "$1"
}

needs_library() { readelf -d "$1" | grep -q 'NEEDED.*librdmacm.so.1'; }

# shellcheck disable=SC2046
dynamic() {
    "${CC:-cc}" -Wall -Wextra -Werror "$1" $(pkg --cflags --libs librdmacm) -pthread -o "$2" && needs_library "$2" && starts "$2"
}

# Nothing shared at all.
# shellcheck disable=SC2046
static() {
    "${CC:-cc}" -static "$1" $(pkg --static --cflags --libs librdmacm) -o "$2" && ! needs_library "$2" && starts "$2"
}

# Only this library static.
# shellcheck disable=SC2046
mixed() {
    "${CC:-cc}" "$1" $(pkg --cflags --libs librdmacm | sed 's/-lrdmacm/-l:librdmacm.a/') -pthread -o "$2" &&
        ! needs_library "$2" && starts "$2"
}

libdir=usr/lib64
expect usr-lib64 install_to PREFIX=/usr LIBDIR=/usr/lib64
expect usr-local install_to
expect multiarch install_to PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu
for place in /usr/lib64 /usr/local/lib /usr/lib/x86_64-linux-gnu; do
    expect "pkg-config${place//\//-}" describes "$place"
done
expect files files
expect man-pages man_pages
expect static-symbols only_our_symbols

for program in examples/*.c; do
    name=$(basename "$program" .c)
    expect "$name-dynamic" dynamic "$program" "$scratch/$name"
    expect "$name-static" static "$program" "$scratch/$name.static"
    expect "$name-mixed" mixed "$program" "$scratch/$name.mixed"
done
expect wake-simulated simulated "$scratch/wake"
exit $failed
