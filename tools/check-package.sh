#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: check-package.sh [DIRECTORY]
# Builds the packages of what is committed in a Debian 13 root of its own, with that release's compiler and without
# network, twice; installs them into further roots, over the C library and with RPM, and removes them again. Roots, packages
# and logs are in DIRECTORY (build/package); roots that are there are used again. Needs root, mmdebstrap and a Debian mirror;
# takes half an hour. Prints "ok package NAME" and so on.
# shellcheck disable=SC2016,SC2317 # What is quoted runs elsewhere, and expect() calls functions.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${1:-build/package}")
# shellcheck source=tools/roots.sh
source tools/roots.sh
# What Build-Depends of packaging/debian/control names, rpmbuild, and what looks at the results.
builder_packages=build-essential,cargo,rustc,debhelper,libibverbs-dev,libstd-rust-dev,mandoc,pkgconf,rpm,lintian,blhc,devscripts
# Programs that use the library, and bring the C library along.
user_packages=rdmacm-utils,perftest,qperf,python3-pyverbs,ibverbs-providers

# build PLACE VARIABLE...: Debian packages, in a folder of the builder's root; the log has the commands of the compiler.
build() {
    local place=$1
    shift
    unpack builder "$place"
    offline builder env "$@" sh -c "cd $place && tools/make-deb.sh $(basename "$archive") build/deb"
}

deb() { echo "$target/builder/build/first/build/deb/$1"; }

same_bytes() {
    local file other=$target/builder/home/second/place/build/deb
    for file in "$(deb '')"*.deb; do
        cmp "$file" "$other/$(basename "$file")" || return
        sha256sum "$file"
    done
}

lintian_said() {
    ! grep -E '^E:' "$target/build.log" || return 1
    grep -E '^[WIP]:' "$target/build.log" || true
}

# Of what is shipped: examples are built for tests alone, cargo's compiler is none that C's flags are for, and the object that
# plays functions of libc undoes one flag (docs/packaging.md).
flags() {
    offline builder blhc --bindnow --ignore-line '.*Compiling .*' --ignore-line '.*build/(man-)?examples/.*' \
        --ignore-line '.* -U_FORTIFY_SOURCE .*' /build/log
}

# What of it there is in objects from Rust, docs/packaging.md tells.
hardening() {
    local object said=
    for object in librdmacm1-rs/usr/lib/*/librdmacm.so.1.* rdmacm-doctor/usr/bin/rdmacm-doctor; do
        said+=$(offline builder sh -c "cd /build/first/build/deb/build/librdmacm-rs-*/debian && hardening-check $object" || true)
    done
    echo "$said"
    ! grep -E 'Read-only relocations: no|Immediate binding: no|Position Independent Executable: no,( not| nor)' <<<"$said"
}

symbols() { grep -A3 'dh_makeshlibs' "$target/build.log" && ! grep -E '^(dpkg-gensymbols|dh_makeshlibs): (warning|error)' "$target/build.log"; }

copy_debs() {
    rm -rf "$target/user/debs"
    mkdir -p "$target/user/debs"
    cp "$(deb '')"*.deb "$target/user/debs/"
    online user apt-get update -q
}

# What it would remove is the C library, and nothing else.
replaces_only_the_library() {
    online user sh -c 'apt-get install -s ./debs/librdmacm1-rs_*.deb' | tee /dev/stderr | sed -n 's/^Remv \([^ ]*\).*/\1/p' | diff - <(echo librdmacm1t64)
}

installs() {
    online user sh -c 'apt-get install -q -y ./debs/librdmacm1-rs_*.deb ./debs/librdmacm-rs-dev_*.deb ./debs/rdmacm-doctor_*.deb \
        ./debs/librdmacm-rs-aside_*.deb && apt-get check && dpkg --audit'
}

# started LIBRARY: programs find it, and the first lines of what they say have no complaint of the loader.
started() {
    offline user sh -ec "
        for program in rping ucmatose ib_send_bw qperf; do
            ldd \$(command -v \$program) | grep -F librdmacm.so.1
        done
        readlink -f /usr/lib/*/librdmacm.so.1 | grep -F '$1'
        python3 -c 'import pyverbs.cmid; print([line for line in open(\"/proc/self/maps\") if \"librdmacm.so\" in line][0])' | grep -F '$1'
        ib_send_bw --version | grep Version
        qperf --help | grep qperf"
}

works() {
    offline user sh -ec '
        export RDMACM_SIM=/tmp/fabric
        rm -rf $RDMACM_SIM
        mkdir $RDMACM_SIM
        timeout 60 librdmacm-sim rping -s -a 10.99.0.1 -C 3 &
        sleep 2
        timeout 60 librdmacm-sim rping -c -a 10.99.0.1 -C 3 -v
        wait $!
        librdmacm-sim rdmacm-doctor rping
        with-librdmacm-rs rdmacm-doctor --help'
}

brings_the_old_one_back() {
    online user apt-get install -q -y librdmacm1t64 &&
        ! online user dpkg-query -W -f '${db:Status-Status}\n' librdmacm1-rs | grep -x installed &&
        ! grep -q RDMACM_LOG "$target"/user/usr/lib/*/librdmacm.so.1
}

build_rpms() {
    offline builder sh -c "cd /build/first && tools/make-rpm.sh $(basename "$archive") build/rpm"
}

install_rpms() {
    rm -rf "$target/builder/fresh"
    offline builder sh -ec 'mkdir /fresh
        rpm --root /fresh --initdb
        rpm --root /fresh --nodeps -Uvh $(find /build/first/build/rpm -name "librdmacm-rs*.rpm" ! -name "*.src.rpm")
        rpm --root /fresh --nodeps -Va
        LD_LIBRARY_PATH=/fresh/usr/lib64 /fresh/usr/bin/rdmacm-doctor --help
        LD_LIBRARY_PATH=/fresh/usr/lib64 ldd /fresh/usr/bin/rdmacm-doctor | grep -F /fresh/usr/lib64/librdmacm.so.1
        rpm --root /fresh --nodeps -e librdmacm-rs librdmacm-rs-devel librdmacm-rs-aside
        ! find /fresh/usr -type f | grep .'
}

tools/install-deps.sh mmdebstrap
make_archive
expect builder make_root builder "$builder_packages"
expect user make_root user "$user_packages"

expect build build /build/first
cp "$target/build.log" "$target/builder/build/log"
expect lintian lintian_said
expect blhc flags
expect hardening hardening
expect symbols symbols
expect rebuild build /home/second/place DEB_BUILD_OPTIONS=nocheck LANG=C.UTF-8 TZ=Asia/Kathmandu
expect reproducible same_bytes
expect rpm build_rpms
expect rpm-installed install_rpms

expect debs copy_debs
expect replaces replaces_only_the_library
expect before started .so.1.3
expect installed installs
expect started started .so.1.5.65.0
expect works works
expect removed brings_the_old_one_back
expect after started .so.1.3
exit $failed
