# machine.sh SCRATCH: boots this system's own systemd on copies of /etc, /home, /root, /usr and /var, in namespaces of its
# own. It can write nowhere else, sees no device but null and its like and no network but its own loopback, and cannot
# change a kernel setting.
set -eu
scratch=$1

# A control group for the machine, in whichever hierarchy this system has.
groups=$scratch/groups
mkdir -p "$groups"
mount -t cgroup2 none "$groups"
for old in "$groups"/outboard-machine.*; do
    # What machines left that were killed outright: a group that is in use refuses.
    [ ! -d "$old" ] || find "$old" -depth -type d -exec rmdir {} \; 2>/dev/null || true
done
group=$groups/outboard-machine.$$
mkdir "$group"
echo $$ >"$group/cgroup.procs"

finish() {
    trap '' TERM
    # unshare holds back gentler signals; with it goes the machine's first process, and with that all others.
    [ -z "${machine:-}" ] || { kill -KILL "$machine" && wait "$machine"; } 2>/dev/null || true
    echo $$ >"$groups/cgroup.procs"
    for try in 1 2 3 4 5 6 7 8 9 10; do
        find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
        [ -d "$group" ] || exit 0
        sleep 0.1
    done
}
trap finish EXIT
trap 'exit 1' TERM

unshare --pid --fork --kill-child --net --ipc --uts --cgroup --mount --propagation private sh -eu -c "$(cat <<'INSIDE'
scratch=$1
umount "$scratch/groups"

# Changes go into memory, and end with the machine.
mount -t tmpfs -o mode=755 machine "$scratch"
for directory in etc home root usr var; do
    mkdir "$scratch/$directory" "$scratch/$directory.work"
    mount -t overlay -o "lowerdir=/$directory,upperdir=$scratch/$directory,workdir=$scratch/$directory.work" \
        machine "/$directory"
done
mkdir -m 755 "$scratch/dev"
mount -t tmpfs -o mode=755 machine "$scratch/dev"
for device in null zero full random urandom tty; do
    : >"$scratch/dev/$device"
    mount --bind "/dev/$device" "$scratch/dev/$device"
done
mkdir "$scratch/dev/shm" "$scratch/dev/pts"
mount -t tmpfs -o mode=1777 machine "$scratch/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 machine "$scratch/dev/pts"
ln -s pts/ptmx "$scratch/dev/ptmx"
ln -s /proc/self/fd "$scratch/dev/fd"
ln -s null "$scratch/dev/console"
mount --rbind "$scratch/dev" /dev
mount -t tmpfs -o mode=755 machine /run
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t sysfs -o ro sysfs /sys
mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs -o mode=1777 machine /tmp
mount -o remount,bind,ro /

# Nothing starts by itself but the journal, and what makes the directories of packages below /run.
: >/etc/fstab
# The policy of containers, by which no package starts what it brings.
rm -f /usr/sbin/policy-rc.d
rm -rf /etc/systemd/system/*.wants /etc/systemd/system/*.requires
mkdir -p /run/systemd/system
for unit in /lib/systemd/system/*.target.wants/* systemd-remount-fs.service systemd-udevd.service; do
    case ${unit##*/} in
    systemd-journald* | systemd-tmpfiles-setup.service | systemd-user-sessions.service) ;;
    *) ln -sf /dev/null "/run/systemd/system/${unit##*/}" ;;
    esac
done
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin container=outboard \
    /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=no
INSIDE
)" machine "$scratch" &
machine=$!
wait "$machine"
