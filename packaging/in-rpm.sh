# The life of the .rpm on one machine: Debian 13, whose packages rpm and dnf install them. No archive of a distribution with rpm is
# needed; so what is not shown here is a libcrypto of Fedora's. packaging/test.sh runs it in packaging/machine.sh.

old=$1 new=$2
set -E
trap 'echo "FAILED: $BASH_COMMAND" >&2' ERR
step() { echo "  $*"; }
die() { echo "FAILED: $*" >&2; exit 1; }
has() { grep -qE -e "$2" <<<"$1" || die "'$2' is not in: $1"; }
# Debian's packages are not in rpm's database, and Debian's libcrypto looks elsewhere for modules.
rpm() { command rpm --nodeps "$@" 2>&1; }
module=/usr/lib64/ossl-modules/outboard.so

mkdir -p /root/test
cd /root/test
command rpm --initdb
command rpm --import "/files/$old/rpm/RPM-GPG-KEY-outboard"
cp /etc/ssl/openssl.cnf before

step "the packages are signed"
command rpm --checksig "/files/$old/rpm/"*.rpm >signatures
! grep -v 'digests signatures OK' signatures || die "a signature"
[ -s "/files/$old/rpm/repodata/repomd.xml.asc" ] || die "the repository is not signed"

step "installing switches nothing on, starts nothing, measures nothing, and names the next line"
said=$(rpm -i "/files/$old/rpm/"*.rpm)
has "$said" 'switched off. Next, type: outboard info'
has "$said" 'systemctl enable --now outboard.socket'
cmp /etc/ssl/openssl.cnf before
[ ! -e /var/lib/outboard ] && ! ls /dev/shm/outboard* 2>/dev/null || die "something was measured or counted"
[ "$(systemctl is-enabled outboard.service || true)" = disabled ] || die "the service is enabled"
command rpm -V --nodeps outboard outboard-service libpkcs11-outboard outboard-bench
getent passwd outboard >/dev/null || die "the service's user is not there"

step "run --proof, enable, doctor"
openssl ecparam -name P-384 -genkey -noout -out key.pem
has "$(outboard run --offer all --proof -- openssl dgst -sha384 -sign key.pem -out signature /etc/hostname 2>&1)" 'openssl +p384-sign +(scalar|wide)'
outboard enable --offer all >/dev/null
grep -q "^module = $module" /etc/ssl/openssl.cnf || die "$(tail -n 20 /etc/ssl/openssl.cnf)"
has "$(openssl list -providers)" 'name: Outboard'
has "$(outboard doctor || true)" 'has Outboard active'

step "an upgrade: no program fails, and running programs keep the module that they have"
openssl ecparam -name P-384 -genkey -noout -out server.key
OPENSSL_CONF=<(printf '[req]\ndistinguished_name=name\n[name]\n') openssl req -x509 -key server.key -days 7 -subj /CN=localhost -out server.crt
openssl s_server -quiet -accept 4433 -key server.key -cert server.crt -www >/dev/null 2>&1 &
server=$!
ask() { echo | openssl s_client -connect localhost:4433 -verify_return_error -CAfile server.crt >/dev/null 2>&1; }
for _ in $(seq 100); do ! ask || break; sleep 0.2; done
ask
touch go
(while [ -e go ]; do ask || echo failed >>failed; echo >>asked; done) &
client=$!
command rpm --import "/files/$new/rpm/RPM-GPG-KEY-outboard"
rpm -U "/files/$new/rpm/"*.rpm >/dev/null
sleep 1
rm go
wait $client
[ ! -s failed ] || die "requests failed meanwhile"
grep -q 'outboard.so (deleted)' "/proc/$server/maps" || die "the server does not have the old module"
[ "$(command rpm -q --qf '%{VERSION}-%{RELEASE}' outboard)" = "$new" ] || die "$(command rpm -q outboard)"
has "$(openssl list -providers)" 'name: Outboard'
kill $server

