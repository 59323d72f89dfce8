#!/bin/sh
# Builds what the packages contain. The bytes depend on the source and the tools alone.
#
#   packaging/build.sh DIRECTORY          built files are then in DIRECTORY/release
#
# SOURCE_DATE_EPOCH (packaging/epoch.sh) is the time of everything that has one. cargo-auditable writes the list of crates into
# each binary. One build serves every system with glibc 2.34 and OpenSSL 3 (packaging/glibc.sh checks it): no file of it links
# libcrypto, which is found at run time.
#
# The compiler sees the source, cargo's directory and the built files below /usr/src, wherever they are: in a mount namespace of
# its own, as root or in a user namespace. (Options that map names are not enough: they are hashed into the names of symbols.)
set -eu
cd "$(dirname "$0")/.."

if [ -z "${OUTBOARD_PLACED:-}" ]; then
    mkdir -p "$1"
    built=$(realpath -e "$1")
    export CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" CARGO="${CARGO:-cargo}"
    packaging/tool.sh cargo-auditable
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(packaging/epoch.sh)}
    export SOURCE_DATE_EPOCH OUTBOARD_PLACED=1
    mkdir -p "$CARGO_HOME"
    namespaces=--mount
    [ "$(id -u)" -eq 0 ] || namespaces='--mount --map-root-user'
    # shellcheck disable=SC2086
    unshare $namespaces true || {
        echo "cannot make a mount namespace: run this as root, or allow user namespaces" >&2
        exit 1
    }
    # shellcheck disable=SC2016,SC2086
    exec unshare $namespaces sh -euc '
        exec 3<. 4<"$CARGO_HOME" 5<"$1"
        mount -t tmpfs -o mode=755 outboard /usr/src
        mkdir /usr/src/outboard /usr/src/cargo /usr/src/built
        mount --rbind /proc/self/fd/3 /usr/src/outboard
        mount --rbind /proc/self/fd/4 /usr/src/cargo
        mount --rbind /proc/self/fd/5 /usr/src/built
        exec 3<&- 4<&- 5<&-
        cd /usr/src/outboard
        CARGO_HOME=/usr/src/cargo exec packaging/build.sh /usr/src/built' - "$built"
fi

directory=$1
export CARGO_TARGET_DIR="$directory" CARGO_INCREMENTAL=0
# No debugging information: the packages have none. (Code is the same with it and without.)
export CARGO_PROFILE_RELEASE_DEBUG=0
export RUSTFLAGS='' CFLAGS='' LC_ALL=C.UTF-8 TZ=UTC

$CARGO auditable build --release --locked -p outboard-cli -p outboard-provider -p outboard-observer -p outboard-bench \
    -p outboard-stopwatch-preload -p outboard-service -p outboard-pkcs11 -p outboard-csulcca -p outboard-java
if command -v javac >/dev/null; then
    STRIP='strip --strip-unneeded' scripts/jar.sh "$directory/release/liboutboard_java.so" "$directory/release/outboard.jar"
else
    rm -f "$directory/release/outboard.jar"
    echo "javac is not here: the packages have no outboard.jar" >&2
fi
