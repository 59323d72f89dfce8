#!/bin/sh
# Compiles Outboard's SELinux policy module, loads it, and labels what is there. To take it back: semodule -r outboard
set -eu
for tool in checkmodule:checkpolicy 'semodule_package:policycoreutils (Debian: semodule-utils)' semodule:policycoreutils restorecon:policycoreutils; do
    command -v "${tool%%:*}" >/dev/null || { echo "there is no ${tool%%:*}: install ${tool#*:}" >&2; exit 1; }
done
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checkmodule -M -m -o "$work/outboard.mod" "$here/outboard.te"
semodule_package -o "$work/outboard.pp" -m "$work/outboard.mod" -f "$here/outboard.fc"
# Arguments are for semodule: a test loads the module into a store of its own ('-n -p DIRECTORY').
semodule "$@" -i "$work/outboard.pp"
[ $# -ne 0 ] || restorecon -RF /var/lib/outboard /run/outboard /dev/shm 2>/dev/null || true