step "what still needs the service is named, and nothing is removed"
mkdir -p /etc/nginx/tls
printf -- '-----BEGIN OUTBOARD KEY-----\n' >/etc/nginx/tls/site.key
! said=$(rpm -e outboard-service) || die "the service was removed"
has "$said" '/etc/nginx/tls/site.key: holds a reference'
command rpm -q outboard-service >/dev/null
rm /etc/nginx/tls/site.key

step "removal: openssl.cnf is byte for byte what it was, and every file is gone"
command rpm -ql outboard outboard-service libpkcs11-outboard outboard-bench >files
said=$(rpm -e outboard-bench libpkcs11-outboard outboard-service outboard)
has "$said" 'byte for byte what it was'
cmp /etc/ssl/openssl.cnf before
while read -r file; do
    [ ! -e "$file" ] || die "$file is left"
done <files
openssl version >/dev/null

step "dnf checks the signatures, resolves what the packages need, installs, upgrades and removes"
# A stand-in has what the packages ask of such a system.
mkdir -p /etc/yum.repos.d
{
    printf 'Name: stand-in\nVersion: 1\nRelease: 1\nSummary: What the system has\nLicense: none\nBuildArch: noarch\n'
    command rpm -qp --requires "/files/$old/rpm/"*.rpm "/files/$new/rpm/"*.rpm | grep -vE '^(rpmlib|outboard|libpkcs11-outboard)' |
        sed 's/ >= / = /; s/^/Provides: /' | sort -u
    printf '%%description\nA stand-in.\n%%files\n'
} >stand-in.spec
rpmbuild -bb --quiet --define "_rpmdir $PWD" stand-in.spec >/dev/null
rpm -i noarch/stand-in-1-1.noarch.rpm
repository() {
    sed "s|file://.*/rpm|file:///files/$1/rpm|" "/files/$1/rpm/outboard.repo" >/etc/yum.repos.d/outboard.repo
    grep -q '^gpgcheck=1' /etc/yum.repos.d/outboard.repo
}
dnf() { command dnf -y --releasever=9 "$@" 2>&1; }
# dnf takes the key from the repository's own file: rpm has none of the earlier steps. Another key is refused.
command rpm -qa 'gpg-pubkey*' | xargs rpm -e
repository "$old"
sed -i "s|^gpgkey=.*|gpgkey=file:///files/$new/rpm/RPM-GPG-KEY-outboard|" /etc/yum.repos.d/outboard.repo
! said=$(dnf install outboard) || die "dnf takes a repository that another key signed: $said"
has "$said" '(GPG|OpenPGP|signature)'
repository "$old"
said=$(dnf install outboard-service outboard-bench libpkcs11-outboard) || die "$said"
has "$said" 'Installing dependencies'
[ "$(command rpm -q --qf '%{VERSION}-%{RELEASE}' outboard)" = "$old" ] || die "$(command rpm -q outboard)"
repository "$new"
said=$(dnf upgrade --refresh) || die "$said"
[ "$(command rpm -q --qf '%{VERSION}-%{RELEASE}' outboard)" = "$new" ] || die "$said"
said=$(dnf remove outboard) || die "$said"
! command rpm -q outboard outboard-service >/dev/null || die "$said"
cmp /etc/ssl/openssl.cnf before
# A package that somebody changed on the way.
cp -r "/files/$old/rpm" changed
for package in changed/*.rpm; do printf x | dd of="$package" bs=1 seek=$(($(stat -c %s "$package") - 100)) conv=notrunc status=none; done
repository "$old"
sed -i "s|^baseurl=.*|baseurl=file://$PWD/changed|" /etc/yum.repos.d/outboard.repo
! said=$(dnf install outboard --refresh) || die "dnf takes a package that was changed: $said"
has "$said" '[Cc]hecksum'
cp "/files/$old/rpm/"*.rpm changed/
echo '<!-- changed -->' >>changed/repodata/repomd.xml
! said=$(dnf install outboard --refresh) || die "dnf takes a list of packages that was changed: $said"
has "$said" '(GPG|OpenPGP|signature)'
cp "/files/$old/rpm/repodata/repomd.xml" changed/repodata/
said=$(dnf install outboard --refresh) || die "dnf refuses what is as it was: $said"
