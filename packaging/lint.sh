#!/bin/sh
# What lintian and rpmlint say of the packages: no error.
#
#   packaging/lint.sh DIRECTORY
set -eu

configuration=$(realpath "$(dirname "$0")/rpm/rpmlint.toml")
cd "$1"
failed=0
lintian --fail-on error deb/*.deb || failed=1
if ls rpm/*.rpm >/dev/null 2>&1; then
    rpmlint --config "$configuration" rpm/*.rpm || failed=1
fi
exit $failed
