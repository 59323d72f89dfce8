# A session: system_service.sh SCRATCH OUTBOARD MODULE OUTBOARDD, in a mount namespace of its own.

scratch=$1
modules=$(openssl version -m | sed -n 's/^MODULESDIR: "\(.*\)"$/\1/p')

step() { echo "$ $*"; "$@"; }
expect() { grep -q -- "$1" "$scratch/said" || { echo "expected: $1; got:"; cat "$scratch/said"; exit 1; }; }
refuse() { ! grep -q -- "$1" "$scratch/said" || { echo "not expected: $1; got:"; cat "$scratch/said"; exit 1; }; }
say() { echo "$ $*"; "$@" >"$scratch/said" 2>&1 || { cat "$scratch/said"; exit 1; }; }
fail() { echo "$ $* (should fail)"; if "$@" >"$scratch/said" 2>&1; then cat "$scratch/said"; exit 1; fi; }

# Copies in the place of the real ones. No systemd is there.
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=0755 tmpfs /run
cp -a /etc/ssl "$scratch/ssl" && mount --bind "$scratch/ssl" /etc/ssl
cp -a "$modules" "$scratch/modules" && mount --bind "$scratch/modules" "$modules"
chmod 0755 "$scratch"
mkdir -p /etc/ssl/private "$scratch/bin"
cp "$2" "$scratch/bin/outboard"
install -m 0644 "$3" "$modules/outboard.so"
outboard=$scratch/bin/outboard
daemon=$scratch/bin/outboardd

if [ ! -e /usr/lib/systemd/system/outboard.service ] && [ ! -e /etc/systemd/system/outboard.service ]; then
    for command in 'keys list' 'service start' 'service status'; do
        # shellcheck disable=SC2086
        fail "$outboard" $command
        expect "the card service is not installed (run '.* install"
    done
fi
cp "$4" "$daemon"

install -d -m 0755 /run/outboard
"$daemon" --directory /run/outboard --store "$scratch/store" >"$scratch/log" 2>&1 &
service=$!
"$daemon" --agent --directory /run/outboard >"$scratch/log.agent" 2>&1 &
agent=$!
trap 'kill "$service" "$agent" 2>/dev/null || true' EXIT
until [ -S /run/outboard/admin.sock ]; do sleep 0.1; done
openssl rand -hex 32 >"$scratch/master"
say sh -c "'$outboard' service enter <'$scratch/master'"
say sh -c "'$outboard' service enter <'$scratch/master'"
expect 'is entered already'

# No server could read a reference so far.
key=/etc/ssl/private/site.key
openssl genpkey -algorithm ED25519 -out "$key"
cp "$key" "$scratch/original"
fail "$outboard" keys adopt "$key" --user root
expect "^outboard: no key was touched: .*openssl.cnf does not load Outboard, so .* Run 'outboard enable', restart the server"
step cmp "$key" "$scratch/original"
say "$outboard" keys list
refuse site
say setpriv --reuid=65534 --regid=65534 --clear-groups "$outboard" keys list
expect "^You have a grant for no key. Root gives one: 'outboard keys grant NAME --user "
say "$outboard" enable
say "$outboard" keys adopt "$key" --user root
sign() { say openssl req -x509 -new -key "$key" -subj /CN=x; }
sign

# No server loses its key by the settings, nor Outboard before the reference.
fail "$outboard" disable
expect "is unchanged: .* in $key, so servers would not start (first run 'outboard keys adopt --revert $key'"
say "$outboard" disable --for openssl
sign
say "$outboard" enable --for all
say "$outboard" disable --anyway
fail "$outboard" doctor --key "$key"
expect 'no program can read the reference'
expect "run 'outboard enable', then restart the server"
say "$outboard" enable
say "$outboard" doctor --key "$key" --user root
refuse problem

# The file keeps the only key that is left.
fail "$outboard" keys delete site
expect "; $key refer to it"
say "$outboard" keys delete site --yes
expect "$key referred to the key"
fail "$outboard" doctor
expect "$key refers to a key 'site' that the service does not have"
expect "run 'outboard keys adopt --revert $key'"
fail "$outboard" doctor --key "$key"
expect 'the file as it was has the key'
refuse shred
refuse 'as root'
say "$outboard" keys adopt --revert "$key"
expect "until then they use the service's key 'site'"
step cmp "$key" "$scratch/original"
say "$outboard" disable
expect 'byte for byte'

# A host key that the agent does not offer.
if [ -d /etc/ssh ] && [ -x /usr/bin/ssh-keygen ]; then
    cp -a /etc/ssh "$scratch/ssh" && mount --bind "$scratch/ssh" /etc/ssh
    mkdir -p /etc/ssh/sshd_config.d
    ssh-keygen -q -t ed25519 -N '' -f "$scratch/host"
    cp "$scratch/host.pub" /etc/ssh/outboard_ssh_host_x_key.pub
    echo 'HostKey /etc/ssh/outboard_ssh_host_x_key' >/etc/ssh/sshd_config.d/outboard.conf
    fail "$outboard" doctor
    expect 'sshd cannot use its host key /etc/ssh/ssh_host_x_key'
    expect "run 'outboard keys adopt --revert /etc/ssh/ssh_host_x_key'"
fi

# File systems that are full.
mkdir "$scratch/full"
mount -t tmpfs -o mode=0755,size=16k tmpfs "$scratch/full"
dd if=/dev/zero of="$scratch/full/rest" 2>/dev/null || true
fail "$outboard" service start --directory "$scratch/full"
expect "$scratch/full is on a file system that is full"
mount -t tmpfs -o mode=1777,size=16k tmpfs /dev/shm
dd if=/dev/zero of=/dev/shm/rest 2>/dev/null || true
fail "$outboard" run -- true
expect 'cannot write /dev/shm/outboard-run[^:]*/openssl.cnf: No space left'
fail "$outboard" doctor
expect 'cannot be made: /dev/shm is full'
