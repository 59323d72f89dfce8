#!/bin/bash
# Tests what packages bring for AppArmor and SELinux, without a kernel that has either.
#
#   packaging/confinement/check.sh MODULE      MODULE: liboutboard.so of the build
#
# AppArmor: a profile of each server parses and compiles, and a program under Outboard opens no file that the rules do not allow.
# SELinux: the module compiles, and, loaded into a copy of Debian's own policy, it allows what that policy alone does not.
set -euo pipefail
module=$(realpath -e "$1")
cd "$(dirname "$0")"
die() { echo "FAILED: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

parse() { apparmor_parser --skip-kernel-load --skip-cache --quiet "$1"; }
for program in nginx sshd haproxy apache2 postgres; do
    cat >"$work/$program" <<END
abi <abi/3.0>,
include <tunables/global>
profile $program /usr/sbin/$program {
  include <abstractions/base>
  include if exists "$PWD/apparmor/outboard"
  include if exists "$PWD/apparmor/outboard-keys"
}
END
    parse "$work/$program" 2>"$work/said" || die "$program: $(cat "$work/said")"
done
# A rule without a peer is one for every program's socket.
! grep -E '^ *unix .*(connect|send|receive)' apparmor/* | grep -v 'peer=' || die "the rules above name no peer"
sed 's/rwlk,/rwlk/' apparmor/outboard >"$work/broken"
sed -i "s|$PWD/apparmor/outboard\"|$work/broken\"|" "$work/nginx"
! parse "$work/nginx" 2>/dev/null || die "a broken rule parses: this test shows nothing"
echo "AppArmor: the rules parse, in the profiles of five servers"

# In a /dev/shm of its own: the ledger is made anew, and nobody else's is touched.
if [ "$(id -u)" -eq 0 ]; then
    printf 'openssl_conf = a\n[a]\nproviders = b\n[b]\noutboard = c\ndefault = d\n[d]\nactivate = 1\n[c]\nmodule = %s\noffer = all\nactivate = 1\n' \
        "$module" >"$work/openssl.cnf"
    openssl genrsa -out "$work/key.pem" 2048 2>/dev/null
    for conf in /dev/null "$work/openssl.cnf"; do
        unshare -m sh -ec 'mount -t tmpfs -o mode=1777 none /dev/shm
            OPENSSL_CONF=$1 strace -f -z -qq -e trace=file -o "$2" openssl dgst -sha256 -sign "$3" -out /dev/null /etc/hostname' \
            sh "$conf" "$work/trace.${conf##*/}" "$work/key.pem"
    done
    python3 covered.py apparmor/outboard "$work/trace.null" "$work/trace.openssl.cnf" \
        "$module=/usr/lib/x86_64-linux-gnu/ossl-modules/outboard.so" "$work/openssl.cnf=/etc/ssl/openssl.cnf" || die "see above"
fi

store=$work/root
mkdir -p "$store/var/lib" "$store/etc"
if [ -d /etc/selinux/default/policy ] && [ -d /var/lib/selinux/default ]; then
    cp -a /var/lib/selinux "$store/var/lib/"
    cp -a /etc/selinux "$store/etc/"
    selinux/load.sh -n -s default -p "$store" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
    with=$(ls "$store"/etc/selinux/default/policy/policy.*)
    without=$(ls /etc/selinux/default/policy/policy.*)
    programs=$(seinfo -a outboard_program -x "$with")
    for domain in httpd_t sshd_t postgresql_t stunnel_t; do
        grep -qw $domain <<<"$programs" || die "$domain is no program of the module: $programs"
    done
    rules=$(sesearch -A -ds -s outboard_program "$with")
    for rule in 'outboard_ledger_t:file { create getattr link lock map open read setattr unlink write }' \
        'outboard_profile_t:file { getattr map open read }' 'outboard_runtime_t:sock_file { getattr write }'; do
        grep -qF "$rule" <<<"$rules" || die "no rule for $rule: $rules"
    done
    [ -z "$(sesearch -A -s httpd_t -t outboard_store_t -c file -p read "$with")" ] || die "nginx may read the service's keys"
    # A program makes its ledger with its domain's own type, and maps it.
    maps() { sesearch -A -t httpd_tmpfs_t -c file -p map "$1" | grep -F 'allow httpd_t '; }
    maps "$with" >/dev/null || die "nginx may not map a ledger that it made"
    ! maps "$without" || die "Debian's policy alone allows it: this test shows nothing"
    # The type of a file, as restorecon finds it.
    for file in /dev/shm/outboard.33=ledger /var/lib/outboard/profile.json=profile /var/lib/outboard/store/x=store \
        /run/outboard/service.sock=runtime; do
        label=$(matchpathcon -n -f "$store/etc/selinux/default/contexts/files/file_contexts" -m "$(case $file in *sock*) echo sock_file ;; *) echo file ;; esac)" "${file%=*}")
        [[ $label == *:outboard_${file#*=}_t:* ]] || die "${file%=*} has the label $label"
    done
    echo "SELinux: the module links with Debian's policy, and allows what servers need"
else
    checkmodule -M -m -o "$work/outboard.mod" selinux/outboard.te >/dev/null
    echo "SELinux: the module compiles; without Debian's selinux-policy-default it was not linked with a policy" >&2
fi
