#!/bin/sh
# Fails if a file needs a newer C library than the oldest system's of the packages (RHEL 9).
#
#   packaging/glibc.sh FILE...
set -eu

oldest=${OLDEST_GLIBC:-2.34}
failed=0
for file in "$@"; do
    needed=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -n 1)
    [ "$(printf '%s\n' "$oldest" "$needed" | sort -V | tail -n 1)" = "$oldest" ] || {
        echo "$file needs glibc $needed; the packages promise $oldest. It asks for:" >&2
        objdump -T "$file" | grep "GLIBC_$needed" >&2
        failed=1
    }
    ! objdump -p "$file" | grep -E 'NEEDED +lib(crypto|ssl)' >&2 || { echo "$file links a libcrypto" >&2; failed=1; }
done
exit $failed
