#!/bin/bash
# Lays out package repositories in a directory: signed, to be served by any web server or used as it is.
#
#   packaging/repository.sh PACKAGES DIRECTORY --key KEY        KEY: a secret key of gpg, by its fingerprint or address
#   packaging/repository.sh PACKAGES DIRECTORY --throw-away     a key for tests, which is made and forgotten
#
# The public half of that key is published, and no other key: an address names one secret key, or none.
#
# PACKAGES is what packaging/make.sh made, as its SHA256SUMS say. What an earlier call has put into DIRECTORY stays, so old versions can still be
# installed, and all of it is signed: nobody else may write there. DIRECTORY then has
#   apt/   for apt: dists/stable, pool, the public key, and outboard.sources to copy to /etc/apt/sources.list.d
#   rpm/   for dnf: packages, repodata, the public key, and outboard.repo (where createrepo_c is installed)
# Edit the address in outboard.sources and outboard.repo: both name DIRECTORY.
set -euo pipefail

usage() {
    echo "usage: $0 PACKAGES DIRECTORY --key KEY | --throw-away" >&2
    exit 2
}

[ $# -ge 3 ] || usage
packages=$(realpath "$1") directory=$(realpath -m "$2")
case $3 in
--key) key=${4:?the key is missing} ;;
--throw-away) key= ;;
*) usage ;;
esac
ls "$packages"/deb/*.deb >/dev/null || { echo "there are no packages in $packages: type 'make packages'" >&2; exit 1; }
(cd "$packages" && sha256sum --quiet -c SHA256SUMS) || { echo "the packages are not what 'make packages' made" >&2; exit 1; }
export LC_ALL=C.UTF-8 TZ=UTC
umask 022

work=$(mktemp -d)
trap 'gpgconf --homedir "$work/gnupg" --kill all 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if [ -z "$key" ]; then
    mkdir -m 700 "$work/gnupg"
    export GNUPGHOME=$work/gnupg
    key='Outboard test repository'
    gpg --batch --quiet --trust-model always --pinentry-mode loopback --passphrase '' --quick-generate-key "$key" rsa3072 sign 2d
fi
# An address is part of other addresses, and gpg exports every key that it fits.
fingerprints=$(gpg --quiet --batch --no-auto-check-trustdb --with-colons --list-secret-keys -- "$key" |
    awk -F: '$1 == "sec" { found = 1 } $1 == "fpr" && found { print $10; found = 0 }')
case $fingerprints in
'') exit 1 ;;
*[!0-9A-F]*)
    echo "several secret keys fit '$key'; name one by its fingerprint:" >&2
    echo "$fingerprints" >&2
    exit 1
    ;;
esac
key=$fingerprints

mkdir -p "$directory/apt/pool/main/o/outboard" "$directory/apt/dists/stable/main/binary-amd64"
cp "$packages"/deb/*.deb "$directory/apt/pool/main/o/outboard/"
cd "$directory/apt"
gpg --export "$key" >outboard-archive-keyring.gpg
dist=dists/stable
apt-ftparchive packages pool >"$dist/main/binary-amd64/Packages"
gzip -9nkf "$dist/main/binary-amd64/Packages"
rm -f "$dist/Release" "$dist/InRelease" "$dist/Release.gpg"
apt-ftparchive -o APT::FTPArchive::Release::Origin=Outboard -o APT::FTPArchive::Release::Label=Outboard \
    -o APT::FTPArchive::Release::Suite=stable -o APT::FTPArchive::Release::Codename=stable \
    -o APT::FTPArchive::Release::Architectures=amd64 -o APT::FTPArchive::Release::Components=main \
    release "$dist" >"$work/Release"
mv "$work/Release" "$dist/Release"
gpg --batch --yes --local-user "$key" --clearsign --output "$dist/InRelease" "$dist/Release"
gpg --batch --yes --local-user "$key" --armor --detach-sign --output "$dist/Release.gpg" "$dist/Release"
cat >outboard.sources <<END
Types: deb
URIs: file://$directory/apt
Suites: stable
Components: main
Architectures: amd64
Signed-By: /usr/share/keyrings/outboard-archive-keyring.gpg
END

if ls "$packages"/rpm/*.rpm >/dev/null 2>&1 && command -v createrepo_c >/dev/null; then
    mkdir -p "$directory/rpm"
    for package in "$packages"/rpm/*.rpm; do
        # Signed as a copy: the package itself stays byte for byte what was built.
        cp "$package" "$work/"
        rpmsign --quiet --define "_gpg_name $key" --define "__gpg $(command -v gpg)" --addsign "$work/${package##*/}" >/dev/null
        mv "$work/${package##*/}" "$directory/rpm/"
    done
    createrepo_c --quiet --update "$directory/rpm"
    gpg --batch --yes --local-user "$key" --armor --detach-sign "$directory/rpm/repodata/repomd.xml"
    gpg --export --armor "$key" >"$directory/rpm/RPM-GPG-KEY-outboard"
    cat >"$directory/rpm/outboard.repo" <<END
[outboard]
name=Outboard
baseurl=file://$directory/rpm
enabled=1
gpgcheck=1
repo_gpgcheck=1
gpgkey=file://$directory/rpm/RPM-GPG-KEY-outboard
END
fi
echo "the repositories are in $directory: $(ls "$directory")"
