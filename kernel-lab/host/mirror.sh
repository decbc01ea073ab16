# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Debian suites other than the host's, read through a private apt configuration each: the machine's own
# sources, lists and state stay as they are.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
NEWER_KEYRING=$CACHE/apt/keyring$KEYRING

# The mirror that this machine uses itself.
mirror() {
    local codename uri format='$(REPO_URI) $(RELEASE) $(COMPONENT)'
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    uri=${LAB_MIRROR:-$(apt-get indextargets --format "$format" 'Created-By: Packages' |
        awk -v release="$codename" '$2 == release && $3 == "main" { print $1; exit }')}
    [[ -n $uri ]] || die "apt on this machine names no Debian mirror of '$codename'; set LAB_MIRROR to its address"
    echo "$uri"
}

suite_sources() {
    local keyring=$KEYRING
    [[ ! -f $NEWER_KEYRING ]] || keyring=$NEWER_KEYRING
    echo "deb [signed-by=$keyring] $(mirror) $1 main"
}

suite_apt() {
    local suite=$1
    shift
    APT_CONFIG=$CACHE/apt/$suite/apt.conf "$@"
}

# An older host does not know the keys of newer suites. Its own apt brings (and verifies) a keyring that does.
fetch_keyring() {
    local dir=$CACHE/apt/keyring
    say "fetching a newer debian-archive-keyring"
    mkdir -p "$dir"
    (cd "$dir" && apt-get -q download debian-archive-keyring >&2 && dpkg-deb -x debian-archive-keyring_*.deb .)
}

write_suite() {
    local suite=$1 dir=$CACHE/apt/$1
    mkdir -p "$dir/lists/partial" "$dir/archives/partial"
    suite_sources "$suite" >"$dir/sources.list"
    # Snapshots and slow mirrors hand out release files past their date.
    cat >"$dir/apt.conf" <<CONF
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$dir/lists";
Dir::State::status "/dev/null";
Dir::Cache "$dir";
APT::Architecture "amd64";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::Retries "3";
CONF
}

# Reads the package lists of a suite, unless that was done a moment ago.
open_suite() {
    local suite=$1 stamp=$CACHE/apt/$1/updated
    [[ -z $(find "$stamp" -mmin -30 2>/dev/null) ]] || return 0
    say "reading the package lists of $suite"
    write_suite "$suite"
    if ! suite_apt "$suite" apt-get -q --error-on=any update >&2; then
        fetch_keyring
        write_suite "$suite"
        suite_apt "$suite" apt-get -q --error-on=any update >&2 ||
            die "the package lists of $suite cannot be fetched from $(mirror)"
    fi
    touch "$stamp"
}

# unpack_packages SUITE DIR PACKAGE...
unpack_packages() {
    local suite=$1 dir=$2 debs deb
    shift 2
    open_suite "$suite"
    debs=$(mktemp -d "$CACHE/debs.XXXXXX")
    say "fetching from $suite: $*"
    (cd "$debs" && suite_apt "$suite" apt-get -q download "$@" >&2) ||
        die "cannot fetch from $suite: $* (is the name still right, the mirror reachable?)"
    mkdir -p "$dir"
    for deb in "$debs"/*.deb; do
        dpkg-deb -x "$deb" "$dir"
    done
    rm -rf "$debs"
}
