#!/bin/sh
# What lintian and rpmlint say of the packages: no error.
#
#   packaging/lint.sh DIRECTORY
set -eu

cd "$1"
failed=0
lintian --fail-on error --suppress-tags-from-file /dev/null deb/*.deb || failed=1
if ls rpm/*.rpm >/dev/null 2>&1; then
    rpmlint rpm/*.rpm || failed=1
fi
exit $failed
