#!/bin/sh
# Makes the root directories that the packages are tested in, of each system's own packages.
#
#   packaging/roots.sh DIRECTORY SYSTEM...      SYSTEM: bookworm, trixie (Debian 12, 13), jammy, noble (Ubuntu 22.04, 24.04)
#
# What is there stays; remove DIRECTORY/SYSTEM to make it anew. Fails if a system's archive cannot be reached.
set -eu

directory=$(realpath -m "$1")
shift
programs='apt,ca-certificates,curl,nginx-light,openssh-client,openssh-server,openssl,procps,python3,rpm,systemd,systemd-sysv'
mkdir -p "$directory"

# Ubuntu's keys come from a package of Debian 13.
ubuntu_keys() {
    keys=$directory/ubuntu-archive-keyring.gpg
    [ ! -e "$keys" ] || return 0
    make_root trixie
    chroot "$directory/trixie" sh -c 'cd /tmp && apt-get update -qq && apt-get download -qq ubuntu-keyring' >&2
    unpacked=$(mktemp -d)
    dpkg-deb -x "$directory/trixie/tmp"/ubuntu-keyring_*.deb "$unpacked"
    cp "$unpacked/usr/share/keyrings/ubuntu-archive-keyring.gpg" "$keys"
    rm -rf "$unpacked" "$directory/trixie/tmp"/ubuntu-keyring_*.deb
}

make_root() {
    [ ! -e "$directory/$1.made" ] || return 0
    echo "making $directory/$1" >&2
    rm -rf "${directory:?}/$1"
    set -- "$1" "${2:-}" "${3:-main}"
    # Debian 13 stands in for the systems of the .rpm.
    include=$programs
    [ "$1" != trixie ] || include=$include,dnf
    # shellcheck disable=SC2086
    mmdebstrap --mode=root --variant=minbase --components="$3" ${2:+--keyring="$2"} --include="$include" \
        --aptopt='Acquire::Retries "5"' "$1" "$directory/$1" >"$directory/$1.log" 2>&1 || {
        echo "$1 cannot be made; see $directory/$1.log:" >&2
        tail -n 3 "$directory/$1.log" >&2
        exit 1
    }
    : >"$directory/$1.made"
}

for system in "$@"; do
    case $system in
    bookworm | trixie) make_root "$system" ;;
    jammy | noble)
        ubuntu_keys
        make_root "$system" "$keys" main,universe
        ;;
    *)
        echo "unknown system '$system'" >&2
        exit 2
        ;;
    esac
done
