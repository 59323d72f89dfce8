# A session: system.sh SCRATCH OUTBOARD MODULE OBSERVER NO-RECORD RECORD, in a mount namespace of its own.

scratch=$1
modules=$(openssl version -m | sed -n 's/^MODULESDIR: "\(.*\)"$/\1/p')

step() { echo "$ $*"; "$@"; }
expect() { grep -q -- "$1" "$scratch/said" || { echo "expected: $1; got:"; cat "$scratch/said"; exit 1; }; }
say() { echo "$ $*"; "$@" >"$scratch/said" 2>&1; }
fail() { echo "$ $* (should fail)"; if "$@" >"$scratch/said" 2>&1; then cat "$scratch/said"; exit 1; fi; }

# Copies in the place of the real ones, and a place for ledgers that no earlier version left one in.
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
cp -a /etc/ssl "$scratch/ssl" && mount --bind "$scratch/ssl" /etc/ssl
cp -a "$modules" "$scratch/modules" && mount --bind "$scratch/modules" "$modules"
mkdir "$scratch/bin" && cp "$2" "$scratch/bin/outboard"
install -m 0644 "$3" "$modules/outboard.so"
outboard=$scratch/bin/outboard
cp /etc/ssl/openssl.cnf "$scratch/before.cnf"

# Reads its configuration, opens its output, then waits for input that ends with this script.
mkfifo "$scratch/input" && exec 3<>"$scratch/input"
start() {
    openssl dgst -sha256 -out "$scratch/started.$1" <"$scratch/input" 3>&- &
    tries=0
    until [ -e "$scratch/started.$1" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || { echo "openssl does not start"; exit 1; }
        sleep 0.1
    done
}

start old && old=$!

say "$outboard" doctor
expect 'does not load Outboard'
# A module that other users can change is not for root's programs.
chmod 0755 "$scratch" && chmod 0777 "$scratch/bin"
install -m 0644 "$3" "$scratch/bin/outboard.so"
fail "$outboard" enable
expect "can change $scratch/bin, .*sudo make install"
say "$outboard" doctor
expect "^note .*$scratch/bin/outboard.so was not tried"
expect "users other than root can change $scratch/bin,"
rm "$scratch/bin/outboard.so"
# Nor is a profile, though it is not there yet.
fail "$outboard" enable --profile "$scratch/bin/profile.json"
expect "cannot use $scratch/bin/profile.json for the whole system: users other than root can change $scratch/bin "
cd "$scratch/bin"
fail "$outboard" enable --profile profile.json
expect "users other than root can change $scratch/bin "
cd /
ln -s "$scratch/none" "$scratch/ssl/profile.json"
fail "$outboard" enable --profile /etc/ssl/profile.json
expect "leads to a file that is not there"
rm "$scratch/ssl/profile.json"
step cmp /etc/ssl/openssl.cnf "$scratch/before.cnf"

say "$outboard" enable
expect 'now loads Outboard'
expect "openssl (process[^)]* $old[,)]"
# OpenSSL finds the module in its own directory; the configuration need not name it.
fail grep '^module' /etc/ssl/openssl.cnf
say openssl list -providers
expect 'name: Outboard'
say "$outboard" doctor
expect '^good.* loading .*has Outboard active'
fail "$outboard" doctor --pid "$old"
expect 'it started before'

start new && new=$!
say "$outboard" doctor --pid "$new"
expect "has $modules/outboard.so loaded"
say "$outboard" run --stock -- openssl list -providers
fail grep Outboard "$scratch/said"

# A module that is replaced stays with who has loaded it.
install -m 0644 "$3" "$modules/outboard.so"
say "$outboard" doctor --pid "$new"
expect 'the file was replaced after the process started'

# A record that is none hides no other, and no name makes a ledger two.
echo nothing >"$5"
say "$outboard" observe --record "$6" --observer "$4" -- openssl dgst -sha256 /dev/null
fail "$outboard" observe --all --reset
expect "$5 is not a record"
say "$outboard" observe --record "$6"
expect 'Nothing was observed'
touch /dev/shm/outboard.+0
say "$outboard" stats --all --json
step test "$(grep -c '"ledger": "/dev/shm/outboard.0"' "$scratch/said")" = 1

say "$outboard" disable
expect 'byte for byte'
expect "openssl (process[^)]* $new[,)]"
step cmp /etc/ssl/openssl.cnf "$scratch/before.cnf"
step test ! -e /etc/ssl/openssl.cnf.before-outboard
say openssl list -providers
fail grep Outboard "$scratch/said"
kill "$old" "$new"
