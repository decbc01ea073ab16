# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# One boot for each kernel; all suites in it.

qemu_command() {
    local name=$1 build=$2 icount=$3 accel=(-accel "tcg,thread=multi" -smp 2) options=
    if [[ $icount == yes ]]; then
        accel=(-accel "tcg,thread=single" -icount "shift=1,sleep=off" -smp 1)
        options='nokaslr norandmaps'
    elif [[ ${LAB_KVM:-0} == 1 ]]; then
        # Opt-in only: there are machines where the device exists and hangs.
        accel=(-accel kvm -smp 2)
    fi
    # The kernel's tests of its own ciphers would take two seconds of each boot.
    QEMU=(qemu-system-x86_64 "${accel[@]}" -cpu max -m 4096 -nodefaults -display none -no-reboot
        -kernel "$CACHE/kernels/$name/vmlinuz" -initrd "$build/lab/initrd-$name"
        -append "console=ttyS0 cryptomgr.notests panic=-1 oops=panic loglevel=6 LAB_KERNEL=$name $options"
        -serial "file:$build/lab/console-$name.log" -serial stdio
        -drive "file=$CACHE/user-space/root.img,format=raw,if=virtio,readonly=on"
        -virtfs "local,path=$build,mount_tag=work,security_model=none,multidevs=remap")
}

# watch_guest LIMIT SILENCE: copies the output of the guest to stdout until it ends; fails when it hangs.
watch_guest() {
    local limit=$1 silence=$2 line status start=$SECONDS
    while true; do
        status=0
        IFS= read -r -t "$silence" line || status=$?
        if [[ $status -gt 128 ]]; then
            say "no output for $silence seconds"
            return 1
        elif [[ $status -ne 0 ]]; then
            return 0
        fi
        printf '%s\n' "${line%$'\r'}"
        if [[ $((SECONDS - start)) -gt $limit ]]; then
            say "the boot took more than $limit seconds"
            return 1
        fi
    done
}

# boot NAME BUILD ICOUNT LIMIT SILENCE [ATTEMPT]: adds the guest's results to $passed, $failed and $skipped. A kernel
# that dies before the first suite is booted once more: now and then the emulator lets one stumble over its own patching.
boot() {
    local name=$1 build=$2 icount=$3 limit=$4 silence=$5 attempt=${6:-1}
    local log=$build/lab/console-$name.log tally=$build/lab/tally begun=$build/lab/begun qemu_pid out QEMU hung=no
    rm -f "$log" "$tally" "$begun"
    cat "$CACHE/kernels/$name/modules.cpio" "$build/lab/init.cpio" >"$build/lab/initrd-$name"
    say "booting $(<"$CACHE/kernels/$name/version")"
    qemu_command "$name" "$build" "$icount"
    coproc GUEST { exec "${QEMU[@]}" </dev/null; }
    qemu_pid=$GUEST_PID
    # shellcheck disable=SC2064
    trap "kill -KILL $qemu_pid 2>/dev/null" EXIT
    exec {out}<&"${GUEST[0]}"
    if ! watch_guest "$limit" "$silence" <&"$out"; then
        hung=yes
        kill -KILL "$qemu_pid" 2>/dev/null || true
    fi
    wait "$qemu_pid" 2>/dev/null || true
    trap - EXIT
    exec {out}<&-
    if grep -aE 'WARNING:|BUG:|Oops|Kernel panic|Call Trace' "$log" >&2; then
        say "the kernel complained, see $log"
    fi
    if [[ $hung == yes || ! -f $tally ]]; then
        say "the boot did not come to its end; the kernel's last lines:"
        tail -n 25 "$log" >&2 || true
        if [[ ! -f $begun && $attempt -eq 1 ]]; then
            boot "$name" "$build" "$icount" "$limit" "$silence" 2
            return
        fi
        echo "not ok lab $name: the boot did not come to its end"
        failed=$((failed + 1))
        return
    fi
    local guest_passed guest_failed guest_skipped
    read -r guest_passed guest_failed guest_skipped <"$tally"
    passed=$((passed + guest_passed)) failed=$((failed + guest_failed)) skipped=$((skipped + guest_skipped))
}

