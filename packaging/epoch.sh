#!/bin/sh
# The time of this version of the source: of its last commit. Without git, of CHANGELOG.md.
set -eu
cd "$(dirname "$0")/.."
git log -1 --format=%ct 2>/dev/null || stat --format=%Y CHANGELOG.md
