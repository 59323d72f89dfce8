#!/bin/sh
# Makes outboard.jar: the classes of java/, and the native library in it. The same sources and library give the same bytes.
#
#   scripts/jar.sh LIBRARY JAR
#   STRIP='strip --strip-debug' scripts/jar.sh …       the library without what STRIP removes
#
# Needs a JDK of version 17 or later. Classes are for version 17.
set -eu

library=$(realpath "$1") jar=$(realpath -m "$2")
cd "$(dirname "$0")/../java"

classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
trap 'exit 1' HUP INT TERM

find . -name '*.java' ! -name Kem.java | LC_ALL=C sort |
    xargs javac -Xlint:all -Werror --release 17 -g:source,lines -d "$classes"
# Java 17 got the interface for KEMs in an update (Debian's 17.0.15 has it), and later compilers do not know that of 17.
if javap javax.crypto.KEMSpi >/dev/null 2>&1; then
    javac -source 17 -target 17 -nowarn -Xlint:-options -g:source,lines -cp "$classes" -d "$classes" org/outboard/provider/Kem.java
fi
cp "$library" "$classes/org/outboard/provider/liboutboard_java.so"
# STRIP is a command and its options.
# shellcheck disable=SC2086
[ -z "${STRIP:-}" ] || $STRIP "$classes/org/outboard/provider/liboutboard_java.so"
mkdir -p "$classes/META-INF/services"
echo org.outboard.provider.Outboard >"$classes/META-INF/services/java.security.Provider"

cd "$classes"
find . -type f | sed 's|^\./||' | LC_ALL=C sort >"$classes.list"
trap 'rm -rf "$classes" "$classes.list" "$classes.manifest"' EXIT
echo 'Enable-Native-Access: ALL-UNNAMED' >"$classes.manifest"
mkdir -p "$(dirname "$jar")"
rm -f "$jar"
# The earliest time that a zip file can hold in every time zone.
jar --create --file "$jar" --date 1980-01-02T00:00:00Z --main-class org.outboard.provider.Outboard \
    --manifest "$classes.manifest" "@$classes.list"
