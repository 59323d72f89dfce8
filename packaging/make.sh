#!/bin/bash
# Makes the packages of what was built: .deb, .rpm, and a bill of materials for each.
#
#   packaging/make.sh BUILT DIRECTORY
#
# BUILT has cargo's files (packaging/build.sh; a test may give it target/debug). DIRECTORY then has deb/, rpm/ and sbom/. The same
# files and SOURCE_DATE_EPOCH give the same bytes. VERSION=… replaces the version of Cargo.toml.
set -euo pipefail
cd "$(dirname "$0")/.."

built=$(realpath -e "$1")
out=$(realpath -m "$2")
repository=$PWD
source_version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# The last part counts packages of one version of the source.
version=${VERSION:-$source_version-1}
architecture=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null)
maintainer=${MAINTAINER:-$(git log -1 --format='%an <%ae>' 2>/dev/null || echo 'The Outboard authors <outboard@example.org>')}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(packaging/epoch.sh)} LC_ALL=C.UTF-8 TZ=UTC
umask 022
# All systems of the packages read both. Tests pass what is fast.
compression=${DEB_COMPRESSION:--Zxz} payload=${RPM_COMPRESSION:-w19.zstdio}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$out/deb" "$out/rpm" "$out/sbom"
mkdir -p "$out/deb" "$out/rpm" "$out/sbom"

packages='outboard outboard-service libpkcs11-outboard outboard-bench'
declare -A crates=(
    [outboard]='outboard-cli outboard-provider outboard-observer'
    [outboard-service]='outboard-service outboard-csulcca'
    [libpkcs11-outboard]='outboard-pkcs11'
    [outboard-bench]='outboard-bench outboard-stopwatch-preload'
)
[ ! -e "$built/outboard.jar" ] || crates[libpkcs11-outboard]+=' outboard-java'

# stage DIRECTORY MODULESDIR ZSHDIR: 'make install' into a directory; the packages' files come from nowhere else.
stage() {
    make --no-print-directory --silent install CARGO=/nowhere/cargo release="$built" DESTDIR="$1" PREFIX=/usr MODULESDIR="$2" \
        zshdir="$1$3" STRIP='strip --strip-unneeded --remove-section=.comment' >&2
    find "$1/usr/share/man" -type f -exec gzip -9n {} +
    mkdir -p "$1/usr/share/man/man8"
    ln -s ../man1/outboard-service.1.gz "$1/usr/share/man/man8/outboardd.8.gz"
    rm "$1/usr/share/doc/outboard/LICENSE" "$1/usr/share/doc/outboard/CHANGELOG.md"
}

