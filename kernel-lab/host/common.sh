# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What all parts of the lab share. Progress goes to stderr: stdout belongs to results.

say() { printf 'lab: %s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# The lines of a list without its comments.
list() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$LAB_DIR/lists/$1"; }

kernel_names() { list kernels | awk '{ print $1 }'; }

# select_kernels NAME...: the names in the order of the table; none: the newest; "all": each.
select_kernels() {
    if [[ $# -eq 0 ]]; then
        kernel_names | head -n 1
    elif [[ " $* " == *" all "* ]]; then
        kernel_names
    else
        local name
        for name; do
            kernel_names | grep -Fx -e "$name" || die "unknown kernel '$name'; known: $(kernel_names | xargs)"
        done
    fi
}

# with_lock NAME COMMAND...: one holder at a time on this machine, so that two runs neither build the same thing
# twice nor share the processor.
with_lock() {
    local name=$1 fd
    shift
    mkdir -p "$CACHE"
    exec {fd}>"$CACHE/$name.lock"
    if ! flock -n "$fd"; then
        say "waiting for another lab that holds $CACHE/$name.lock"
        flock "$fd"
    fi
    "$@"
    exec {fd}>&-
}

# pack_initrd DIR: DIR as an archive that the kernel unpacks into its first root.
pack_initrd() { (cd "$1" && find . | busybox cpio -o -H newc 2>/dev/null); }
