#!/bin/sh
# Builds what the packages contain, without names of directories and times of the build machine. (The bytes are not yet the same in
# every directory: see docs/install.md.)
#
#   packaging/build.sh DIRECTORY          built files are then in DIRECTORY/release
#
# SOURCE_DATE_EPOCH (scripts/epoch.sh) is the time of everything that has one. cargo-auditable writes the list of crates into
# each binary. One build serves every system with glibc 2.34 and OpenSSL 3 (packaging/glibc.sh checks it): no file of it links
# libcrypto, which is found at run time.
set -eu
cd "$(dirname "$0")/.."

directory=$(realpath -m "$1")
repository=$(pwd -P)
cargo=${CARGO:-cargo}
cargo_home=$(realpath "${CARGO_HOME:-$HOME/.cargo}")
packaging/tool.sh cargo-auditable

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(packaging/epoch.sh)}
export SOURCE_DATE_EPOCH
export CARGO_TARGET_DIR="$directory" CARGO_INCREMENTAL=0
# No debugging information: the packages have none, and it names directories. (Code is the same with it and without.)
export CARGO_PROFILE_RELEASE_DEBUG=0
# The last of the options that match a path counts.
maps="$repository=/usr/src/outboard $cargo_home=/usr/src/cargo $directory=/usr/src/built"
RUSTFLAGS='' CFLAGS=''
for map in $maps; do
    RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$map"
    CFLAGS="$CFLAGS -ffile-prefix-map=$map"
done
export RUSTFLAGS CFLAGS
export LC_ALL=C.UTF-8 TZ=UTC

$cargo auditable build --release --locked -p outboard-cli -p outboard-provider -p outboard-observer -p outboard-bench \
    -p outboard-stopwatch-preload -p outboard-service -p outboard-pkcs11 -p outboard-csulcca -p outboard-java
if command -v javac >/dev/null; then
    STRIP='strip --strip-unneeded' scripts/jar.sh "$directory/release/liboutboard_java.so" "$directory/release/outboard.jar"
else
    rm -f "$directory/release/outboard.jar"
    echo "javac is not here: the packages have no outboard.jar" >&2
fi
