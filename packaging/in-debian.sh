# The life of the packages on one machine, from apt's repository to a purge. packaging/test.sh runs it in packaging/machine.sh, for
# each system. /files has old/ and new/: repositories with a version and the next one.
#
# Each step says what it shows; the first one that fails ends the test.

old=$1 new=$2
set -E
trap 'echo "FAILED: $BASH_COMMAND" >&2' ERR
packages='outboard outboard-service libpkcs11-outboard outboard-bench'
step() { echo "  $*"; }
die() {
    echo "FAILED: $*" >&2
    journalctl --no-pager --lines 30 >&2 || true
    exit 1
}
# has TEXT PATTERN
has() { grep -qE -e "$2" <<<"$1" || die "'$2' is not in: $1"; }
has_not() { ! grep -qE -e "$2" <<<"$1" || die "'$2' is in: $1"; }
stock() { OPENSSL_CONF=/dev/null "$@"; }
apt() { apt-get -qq -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root "$@" 2>&1; }
module() { ls /usr/lib/*/ossl-modules/outboard.so; }

# Every file of the system: type, mode, owner, and content. Left out is what belongs to the package manager, the journal and the
# kernel, and what systemd itself writes as it runs.
manifest() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /files -o -path /var/lib/dpkg \
        -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /var/lib/systemd -o -path /root/test \) -prune -o \
        -printf '%y %m %U:%G %p %l\n' | LC_ALL=C sort -k4
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /files -o -path /var/lib/dpkg \
        -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /var/lib/systemd -o -path /root/test \) -prune -o \
        -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
    ls -d /dev/shm/outboard* 2>/dev/null || true
    dpkg --get-selections | grep -v deinstall
}

served() { # served PROGRAM OPERATION: how many did Outboard do itself
    stock outboard stats --all --json | python3 -c '
import json, sys
def walk(it, program):
    if isinstance(it, dict):
        program = it.get("program", program)
        if it.get("operation") == sys.argv[2] and program == sys.argv[1] and it.get("path") not in (None, "stock"):
            yield it.get("count", it.get("operations", 0))
        for value in it.values():
            yield from walk(value, program)
    elif isinstance(it, list):
        for value in it:
            yield from walk(value, program)
print(sum(walk(json.load(sys.stdin), None)))' "$1" "$2"
}

# A site with a P-384 key, an sshd, and a user.
mkdir -p /root/test /etc/nginx/tls
cd /root/test
printf '[req]\ndistinguished_name=name\n[name]\n' >req.cnf
OPENSSL_CONF=req.cnf openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-384 -nodes -days 7 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout /etc/nginx/tls/site.key -out /etc/nginx/tls/site.crt 2>/dev/null
cat >/etc/nginx/sites-enabled/default <<'END'
server {
    listen 443 ssl;
    ssl_certificate /etc/nginx/tls/site.crt;
    ssl_certificate_key /etc/nginx/tls/site.key;
    ssl_session_tickets off;
    location / { return 200 "ok\n"; }
}
END
useradd --create-home --shell /bin/sh visitor
install -d -o visitor -m 700 /home/visitor/.ssh
ssh-keygen -q -N '' -t ed25519 -f visitor
install -o visitor -m 600 visitor.pub /home/visitor/.ssh/authorized_keys
cat >/etc/apt/sources.list.d/outboard.sources <<END
Types: deb
URIs: file:///files/$old/apt
Suites: stable
Components: main
Signed-By: /root/test/keyring.gpg
END
cp "/files/$old/apt/outboard-archive-keyring.gpg" keyring.gpg
ours='-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=/root/test/sources'
mkdir sources
mv /etc/apt/sources.list.d/outboard.sources sources/
said=$(apt $ours update) || die "$said"
fetch() { curl -sSf --cacert /etc/nginx/tls/site.crt "$@" https://localhost/; }
login() {
    ssh -i visitor -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -c aes128-gcm@openssh.com \
        visitor@127.0.0.1 id -un 2>/dev/null
}
# A unit has started before its server listens.
answers() {
    for _ in $(seq 100); do
        if fetch >/dev/null 2>&1 && [ "$(login)" = visitor ]; then break; fi
        sleep 0.2
    done
}
systemctl restart nginx ssh
answers
[ "$(stock fetch)" = ok ] || die "nginx does not answer"
[ "$(login)" = visitor ] || die "sshd does not answer"
# A later step runs this again; what it makes beside keys is the system's own.
dpkg-reconfigure openssh-server >/dev/null 2>&1
manifest >before

step "installing switches nothing on, starts nothing, measures nothing, and names the next line"
said=$(apt $ours install $packages)
has "$said" 'switched off. Next, type: outboard info'
has "$said" 'systemctl enable --now outboard.socket'
dpkg --verify $packages
grep -F ' /etc/ssl/openssl.cnf' before | grep -q "$(sha256sum </etc/ssl/openssl.cnf | cut -d' ' -f1)" || die "openssl.cnf has changed"
has_not "$(openssl list -providers)" Outboard
[ ! -e /var/lib/outboard ] && ! ls /dev/shm/outboard* 2>/dev/null || die "something was measured or counted"
for unit in outboard.service outboard.socket outboard-chroot.socket outboard-agent.socket outboard-metrics.socket; do
    [ "$(systemctl is-enabled $unit || true)" = disabled ] || die "$unit is enabled"
    [ "$(systemctl is-active $unit || true)" = inactive ] || die "$unit is active"
done
getent passwd outboard >/dev/null && getent passwd outboard-agent >/dev/null || die "the service's users are not there"
[ "$(outboard --version)" = "outboard $(dpkg-query -W -f '${Version}' outboard | sed 's/-.*//')" ] || die "$(outboard --version)"
outboard-bench list >/dev/null

step "info, calibrate, run --proof"
has "$(outboard info)" 'loaded by'
outboard calibrate --time 5 >calibrated
[ -e /var/lib/outboard/profile.json ] || die "there is no profile"
openssl ecparam -name P-384 -genkey -noout -out key.pem
has "$(outboard run --offer all --proof -- openssl dgst -sha384 -sign key.pem -out signature /etc/hostname 2>&1)" 'openssl +p384-sign +(scalar|wide)'

step "enable, doctor, and real nginx, curl and sshd, with proof"
cp /etc/ssl/openssl.cnf openssl.cnf.before
outboard enable --offer all >/dev/null
has "$(outboard doctor || true)" 'a program that reads .* has Outboard active'
systemctl restart nginx ssh
answers
[ "$(fetch)" = ok ] && [ "$(login)" = visitor ] || die "a server does not answer"
[ "$(served nginx p384-sign)" -ge 1 ] || die "nginx: $(outboard stats --all)"
[ "$(served curl x25519-derive)" -ge 1 ] || die "curl: $(outboard stats --all)"
for program in sshd-session sshd; do
    counted=$(served $program aes-128-gcm-seal)
    [ "$counted" = 0 ] || break
done
[ "$counted" -ge 1 ] || die "sshd: $(outboard stats --all)"

step "the card service: its units, a key that nginx no longer has"
systemctl enable --now --quiet outboard.socket outboard-agent.socket outboard.service
printf '%064d\n' 7 | outboard service enter >/dev/null
outboard keys adopt /etc/nginx/tls/site.key --user www-data >/dev/null
systemctl restart nginx
answers
[ "$(stock fetch)" = ok ] || die "nginx does not answer with a key of the service"
has "$(outboard keys list)" site

step "ssh host keys stay what they are when openssh-server makes new ones"
ssh-keyscan 127.0.0.1 2>/dev/null >known
known() {
    ssh -F none -i visitor -o BatchMode=yes -o UserKnownHostsFile=known -o StrictHostKeyChecking=yes visitor@127.0.0.1 id -un 2>&1
}
for file in /etc/ssh/ssh_host_*_key.pub; do cp "$file" "${file##*/}"; done
! outboard keys adopt /etc/ssh/ssh_host_*_key >/dev/null 2>&1 || die "keys were taken from an sshd that does not ask the service"
systemctl reload ssh
outboard keys adopt /etc/ssh/ssh_host_*_key >/dev/null
systemctl reload ssh
dpkg-reconfigure openssh-server >/dev/null 2>&1
# Debian 12's makes new keys; that of later systems asks which ones sshd uses.
if grep -q 'VERSION_ID="12"' /etc/os-release; then
    ! cmp -s /etc/ssh/ssh_host_rsa_key.pub ssh_host_rsa_key.pub || die "openssh-server made no new key: this step shows nothing"
fi
systemctl restart ssh
answers
[ "$(known | tail -n 1)" = visitor ] || die "sshd shows other keys: $(known)"
outboard keys adopt --revert /etc/ssh/ssh_host_*.outboard-backup >/dev/null
systemctl restart ssh
outboard keys adopt --revert /etc/ssh/ssh_host_*.outboard-backup >/dev/null
answers
[ "$(known | tail -n 1)" = visitor ] || die "sshd shows other keys: $(known)"
for file in ssh_host_*_key.pub; do cmp "$file" "/etc/ssh/$file"; done
! ls /etc/ssh/*outboard* /etc/ssh/sshd_config.d/*outboard* 2>/dev/null || die "something is left in /etc/ssh"

step "what still needs the service is named, and nothing is removed"
for package in outboard-service outboard; do
    ! said=$(apt remove $package) || die "$package was removed while nginx needs it"
    has "$said" '/etc/nginx/tls/site.key: holds a reference'
    has "$said" 'adopt --revert'
    apt -f install >/dev/null
done
[ "$(stock fetch)" = ok ] && systemctl --quiet is-active outboard.service || die "nginx, or the service, was harmed"

step "an upgrade under load: no request fails, and running programs keep the module that they have"
daemon=$(systemctl show --property MainPID --value outboard.service)
worker=$(pgrep -u www-data nginx | head -n 1)
inode=$(stat -c %i "$(module)")
touch go
(while [ -e go ]; do stock fetch >/dev/null 2>>failed; echo >>fetched; done) &
(while [ -e go ]; do fetch >/dev/null 2>>failed; done) &
(while [ -e go ]; do openssl list -providers 2>&1 | grep -q 'name: Outboard' || echo "a start without Outboard" >>failed; done) &
sed -i "s|/files/$old/|/files/$new/|" sources/outboard.sources
cp "/files/$new/apt/outboard-archive-keyring.gpg" keyring.gpg
said=$(apt $ours update) || die "$said"
said=$(apt $ours install $packages)
sleep 2
rm go
wait
[ ! -s failed ] || die "failed meanwhile: $(sort failed | uniq -c)"
[ "$(wc -l <fetched)" -ge 3 ] || die "only $(wc -l <fetched) requests meanwhile"
[ "$(dpkg-query -W -f '${Version}' outboard)" = "$new" ] || die "outboard is $(dpkg-query -W outboard)"
[ "$(stat -c %i "$(module)")" != "$inode" ] || die "the module was written in place"
grep -q 'outboard.so (deleted)' "/proc/$worker/maps" || die "worker $worker does not have the old module"
[ "$(systemctl show --property MainPID --value outboard.service)" = "$daemon" ] || die "the service lost its master key"
has "$said" 'restart would forget its master key'
has "$said" 'keep the earlier version of Outboard until they restart'
said=$(outboard status --json || true)
has "$said" '"outdated": [1-9]'
has "$said" 'systemctl restart .*nginx.service'
cmp <(sed '/^# >>> outboard/,/^# <<< outboard/d' /etc/ssl/openssl.cnf) openssl.cnf.before || die "openssl.cnf has changed"
systemctl restart nginx
answers
worker=$(pgrep -u www-data nginx | head -n 1)
grep 'outboard.so' "/proc/$worker/maps" | grep -vq deleted || die "the restarted nginx does not have the new module"
echo "    $(wc -l <fetched) requests meanwhile, none failed"

step "with a master key from systemd, an upgrade restarts the service"
# In these namespaces systemd cannot mount credentials: their directory is named as systemd names it.
mkdir -p /etc/systemd/system/outboard.service.d
install -d -o outboard -m 500 /etc/credentials
printf '%064d\n' 7 >/etc/credentials/outboard.master
chown outboard /etc/credentials/outboard.master
printf '[Service]\nEnvironment=CREDENTIALS_DIRECTORY=/etc/credentials\n' >/etc/systemd/system/outboard.service.d/key.conf
systemctl daemon-reload
# The service that runs has a key that people entered, whatever the next one would get.
said=$(apt $ours install --reinstall outboard-service)
has "$said" 'restart would forget its master key'
[ "$(systemctl show --property MainPID --value outboard.service)" = "$daemon" ] || die "the service lost its master key"
systemctl restart outboard.service
daemon=$(systemctl show --property MainPID --value outboard.service)
apt $ours install --reinstall outboard-service >/dev/null
[ "$(systemctl show --property MainPID --value outboard.service)" != "$daemon" ] || die "the service runs the earlier version"
[ "$(stock fetch)" = ok ] || die "nginx does not answer after the service's restart: $(outboard service status)"
rm -r /etc/credentials /etc/systemd/system/outboard.service.d
systemctl daemon-reload

step "removal: openssl.cnf is byte for byte what it was"
outboard keys adopt --revert /etc/nginx/tls/site.key.outboard-backup >/dev/null
! said=$(apt remove $packages) || die "the service was removed while nginx is connected"
has "$said" 'running programs: [0-9]+ are connected'
has "$said" 'nginx.service: runs with a reference'
[ "$(stock fetch)" = ok ] || die "nginx was harmed"
# It has not asked this service yet, but will.
systemctl restart outboard.service
! said=$(apt remove $packages) || die "the service was removed while nginx has a reference"
has "$said" 'nginx.service: runs with a reference'
has_not "$said" 'are connected'
apt -f install >/dev/null
systemctl restart nginx
answers
said=$(apt remove $packages)
has "$said" 'byte for byte what it was'
cmp /etc/ssl/openssl.cnf openssl.cnf.before || die "openssl.cnf has changed"
[ "$(stock fetch)" = ok ] || die "nginx was harmed"
systemctl restart nginx ssh
answers
[ "$(fetch)" = ok ] && [ "$(login)" = visitor ] || die "a server does not answer without Outboard"
! pgrep outboardd || die "the service runs"

step "installed again and removed: without openssl.cnf, with names that are no keys, with others' files in /dev/shm, with a person named outboard"
usermod --shell /bin/sh outboard
! said=$(apt $ours install outboard-service) || die "the service became a person"
has "$said" "there is a user 'outboard' already"
usermod --shell /usr/sbin/nologin outboard
dpkg --configure outboard-service >/dev/null
printf '#!/bin/sh\nchown outboard:outboard /srv # see outboard:NAME\n' >/etc/cron.daily/ours
ln -s /srv/keys /etc/nginx/keys
mkdir -p /srv/keys
printf -- '-----BEGIN OUTBOARD KEY-----\n' >/srv/keys/site.key
! said=$(apt remove outboard-service) || die "a key that a link leads to was not found"
has "$said" '/etc/nginx/keys/site.key: holds a reference'
has_not "$said" 'cron.daily'
rm -r /srv/keys /etc/nginx/keys /etc/cron.daily/ours
apt remove outboard-service >/dev/null
mv /etc/ssl/openssl.cnf openssl.cnf.moved
said=$(apt remove outboard) || die "without openssl.cnf, the package stays: $said"
mv openssl.cnf.moved /etc/ssl/openssl.cnf
mkdir /dev/shm/outboard.1
touch /dev/shm/outboard.9.mine

step "purge: nothing is left but the keys, which are named"
said=$(apt purge $packages)
has "$said" 'keys of the card service stay, encrypted, in /var/lib/outboard/store'
[ -e /var/lib/outboard/store ] || die "the keys are destroyed"
rm -r /var/lib/outboard/store
rmdir /var/lib/outboard
rmdir /dev/shm/outboard.1 && rm /dev/shm/outboard.9.mine || die "a purge removed what is not Outboard's"
apt autoremove >/dev/null
manifest >after
# The users stay, as Debian's packages leave theirs: their numbers must not become another program's.
diff before after >left || true
users='/etc/(passwd|shadow|group|gshadow)-?( |$)'
has_not "$(grep -E '^[<>]' left | grep -vE "$users" || true)" .
echo "    of $(wc -l <before) entries, those of the users 'outboard' and 'outboard-agent' alone differ"
for file in passwd group; do
    ! grep -v '^outboard' /etc/$file | grep -q outboard || die "/etc/$file"
done
