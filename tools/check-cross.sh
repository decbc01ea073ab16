#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: check-cross.sh [ARCHITECTURE...]
# Builds what is committed for other processors (Debian's names; all of arm64, ppc64el, s390x, riscv64 unless some are named) in Debian 13
# roots, with its cross compilers and standard libraries, and runs the unit tests and those of layouts there, emulated by
# QEMU's user mode. Roots and logs are in build/cross, or $CROSS_DIRECTORY. Needs root, mmdebstrap and a Debian mirror.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CROSS_DIRECTORY:-build/cross}")
# shellcheck source=tools/roots.sh
source tools/roots.sh
[[ $# -gt 0 ]] || set -- arm64 ppc64el s390x riscv64
# Of each: Rust's name, QEMU's, and the GNU one.
declare -A targets=(
    [arm64]="aarch64-unknown-linux-gnu qemu-aarch64 aarch64-linux-gnu"
    [ppc64el]="powerpc64le-unknown-linux-gnu qemu-ppc64le powerpc64le-linux-gnu"
    [s390x]="s390x-unknown-linux-gnu qemu-s390x s390x-linux-gnu"
    [riscv64]="riscv64gc-unknown-linux-gnu qemu-riscv64 riscv64-linux-gnu"
)

# Its libraries are unpacked, not installed: a mirror need not have all that they depend on.
fetch_libraries() {
    online "cross-$arch" sh -ec "dpkg --add-architecture $arch
        mkdir -p /libraries
        cd /libraries
        apt-get update -q
        apt-get download -q libstd-rust-dev:$arch libibverbs-dev:$arch libibverbs1:$arch libnl-3-200:$arch libnl-route-3-200:$arch
        for package in *.deb; do dpkg -x \$package /; done"
}

# A program that a test compiles is started by the emulated test, which has the host's kernel: it has to be one of the host.
write_compiler() {
    cat >"$target/cross-$arch/usr/local/bin/emulated-cc" <<END
#!/bin/bash
set -e
$gnu-gcc "\$@"
while [ "\$1" != -o ]; do shift; done
mv "\$2" "\$2.emulated"
printf '#!/bin/sh\nexec $qemu -L /usr/$gnu %s.emulated "\$@"\n' "\$2" >"\$2"
chmod +x "\$2"
END
    chmod +x "$target/cross-$arch/usr/local/bin/emulated-cc"
}

# in_tree COMMAND: in the tree, with cargo set up for the other processor.
in_tree() {
    local variable=${rust^^}
    variable=CARGO_TARGET_${variable//-/_}
    offline "cross-$arch" env "${variable}_LINKER=$gnu-gcc" CC=/usr/local/bin/emulated-cc \
        "${variable}_RUNNER=$qemu -L /usr/$gnu -E LD_LIBRARY_PATH=/usr/lib/$gnu" \
        RDMACM_UAPI_INCLUDE=/tree/sdk/kernel/usr/include CARGO_NET_OFFLINE=true sh -c "cd /tree && $1"
}

make_archive
tools/install-deps.sh mmdebstrap
for arch; do
    read -r rust qemu gnu <<<"${targets[$arch]}"
    expect "$arch-root" make_root "cross-$arch" "build-essential,cargo,rustc,pkgconf,qemu-user,crossbuild-essential-$arch"
    expect "$arch-libraries" fetch_libraries
    unpack "cross-$arch" /tree
    write_compiler
    expect "$arch-build" in_tree "cargo rustc --locked --lib --crate-type staticlib --target $rust"
    # QEMU answers an unknown ioctl itself, whatever the descriptor is.
    expect "$arch-tests" in_tree "cargo test --locked --target $rust -- --skip other_descriptors_do_not_tell"
done
exit $failed
