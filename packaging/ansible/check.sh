#!/bin/bash
# Tests the Ansible role in a machine of its own: this system's, booted in namespaces on a copy in memory. Needs root.
#
#   packaging/ansible/check.sh PACKAGES       PACKAGES has deb/, as packaging/make.sh makes it
set -euo pipefail
packages=$(realpath -e "$1")
cd "$(dirname "$0")"
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
trap 'exit 1' HUP INT TERM
cp -r roles "$files/"
cp "$packages"/deb/outboard_*.deb "$packages"/deb/outboard-service_*.deb "$files/"
../machine.sh / "$files" in-machine.sh
