#!/bin/sh
# Makes sure that Debian packages are installed.
#
#   scripts/need.sh PACKAGE...
#
# As root: installs the missing packages, without starting their daemons.
# As another user: prints the command that installs them, and fails.
# On a system without dpkg: does nothing. The build then names what is missing.
set -eu

command -v dpkg-query >/dev/null 2>&1 || exit 0

missing=
for package in "$@"; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) in
        *' installed') ;;
        *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "missing packages; run: sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi

echo "installing:$missing" >&2
# Debian starts a daemon as it is installed, unless this policy says no (invoke-rc.d(8)). It holds as long as this process lives,
# however that ends.
policy=/usr/sbin/policy-rc.d
mark='# Written by scripts/need.sh'
is_left_over() { grep -qsxF "$mark" "$policy" && "$policy"; }
if [ ! -e "$policy" ] || is_left_over; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 1' HUP INT TERM
    printf '#!/bin/sh\n%s\n! kill -0 %s 2>/dev/null || exit 101\n' "$mark" $$ >"$policy"
    chmod 0755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
install() {
    # $missing is a list of words.
    # shellcheck disable=SC2086
    apt-get install -y -qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600 --no-install-recommends $missing >/dev/null
}
install 2>/dev/null || { apt-get update -qq -o Acquire::Retries=5 && install; }
