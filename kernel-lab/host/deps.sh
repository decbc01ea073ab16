# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Everything that a run needs, each made once and kept in the cache.

# Installs the programs that this machine lacks.
host_packages() {
    local program package missing=()
    while read -r program package; do
        command -v "$program" >/dev/null || missing+=("$package")
    done < <(list host)
    [[ ${#missing[@]} -gt 0 ]] || return 0
    [[ $EUID -eq 0 ]] || die "missing on this machine: ${missing[*]} (install them, or run 'lab deps' as root)"
    say "installing ${missing[*]}"
    apt-get -q update >&2 || say "apt-get update failed; trying with the lists at hand"
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}" >&2 ||
        die "cannot install ${missing[*]}"
}

# made PART INPUTS: whether the cache holds PART, made from these INPUTS.
made() { [[ -f $CACHE/$1/.made-from && $(<"$CACHE/$1/.made-from") == "$2" ]]; }

# make_part PART INPUTS MAKER ARGS...: makes PART of the cache by MAKER ARGS... FOLDER, unless it is made already.
# Only a finished folder takes its place: an interrupted build leaves nothing half done behind.
make_part() {
    local part=$1 inputs=$2 dir=$CACHE/$1
    shift 2
    ! made "$part" "$inputs" || return 0
    rm -rf "$dir.part"
    mkdir -p "$dir.part"
    "$@" "$dir.part"
    printf '%s\n' "$inputs" >"$dir.part/.made-from"
    rm -rf "$dir"
    mv "$dir.part" "$dir"
}

# find_kernel NAME: "SUITE IMAGE-PACKAGE".
find_kernel() {
    # Neither cloud nor realtime images, nor unsigned ones.
    local name=$1 suites suite generic='^linux-image-[0-9.]+[+-][a-z0-9]+-amd64$' newest='' found
    read -r -a suites < <(list kernels | awk -v name="$name" '$1 == name { $1 = ""; print }')
    for suite in "${suites[@]}"; do
        open_suite "$suite"
        found=$(suite_apt "$suite" apt-cache pkgnames linux-image- | grep -E "$generic" | sort -V || true)
        [[ -n $newest || -z $found ]] || newest="$suite $(tail -n 1 <<<"$found")"
        if found=$(grep -F "linux-image-$name." <<<"$found"); then
            echo "$suite $(tail -n 1 <<<"$found")"
            return
        fi
    done
    [[ -n $newest ]] || die "no generic kernel image in ${suites[*]}"
    say "there is no kernel $name in ${suites[*]} any more; taking ${newest#* } in its place"
    echo "$newest"
}

# Newer suites split an image package into a binary and a modules package.
kernel_packages() {
    local suite=$1 image=$2
    suite_apt "$suite" apt-cache depends "$image" | awk -v version="${image#linux-image-}" '
        $1 == "Depends:" && ($2 == "linux-binary-" version || $2 == "linux-modules-" version) { print $2; parts++ }
        END { if (!parts) print "linux-image-" version }'
}

index_modules() {
    # Some packages keep these lists elsewhere; without them depmod warns, and nothing else.
    touch "$1/lib/modules/$2"/modules.{order,builtin,builtin.modinfo}
    depmod -b "$1" "$2"
}

# The modules of the list and what they need, decompressed: the emulated processor would take long for that.
pick_modules() {
    local tree=$1 version=$2 out=$3 module file to
    index_modules "$tree" "$version"
    while read -r module; do
        modprobe -d "$tree" -S "$version" --show-depends "$module" 2>/dev/null || true
    done < <(list modules) | awk '$1 == "insmod" { print $2 }' | sort -u | while read -r file; do
        to=$out/lib/modules/$version/${file#*/modules/"$version"/}
        mkdir -p "${to%/*}"
        case $file in
            *.xz) xz -dc "$file" >"${to%.xz}" ;;
            *) cp "$file" "$to" ;;
        esac
    done
    index_modules "$out" "$version"
}

make_kernel() {
    local name=$1 out=$2 suite image version tree=$2/tree packages
    read -r suite image < <(find_kernel "$name")
    [[ -n ${image:-} ]] || die "kernel $name cannot be resolved"
    version=${image#linux-image-}
    open_suite "$suite"
    mapfile -t packages < <(kernel_packages "$suite" "$image")
    unpack_packages "$suite" "$tree" "${packages[@]}"
    # One layout for all: newer packages are merged-/usr, older ones are not.
    [[ -d $tree/lib ]] || ln -s usr/lib "$tree/lib"
    cp "$tree/boot/vmlinuz-$version" "$out/vmlinuz" 2>/dev/null || cp "$tree/lib/modules/$version/vmlinuz" "$out/vmlinuz"
    say "picking the modules of $version"
    pick_modules "$tree" "$version" "$out/initrd"
    pack_initrd "$out/initrd" >"$out/modules.cpio"
    echo "$version" >"$out/version"
    rm -rf "$tree" "$out/initrd"
}

# A disk image and not a shared folder, and not compressed: the emulated processor is slow with either.
make_root() {
    local out=$1 packages
    open_suite sid
    packages=$(list user-space | paste -sd,)
    say "building the user space (about a minute): $packages"
    mmdebstrap --variant=minbase --architectures=amd64 --include="$packages" \
        --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "3"' \
        sid "$out/root" "$(suite_sources sid)" >&2 || die "the user space cannot be built; see the lines above"
    mksquashfs "$out/root" "$out/root.img" -noI -noD -noF -no-xattrs -no-progress -quiet >/dev/null
    rm -rf "$out/root"
}

make_sdk() {
    local out=$1 packages
    mapfile -t packages < <(list sdk)
    unpack_packages sid "$out" "${packages[@]}"
    # Apart from the rest: these would shadow the host's own kernel headers.
    unpack_packages sid "$out/kernel" linux-libc-dev
}

# What a part is made from: its lists, and the recipe itself.
kernel_inputs() { list kernels | grep -E "^$1 "; list modules; declare -f make_kernel pick_modules; }
root_inputs() { list user-space; declare -f make_root; }
sdk_inputs() { list sdk; declare -f make_sdk; }

make_sdk_part() { make_part sdk "$(sdk_inputs)" make_sdk; }

# What the distribution's package says of the library's symbols.
make_symbols() {
    local out=$1
    open_suite sid
    say "fetching from sid: librdmacm1t64"
    (cd "$out" && suite_apt sid apt-get -q download librdmacm1t64 >&2) || die "cannot fetch librdmacm1t64 from sid"
    dpkg-deb --ctrl-tarfile "$out"/*.deb | tar -xO ./symbols >"$out/symbols"
    rm "$out"/*.deb
}

symbols_inputs() { declare -f make_symbols; }

make_symbols_part() { make_part symbols "$(symbols_inputs)" make_symbols; }

# make_all KERNEL...
make_all() {
    local name
    host_packages
    for name; do
        make_part "kernels/$name" "$(kernel_inputs "$name")" make_kernel "$name"
    done
    make_part user-space "$(root_inputs)" make_root
    make_sdk_part
    make_symbols_part
}

deps() {
    local names name
    names=$(select_kernels "$@")
    # shellcheck disable=SC2086
    with_lock deps make_all $names
    for name in $names; do
        say "kernel $name: $(<"$CACHE/kernels/$name/version")"
    done
    say "ready in $CACHE ($(du -sh "$CACHE" | cut -f1))"
}

# Asked for by every make: it neither waits for a lock nor touches the network when there is nothing to do.
sdk() {
    made sdk "$(sdk_inputs)" || with_lock deps make_sdk_part
    echo "$CACHE/sdk"
}

symbols() {
    made symbols "$(symbols_inputs)" || with_lock deps make_symbols_part
    echo "$CACHE/symbols/symbols"
}
