#!/bin/sh
# Runs one of a crate's fuzz targets, from the repository's root; installs cargo-fuzz if it is missing.
#
#   scripts/fuzz.sh CRATE TARGET SANITIZER [OPTION OF LIBFUZZER]...      (SANITIZER: address, or none)
#
# FUZZ_FEATURES: the target's features, if any. What the fuzzer keeps is in crates/CRATE/fuzz/corpus/TARGET. It begins with
# crates/CRATE/fuzz/seeds/TARGET, if there is one.
set -eu

crate=$1 target=$2 sanitizer=$3
shift 3
root=$(pwd)
packaging/tool.sh cargo-fuzz
cd "crates/$crate"
corpora=fuzz/corpus/$target
mkdir -p "$corpora"
[ ! -d "fuzz/seeds/$target" ] || corpora="$corpora fuzz/seeds/$target"
# The sanitizers and their runtimes are part of the stable compiler. It refuses their options unless this variable is set.
export RUSTC_BOOTSTRAP=1
# $corpora is a list of words.
# shellcheck disable=SC2086
exec "${CARGO:-cargo}" fuzz run --sanitizer "$sanitizer" --features "${FUZZ_FEATURES:-}" --target-dir "$root/target/fuzz" "$target" $corpora -- "$@"
