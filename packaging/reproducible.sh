#!/bin/sh
# Builds the packages a second time, from a copy of the last commit in another directory, and compares: every byte is the same.
#
#   packaging/reproducible.sh PACKAGES          what 'make packages' made of the same commit
set -eu
cd "$(dirname "$0")/.."

packages=$(realpath -e "$1")
SOURCE_DATE_EPOCH=$(packaging/epoch.sh)
MAINTAINER=$(git log -1 --format='%an <%ae>')
export SOURCE_DATE_EPOCH MAINTAINER

again=${AGAIN:-$(mktemp -d)}
[ -n "${AGAIN:-}" ] || trap 'rm -rf "$again"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$again/elsewhere"
git archive HEAD | tar -x -C "$again/elsewhere"
cd "$again/elsewhere"
packaging/build.sh "$again/built"
packaging/make.sh "$again/built/release" "$again/packages"
if diff "$packages/SHA256SUMS" "$again/packages/SHA256SUMS"; then
    echo "$(wc -l <"$packages/SHA256SUMS") files are byte for byte the same"
else
    echo "the files above differ" >&2
    exit 1
fi
