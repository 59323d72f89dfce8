#!/bin/bash
# Runs the manifests by 'podman kube play', with the commands of docs/containers.md. check.sh calls it. Needs root.
#
#   packaging/containers/pod.sh ROOT WORK      ROOT: a Debian 13 with podman; WORK: nginx.tar and service.tar, images of buildah
#
# podman, its storage and its containers are in namespaces of their own, and end with this script. The pods have no network but
# loopback. Filters of system calls, capabilities, users and mounts are podman's own. Limits are not: a runtime between podman and
# crun takes them away, because root may not set them on every machine.
set -euo pipefail
root=$(realpath -e "$1")
work=$(realpath -e "$2")
[ -n "${OUTBOARD_UNSHARED:-}" ] ||
    exec env OUTBOARD_UNSHARED=1 unshare --mount --propagation private "$0" "$root" "$work"
cd "$(dirname "$0")"

# What 'kubectl create secret' and an administrator make of pod.yaml, as docs/containers.md says.
cat >"$work/kube.py" <<'END'
import base64, pathlib, sys, yaml
kind, to, *files = sys.argv[1:]
if kind == "secret":
    data = {pathlib.Path(file).name: base64.b64encode(pathlib.Path(file).read_bytes()).decode() for file in files}
    made = [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": pathlib.Path(to).stem}, "data": data}]
elif kind == "first":
    # The pod's first start: without nginx, which has no key yet.
    made = list(yaml.safe_load_all(open(files[0])))
    made[0]["spec"]["containers"] = [it for it in made[0]["spec"]["containers"] if it["name"] != "nginx"]
    made[0]["spec"]["volumes"] = [it for it in made[0]["spec"]["volumes"] if it["name"] != "tls"]
else:
    made = [it for it in yaml.safe_load_all(open(files[0])) if it["kind"] == kind]
pathlib.Path(to).write_text(yaml.safe_dump_all(made))
END
cp ./*.yaml "$work/"
python3 "$work/kube.py" ConfigMap "$work/site.yaml" deployment.yaml
python3 "$work/kube.py" Deployment "$work/site-deployment.yaml" deployment.yaml
python3 "$work/kube.py" first "$work/first.yaml" pod.yaml

cat >"$work/runtime" <<'END'
#!/usr/bin/python3
"""crun without limits, and in a control group beside the pod's, which podman forbids to make devices."""
import json, os, sys
if "--bundle" in sys.argv:
    file = sys.argv[sys.argv.index("--bundle") + 1] + "/config.json"
    with open(file) as text:
        it = json.load(text)
    it["process"].pop("rlimits", None)
    it["process"].pop("oomScoreAdj", None)
    it["linux"].pop("resources", None)
    it["linux"]["cgroupsPath"] = "/containers/" + os.path.basename(it["linux"].get("cgroupsPath", "one"))
    with open(file, "w") as text:
        json.dump(it, text)
os.execv("/usr/bin/crun", ["crun", *sys.argv[1:]])
END
chmod +x "$work/runtime"

cat >"$work/inside.sh" <<'END'
set -euo pipefail
cd /pod
die() { echo "FAILED: $*" >&2; exit 1; }
p() {
    timeout 300 podman --runtime /pod/runtime --root /pod/podman --runroot /run/podman --storage-driver vfs --cgroup-manager cgroupfs \
        --events-backend file "$@"
}
play() { said=$(p kube play --network none "$@" 2>&1) || die "$said"; }
wait_for() {
    for _ in $(seq 100); do
        if said=$("$@" 2>&1); then return; fi
        sleep 0.3
    done
    p ps -a >&2
    for container in $(p ps -aq); do p logs --names "$container" >&2 2>&1; done
    die "$*: $said"
}
for image in nginx service; do p load -q -i $image.tar >/dev/null; done
p tag localhost/nginx localhost/nginx-outboard
p tag localhost/service localhost/outboard-service
workers=$(p run --rm --network none localhost/nginx-outboard id -u www-data)

# serve SERVICE: a key, and what a certificate authority makes of its request.
serve() {
    wait_for p exec "$1" outboard service status
    p exec "$1" grep -qxP 'Seccomp:\t2' /proc/1/status || die "no filter of system calls in $1"
    p exec "$1" outboard keys generate site --type p256 >/dev/null
    p exec "$1" outboard keys grant site --user "$workers" >/dev/null
    p exec "$1" outboard keys grant site --user 10198 >/dev/null
    p exec "$1" outboard keys csr site --subject /CN=localhost --san localhost >site.csr
    p exec "$1" outboard keys revoke site --user 10198 >/dev/null
    p exec "$1" outboard keys reference site >tls.key
    openssl x509 -req -in site.csr -CA ca.crt -CAkey ca.key -days 2 -copy_extensions copy -out tls.crt 2>/dev/null
    python3 kube.py secret site-tls.yaml tls.crt tls.key
    play --replace site-tls.yaml
}
# answers SERVICE NGINX: a page, and who used the key.
page() { p exec -i "$1" curl -sSf --cacert /dev/stdin https://localhost/ <ca.crt; }
answers() {
    wait_for page "$2"
    [ "$said" = ok ] || die "nginx says $said"
    used=$(p exec "$1" outboard stats --keys)
    grep -qE "site .*(www-data|$workers)" <<<"$used" || die "nginx did not use the service: $used"
    ! p exec "$2" grep -rqs 'PRIVATE KEY' /etc/nginx/tls/ || die "nginx has a private key"
}
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.crt 2>/dev/null
openssl rand -hex 32 >outboard.master
python3 kube.py secret outboard-master.yaml outboard.master
play outboard-master.yaml

play --configmap site.yaml first.yaml
serve site-service
play --replace --configmap site.yaml pod.yaml
answers site-service site-nginx
said=$(p kube down pod.yaml) || die "$said"
echo "podman plays pod.yaml: nginx answers, with a key that only the service has"

mkdir -p /var/lib/outboard
play daemonset.yaml
serve outboard-pod-service
play --configmap site.yaml site-deployment.yaml
answers outboard-pod-service site-pod-nginx
echo "podman plays daemonset.yaml and deployment.yaml: the same, by the node's directory"
END

# A control group of its own, whose root podman may divide: no process is in that root itself.
groups=$(mktemp -d)
mount -t cgroup2 none "$groups"
group=$groups/outboard-pod.$$
mkdir "$group" "$group/main"
finish() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
        [ -d "$group" ] || break
        sleep 0.2
    done
    umount "$groups"
    rmdir "$groups"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
unshare --pid --fork --kill-child --net --ipc --uts --mount --propagation private sh -eu -c '
    echo $$ >"$1/cgroup.procs"
    exec unshare --cgroup sh -euc "$4" pod "$@"' pod "$group" "$root" "$work" "$(cat <<'INSIDE'
group=$1 root=$2 work=$3
echo $$ >"$group/main/cgroup.procs"
mkdir -p "$work/changes" "$work/overlay" "$work/root"
mount -t overlay -o "lowerdir=$root,upperdir=$work/changes,workdir=$work/overlay" pod "$work/root"
cd "$work/root"
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 pod dev/shm
mount -t tmpfs -o mode=755 pod run
mount -t tmpfs -o mode=1777 pod tmp
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 none sys/fs/cgroup
mkdir -p pod before
mount --rbind "$work" pod
# A changed root (chroot) is not enough: what enters a container's namespace later would come out above it.
pivot_root . before
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot . sh -euc 'umount -l /before && exec bash /pod/inside.sh'
INSIDE
)"