# move STAGE PACKAGE PATTERN...: what matches goes from the stage into the package's own tree.
move() {
    local stage=$1 tree=$1.$2 pattern file
    shift 2
    for pattern in "$@"; do
        for file in "$stage"/$pattern; do
            [ -e "$file" ] || [ -L "$file" ] || { echo "there is no $pattern to package" >&2; exit 1; }
            mkdir -p "$tree/$(dirname "${file#"$stage"/}")"
            mv "$file" "$tree/${file#"$stage"/}"
        done
    done
}

# split STAGE MODULESDIR PKCS11DIR: a tree for each package.
split() {
    local stage=$1 modules=${2#/} pkcs11=${3#/}
    move "$stage" outboard-service usr/sbin/outboardd usr/lib/systemd usr/lib/sysusers.d usr/share/man/man8 \
        usr/lib/outboard/libcsulcca.so usr/lib/outboard/include
    move "$stage" outboard-bench usr/bin/outboard-bench usr/lib/outboard/liboutboard_stopwatch.so 'usr/share/man/man1/outboard-bench*' \
        usr/share/bash-completion/completions/outboard-bench '*/share/zsh/*/_outboard-bench' \
        usr/share/fish/vendor_completions.d/outboard-bench.fish
    move "$stage" libpkcs11-outboard usr/lib/outboard/outboard-pkcs11.so
    if [ -e "$stage/usr/lib/outboard/outboard.jar" ]; then
        move "$stage" libpkcs11-outboard usr/lib/outboard/outboard.jar
        mkdir -p "$stage.libpkcs11-outboard/usr/share/java"
        ln -s ../../lib/outboard/outboard.jar "$stage.libpkcs11-outboard/usr/share/java/outboard.jar"
    fi
    rmdir "$stage/usr/lib/outboard"
    # Where p11-kit and others look for a module that is named without a directory.
    mkdir -p "$stage.libpkcs11-outboard/$pkcs11"
    ln -s "$(realpath -m --relative-to="/$pkcs11" /usr/lib/outboard/outboard-pkcs11.so)" "$stage.libpkcs11-outboard/$pkcs11/outboard-pkcs11.so"
    # An example only: in p11-kit's own directory, every program with p11-kit would load the module.
    mkdir -p "$stage.libpkcs11-outboard/usr/share/doc/libpkcs11-outboard/examples"
    printf 'module: /usr/lib/outboard/outboard-pkcs11.so\n' >"$stage.libpkcs11-outboard/usr/share/doc/libpkcs11-outboard/examples/outboard.module"
    mkdir -p "$stage.outboard"
    mv "$stage/usr" "$stage.outboard/"
    test -e "$stage.outboard/$modules/outboard.so"
    find "$stage".* -type d -empty -delete
    rmdir "$stage"
}

# Scripts with the text that they share, which begins after its first empty line.
script() {
    local line
    while IFS= read -r line; do
        case $line in
        '#@include '*) sed '1,/^$/d' "packaging/${line#\#@include }" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1"
}

field() {
    awk -v package="$1" -v field="$2" 'BEGIN { RS = ""; FS = "\n" } $0 ~ "(^|\n)Package: " package "(\n|$)" {
        for (i = 1; i <= NF; i++) if (index($i, field ": ") == 1) print substr($i, length(field) + 3) }' packaging/debian/control
}

description() {
    awk -v package="$1" 'BEGIN { RS = ""; FS = "\n" } $0 ~ "(^|\n)Package: " package "(\n|$)" {
        for (i = 1; i <= NF; i++) { if (index($i, "Description: ") == 1) on = 1; if (on) print $i } }' packaging/debian/control
}

elves() {
    find "$1" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' sh {} \; -print | LC_ALL=C sort
}

# bill PACKAGE TREE KIND
bill() {
    local document=$out/sbom/$1.$3.cdx.json
    # shellcheck disable=SC2086
    packaging/sbom.py --name "$1" --version "$version" --root "$2" --crates ${crates[$1]} >"$document"
    # cargo-auditable's list, unless a test packages what cargo alone has built.
    # shellcheck disable=SC2046
    [ -n "${WITHOUT_AUDIT:-}" ] || packaging/sbom.py --check "$document" $(elves "$2") $(find "$2" -name '*.jar' -type f)
    mkdir -p "$2/usr/share/doc/$1"
    cp "$document" "$2/usr/share/doc/$1/$1.cdx.json"
}

