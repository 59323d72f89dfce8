#!/bin/sh
# Makes sure that one of cargo's tools is there: installs it where cargo has its programs, unless there is one in PATH.
#
#   packaging/tool.sh cargo-auditable | cargo-deny | cargo-fuzz | bindgen
set -eu

crate=$1
case $1 in
cargo-auditable) version=0.7.7 ;;
cargo-deny) version=0.20.2 ;;
cargo-fuzz) version=0.13.2 ;;
bindgen) version=0.73.2 crate=bindgen-cli ;;
*)
    echo "unknown tool '$1'" >&2
    exit 2
    ;;
esac
if ! command -v "$1" >/dev/null; then
    echo "installing $1 $version (a minute or two, once)" >&2
    # Not in this repository's target directory, and not with its settings. Unoptimised: it runs for less time than it takes to compile.
    built=$(mktemp -d)
    trap 'rm -rf "$built"' EXIT
    trap 'exit 1' HUP INT TERM
    cd /
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$built "${CARGO:-cargo}" install --quiet --debug --locked --version "$version" "$crate"
fi
