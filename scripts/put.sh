#!/bin/sh
# Puts one file where programs may be using an earlier version of it.
#
#   scripts/put.sh MODE SOURCE DESTINATION             a copy
#   STRIP='strip --strip-debug' scripts/put.sh …       a copy without what STRIP removes
#
# A program that starts at the same moment sees the old file or the new one, never half of one: the new file is
# completed under a temporary name in the destination's directory, and one rename puts it in place. A process that
# has mapped the old file keeps it.
set -eu

[ $# -eq 3 ] || { echo "usage: $0 MODE SOURCE DESTINATION" >&2; exit 2; }
# Directories that it makes are everybody's to read, and root's to write.
umask 022
mode=$1 source=$2 destination=$3
directory=$(dirname "$destination")

mkdir -p "$directory"
temporary=$(mktemp "$directory/.outboard-install.XXXXXX")
trap 'rm -f "$temporary"' EXIT
trap 'exit 1' HUP INT TERM

cat "$source" >"$temporary"
# STRIP is a command and its options.
# shellcheck disable=SC2086
[ -z "${STRIP:-}" ] || $STRIP "$temporary"
chmod "$mode" "$temporary"
mv -fT "$temporary" "$destination"
