#!/bin/bash
# Boots another system's systemd in namespaces, on a root directory that stays as it is, and runs a script there.
#
#   packaging/machine.sh ROOT FILES SCRIPT [ARGUMENT...]
#
# FILES is seen there, read-only, as /files. The machine has no device but null and its like, and no network but its own loopback.
# What it changes is in memory, and ends with it. Only root can do this.
set -euo pipefail

root=$(realpath -e "$1")
files=$(realpath -e "$2")
script=$(realpath -e "$3")
shift 3
[ "$(id -u)" -eq 0 ] || { echo "only root may boot a machine in namespaces" >&2; exit 1; }
# Mounts are this script's own.
[ -n "${OUTBOARD_UNSHARED:-}" ] ||
    exec env OUTBOARD_UNSHARED=1 unshare --mount --propagation private "$0" "$root" "$files" "$script" "$@"

scratch=$(mktemp -d)
groups=$scratch/groups
finish() {
    trap '' TERM
    # With unshare goes the machine's first process, and with that all others.
    [ -z "${machine:-}" ] || { kill -KILL "$machine" && wait "$machine"; } 2>/dev/null || true
    if [ -n "${group:-}" ]; then
        echo $$ >"$groups/cgroup.procs"
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
            [ -d "$group" ] || break
            sleep 0.2
        done
        umount "$groups" || true
    fi
    rm -rf --one-file-system "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# A control group for the machine.
mkdir -p "$groups" "$scratch/memory"
mount -t cgroup2 none "$groups"
group=$groups/outboard-packages.$$
mkdir "$group"
echo $$ >"$group/cgroup.procs"

unshare --pid --fork --kill-child --net --ipc --uts --cgroup --mount --propagation private sh -eu -c "$(cat <<'INSIDE'
memory=$1 root=$2 files=$3
mount -t tmpfs -o mode=755 machine "$memory"
mkdir "$memory/changes" "$memory/work" "$memory/root"
chmod 755 "$memory/changes"
mount -t overlay -o "lowerdir=$root,upperdir=$memory/changes,workdir=$memory/work" machine "$memory/root"
cd "$memory/root"
mount -t tmpfs -o mode=755 machine dev
for device in null zero full random urandom tty; do
    : >"dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 machine dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 machine dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s null dev/console
mount -t tmpfs -o mode=755 machine run
mount -t tmpfs -o mode=1777 machine tmp
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 none sys/fs/cgroup
mkdir -p files
mount --bind "$files" files
mount -o remount,bind,ro files
# Nothing starts by itself but the journal, and what makes the directories of packages below /run.
rm -f usr/sbin/policy-rc.d
rm -rf etc/systemd/system/*.wants etc/systemd/system/*.requires
mkdir -p run/systemd/system
for unit in usr/lib/systemd/system/*.target.wants/* systemd-remount-fs.service systemd-udevd.service; do
    case ${unit##*/} in
    systemd-journald* | systemd-tmpfiles-setup.service | systemd-user-sessions.service) ;;
    *) ln -sf /dev/null "run/systemd/system/${unit##*/}" ;;
    esac
done
mkdir run/before
pivot_root . run/before
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin container=outboard sh -c \
    'umount -l /run/before && rmdir /run/before
    exec /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=no'
INSIDE
)" machine "$scratch/memory" "$root" "$files" &
machine=$!

init=
for _ in $(seq 600); do
    init=$(cat "/proc/$machine/task/$machine/children" 2>/dev/null || true)
    init=${init%% *}
    [ -z "$init" ] || [ ! -e "/proc/$init/root/run/systemd/private" ] || break
    kill -0 "$machine" || { echo "the machine does not boot" >&2; exit 1; }
    sleep 0.2
done
inside() {
    nsenter --target "$init" --mount --pid --net --ipc --uts --cgroup -- \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}
inside systemctl is-system-running --wait >/dev/null || true
inside systemctl start systemd-user-sessions
inside bash -euo pipefail -c "$(cat "$script")" "${script##*/}" "$@" </dev/null
