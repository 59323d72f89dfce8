#!/bin/sh
# Runs a command in Debian 13: with its Java 25, OpenSSL 3.5, OpenSSH 10 and servers.
#
#   scripts/debian13.sh COMMAND...       (or, for tests: make test-debian13)
#
# The first run makes the system from Debian's packages, in target/debian13; `rm -r target/debian13` has it made anew. The
# command runs as root, in namespaces of its own. It sees this repository at its own path, and can write to neither: what it
# changes is in memory, and ends with it.
set -eu

packages='apache2-bin curl gnutls-bin haproxy iproute2 libnss3-tools nginx-light nghttp2-client opensc openjdk-25-jdk-headless
    openssh-client openssh-server openssh-sftp-server openssl postgresql procps python3 rsync stunnel4'

repository=$(realpath "$(dirname "$0")/..")
made=$repository/target/debian13
[ "$(id -u)" -eq 0 ] || { echo "only root may have a system of its own: run this as root" >&2; exit 1; }

# Tests are started at the same time.
mkdir -p "$made"
exec 9>"$made/lock"
flock 9
if [ "$(cat "$made/packages" 2>/dev/null)" != "$packages" ]; then
    "$repository/scripts/need.sh" mmdebstrap debian-archive-keyring
    echo "making a Debian 13 in $made" >&2
    rm -rf "$made/root" "$made/packages"
    mmdebstrap --mode=root --variant=minbase --include="$(echo $packages)" trixie "$made/root" >"$made/log" 2>&1 ||
        { echo "a Debian 13 cannot be made; see $made/log" >&2; exit 1; }
    echo "$packages" >"$made/packages"
fi
exec 9>&-

# cargo's own, and those of a version manager, are not that system's.
unset LD_LIBRARY_PATH JAVA_HOME OPENSSL_CONF OPENSSL_MODULES
export HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec unshare --mount --propagation private sh -eu -c "$(cat <<'INSIDE'
repository=$1
made=$2
here=$PWD
shift 2
mount -t tmpfs -o mode=755 debian13 /mnt
mkdir /mnt/changes /mnt/work /mnt/root
mount -t overlay -o "lowerdir=$made/root,upperdir=/mnt/changes,workdir=/mnt/work" debian13 /mnt/root
mount --rbind /dev /mnt/root/dev
for directory in dev/shm run tmp; do
    mount -t tmpfs -o mode=1777 debian13 "/mnt/root/$directory"
done
mkdir -p "/mnt/root$repository"
mount --bind "$repository" "/mnt/root$repository"
mount -o remount,bind,ro "/mnt/root$repository"
exec unshare --pid --fork --kill-child --root=/mnt/root --mount-proc --wd="$here" -- "$@"
INSIDE
)" debian13 "$repository" "$made" "$@"
