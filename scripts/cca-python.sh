#!/usr/bin/env bash
# Installs psec, pydukpt and pyemv from PyPI into target/cca-python: the second implementations that the tests of crates/cca compare with.
set -euo pipefail
cd "$(dirname "$0")/.."

versions='psec==1.3.0 pydukpt==0.1.0 pyemv==1.5.0'
directory=target/cca-python
[[ -f $directory/versions && $(<"$directory/versions") == "$versions" ]] && exit

rm -rf "$directory"
# shellcheck disable=SC2086 # Several packages.
python3 -m pip install --quiet --disable-pip-version-check --target "$directory" $versions
echo "$versions" > "$directory/versions"