deb() {
    local package=$1 tree=$2 doc=$2/usr/share/doc/$1 shlibs size name
    mkdir -p "$doc" "$tree/DEBIAN" "$work/shlibs/debian"
    sed "s/PACKAGE/$package/g" packaging/debian/copyright >"$doc/copyright"
    gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
    printf 'outboard (%s) stable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' \
        "$version" "$maintainer" "$(date -uR -d "@$SOURCE_DATE_EPOCH")" | gzip -9nc >"$doc/changelog.Debian.gz"
    printf 'Source: outboard\n\nPackage: %s\nArchitecture: any\n' "$package" >"$work/shlibs/debian/control"
    # shellcheck disable=SC2046
    shlibs=$(cd "$work/shlibs" && dpkg-shlibdeps -O $(elves "$tree" | sed 's/^/-e/') 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
    size=$(du -sk --apparent-size "$tree/usr" | cut -f1)
    {
        printf 'Package: %s\nSource: outboard\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$package" "$version" "$architecture" "$maintainer"
        printf 'Installed-Size: %s\nSection: %s\nPriority: optional\n' "$size" "$(field "$package" Section)"
        for name in Depends Recommends Suggests; do
            field "$package" $name | sed "s/@shlibs@/$shlibs/; s/@version@/$version/; s/^/$name: /"
        done
        description "$package"
    } >"$tree/DEBIAN/control"
    for name in postinst prerm postrm; do
        if [ -e "packaging/debian/$package.$name" ]; then
            script "packaging/debian/$package.$name" >"$tree/DEBIAN/$name"
            chmod 755 "$tree/DEBIAN/$name"
        fi
    done
    (cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    find "$tree" -depth -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group --threads-max=1 $compression --build "$tree" "$out/deb/${package}_${version}_$architecture.deb" >/dev/null
}

rpm() {
    local stage=$1 package tree
    mkdir -p "$work/rpm/trees"
    for package in $packages; do
        tree=$stage.$package
        mkdir -p "$tree/usr/share/licenses/$package" "$tree/usr/share/doc/$package"
        cp LICENSE "$tree/usr/share/licenses/$package/"
        cp CHANGELOG.md "$tree/usr/share/doc/$package/"
        # Directories of our own, and every file and link.
        (cd "$tree" && {
            find usr \( -path "usr/share/licenses/$package*" -o -path "usr/share/doc/$package*" -o -path 'usr/lib/outboard*' -o -path 'usr/share/outboard*' \) -type d | sed 's|^|%dir "/|; s|$|"|'
            find usr \( -type f -o -type l \) ! -path 'usr/share/licenses/*' | sed 's|^|"/|; s|$|"|'
            find usr/share/licenses -type f | sed 's|^|%license "/|; s|$|"|'
        } | LC_ALL=C sort) >"$work/rpm/$package.files"
        cp -a "$tree/." "$work/rpm/trees/"
    done
    for package in $packages; do
        for name in post preun postun; do
            [ ! -e "packaging/rpm/$package.$name" ] || script "packaging/rpm/$package.$name" >"$work/rpm/$package.$name"
        done
        description "$package" | sed '1d; s/^ \.$//; s/^ //' >"$work/rpm/$package.description"
    done
    find "$work/rpm/trees" -depth -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    {
        printf '%%global version_of_ours %s\n%%global release_of_ours %s\n' "${version%-*}" "${version##*-}"
        printf '%%global maintainer_of_ours %s\n%%global date_of_ours %s\n' "$maintainer" "$(date -u -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')"
        printf '%%global work_of_ours %s\n%%global payload_of_ours %s\n' "$work/rpm" "$payload"
        awk -v work="$work/rpm" '
            function put(file) { while ((getline line < (work "/" file)) > 0) { gsub(/%/, "%%", line); print line } }
            /^@description / { put($2 ".description"); next }
            /^@script / { put($2); next }
            { print }' packaging/rpm/outboard.spec
    } >"$work/rpm/outboard.spec"
    rpmbuild -bb --quiet --target x86_64 --define "_topdir $work/rpm/top" --define "_rpmdir $out/rpm" "$work/rpm/outboard.spec" \
        >"$work/rpm/log" 2>&1 || { cat "$work/rpm/log" >&2; exit 1; }
    mv "$out/rpm/x86_64/"*.rpm "$out/rpm/"
    rmdir "$out/rpm/x86_64"
}

modules=/usr/lib/$triplet/ossl-modules
stage "$work/debian" "$modules" /usr/share/zsh/vendor-completions
split "$work/debian" "$modules" "/usr/lib/$triplet/pkcs11"
# shellcheck disable=SC2046
packaging/glibc.sh $(for package in $packages; do elves "$work/debian.$package"; done)
for package in $packages; do
    bill "$package" "$work/debian.$package" deb
    deb "$package" "$work/debian.$package"
done

if command -v rpmbuild >/dev/null; then
    stage "$work/fedora" /usr/lib64/ossl-modules /usr/share/zsh/site-functions
    split "$work/fedora" /usr/lib64/ossl-modules /usr/lib64/pkcs11
    for package in $packages; do
        bill "$package" "$work/fedora.$package" rpm
    done
    rpm "$work/fedora"
else
    echo "rpmbuild is not here: no .rpm (Debian's package rpm has it)" >&2
fi
(cd "$out" && find deb rpm sbom -type f | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
echo "packages are in $out: $(cd "$out" && ls deb rpm | grep -c outboard) files, listed in SHA256SUMS"
