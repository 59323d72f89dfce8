#!/bin/bash
# Installs, uses, upgrades under load, removes and purges the packages, in other systems that are made of their own packages.
#
#   packaging/test.sh PACKAGES SYSTEM...        SYSTEM: bookworm, trixie, jammy, noble; rpm
#   BUILT=target/debug packaging/test.sh …      what the next version is made of (default: PACKAGES/build/release)
#
# 'rpm' installs the .rpm by 'rpm' in Debian 13: no archive of a distribution with rpm is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=$(realpath -e "$1")
shift
built=${BUILT:-$packages/build/release}
# What cargo alone has built names no crates.
[ -z "${BUILT:-}" ] || export WITHOUT_AUDIT=1
[ "$(id -u)" -eq 0 ] || { echo "only root may have systems of its own: run this as root" >&2; exit 1; }

old=$(dpkg-deb -f "$packages"/deb/outboard_*.deb Version)
new=${old%-*}-$((${old##*-} + 1))
files=$packages/test
trap 'rm -rf "$files"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$files"
mkdir -p "$files"
# The next version, compressed as fast as can be.
VERSION=$new DEB_COMPRESSION='-Zgzip -z1' RPM_COMPRESSION=w1.gzdio packaging/make.sh "$built" "$files/$new.packages"
packaging/repository.sh "$packages" "$files/$old" --throw-away
packaging/repository.sh "$files/$new.packages" "$files/$new" --throw-away

# An address may be part of other people's: their keys are in the keyring, too, and are not published.
keys=$files/gnupg
mkdir -m 700 "$keys"
for user in 'Outboard <release@example.org>' 'x <release@example.org.evil.example>'; do
    gpg --homedir "$keys" --batch --quiet --passphrase '' --quick-generate-key "$user" rsa3072 sign 2d 2>/dev/null
done
stranger=$(gpg --homedir "$keys" --with-colons --list-secret-keys evil | awk -F: '$1 == "fpr" { print $10; exit }')
gpg --homedir "$keys" --batch --yes --pinentry-mode loopback --passphrase '' --delete-secret-keys "$stranger"
GNUPGHOME=$keys packaging/repository.sh "$packages" "$files/own" --key release@example.org
[ "$(gpg --show-keys --with-colons "$files/own/apt/outboard-archive-keyring.gpg" | grep -c ^pub)" = 1 ] ||
    { echo "the repository publishes a stranger's key" >&2; exit 1; }
gpgconf --homedir "$keys" --kill all
rm -r "$keys" "$files/own"

failed=
for system in "$@"; do
    case $system in
    rpm) root=trixie script=packaging/in-rpm.sh ;;
    *) root=$system script=packaging/in-debian.sh ;;
    esac
    packaging/roots.sh "$packages/roots" "$root"
    echo "$system:"
    if ! packaging/machine.sh "$packages/roots/$root" "$files" "$script" "$old" "$new"; then
        failed="$failed $system"
    fi
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
echo "test result: ok. $# passed; 0 failed"
