#!/bin/bash
# Whether the packages have what they promise, and what lintian and rpmlint say of them: no error.
#
#   packaging/lint.sh DIRECTORY
set -euo pipefail

configuration=$(realpath "$(dirname "$0")/rpm/rpmlint.toml")
cd "$1"
failed=0

# has PACKAGE FILE...
has() {
    local package=$1 list file
    shift
    list=$(dpkg-deb --fsys-tarfile deb/"$package"_*.deb | tar -t | sed 's|^\./|/|')
    for file in "$@"; do
        grep -qE "^$file\$" <<<"$list" || { echo "$package has no $file" >&2; failed=1; }
    done
    # Files of an administrator's are no package's.
    ! grep -E '^/(etc|usr/local|var|run|home)/' <<<"$list" >&2 || { echo "$package has the files above" >&2; failed=1; }
}
has outboard /usr/bin/outboard '/usr/lib/[^/]*/ossl-modules/outboard(-observe)?.so' /usr/share/man/man1/outboard-run.1.gz \
    /usr/share/man/man5/outboard.cnf.5.gz /usr/share/bash-completion/completions/outboard /usr/share/doc/outboard/install.md \
    /usr/share/outboard/apparmor/outboard-keys /usr/share/outboard/selinux/load.sh \
    /usr/share/outboard/monitoring/outboard-dashboard.json /usr/share/outboard/ansible/roles/outboard/tasks/present.yml \
    /usr/share/doc/outboard/schema/outboard-status.json /usr/share/doc/outboard/outboard.cdx.json
has outboard-service /usr/sbin/outboardd '/usr/lib/systemd/system/outboard(-agent|-chroot|-metrics)?.socket' \
    '/usr/lib/systemd/system/outboard(-agent|-metrics@)?.service' /usr/lib/sysusers.d/outboard.conf \
    /usr/lib/outboard/libcsulcca.so /usr/lib/outboard/include/csulincl.h
has libpkcs11-outboard /usr/lib/outboard/outboard-pkcs11.so '/usr/lib/[^/]*/pkcs11/outboard-pkcs11.so' \
    /usr/share/doc/libpkcs11-outboard/examples/outboard.module
has outboard-bench /usr/bin/outboard-bench /usr/lib/outboard/liboutboard_stopwatch.so

lintian --fail-on error deb/*.deb || failed=1
if ls rpm/*.rpm >/dev/null 2>&1; then
    rpmlint --config "$configuration" rpm/*.rpm || failed=1
fi
exit $failed