# prepare_build BUILD SUITES LIBS ICOUNT SILENCE: what the guest reads from the build folder; $settings are NAME=VALUE.
prepare_build() {
    local build=$1 suites=$2 libs=$3 icount=$4 silence=$5 setting
    mkdir -p "$build/lab/out"
    rm -rf "$build/lab/guest" "$build/lab/suites"
    cp -r "$LAB_DIR/guest" "$LAB_DIR/suites" "$build/lab/"
    list modules >"$build/lab/modules"
    printf '%s=%q\n' LAB_SUITES "$suites" LAB_LIBS "$libs" LAB_ICOUNT "$icount" LAB_SILENCE "$((silence - 20))" \
        >"$build/lab/job"
    for setting in "${settings[@]}"; do
        printf 'export %s=%q\n' "${setting%%=*}" "${setting#*=}" >>"$build/lab/job"
    done
    rm -rf "$build/lab/initrd"
    mkdir -p "$build/lab/initrd/bin"
    cp "$LAB_DIR/guest/init" "$build/lab/initrd/"
    cp "$(command -v busybox)" "$build/lab/initrd/bin/"
    pack_initrd "$build/lab/initrd" >"$build/lab/init.cpio"
}

# Prepares under the lock too: a second run may be given the same build folder.
boot_all() {
    local build=$1 suites=$2 libs=$3 icount=$4 limit=$5 silence=$6 name
    shift 6
    prepare_build "$build" "$suites" "$libs" "$icount" "$silence"
    for name; do
        boot "$name" "$build" "$icount" "$limit" "$silence"
    done
}

run() {
    # A boot without a line of output for $silence seconds hangs; the guest ends a silent suite a little earlier.
    local kernels='' suites=all libs=ours build=$LAB_DIR/../build icount=no limit=2400 silence=90 names suite lib settings=()
    while [[ $# -gt 0 ]]; do
        case $1 in
            --kernel) kernels=${2//,/ }; shift ;;
            --suite) suites=${2//,/ }; shift ;;
            --lib) libs=$2; shift ;;
            --build) build=$2; shift ;;
            --timeout) limit=$2; shift ;;
            --set)
                [[ $2 =~ ^[A-Z_]+= ]] || die "--set takes NAME=VALUE, not '$2'"
                settings+=("$2")
                shift
                ;;
            --icount) icount=yes silence=900 ;;
            *) die "unknown option '$1'; see 'lab help'" ;;
        esac
        shift
    done
    libs=${libs/both/ours,system}
    libs=${libs//,/ }
    for lib in $libs; do
        [[ $lib =~ ^(ours|installed|system)$ ]] || die "--lib is ours, installed, system, several of them or both, not '$lib'"
    done
    mkdir -p "$build"
    build=$(cd "$build" && pwd)
    [[ $libs == system || -f $build/librdmacm.so.1 ]] || die "$build/librdmacm.so.1 is missing: build it first"
    [[ $suites != all ]] || suites=$(cd "$LAB_DIR/suites" && printf '%s ' *.sh | sed 's/\.sh / /g')
    for suite in $suites; do
        [[ -f $LAB_DIR/suites/$suite.sh ]] || die "there is no suite '$suite'"
    done
    # shellcheck disable=SC2086
    names=$(select_kernels $kernels)
    # shellcheck disable=SC2086
    with_lock deps make_all $names
    local passed=0 failed=0 skipped=0
    # shellcheck disable=SC2086
    with_lock run boot_all "$build" "$suites" "$libs" "$icount" "$limit" "$silence" $names
    echo "lab: $passed passed, $failed failed, $skipped skipped"
    [[ $failed -eq 0 && $passed -gt 0 ]]
}
