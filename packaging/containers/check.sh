#!/bin/bash
# Tests the recipes and manifests: builds both images with buildah over a root of Debian 12, runs them as the manifests lay them out, and
# has podman play the manifests.
#
#   packaging/containers/check.sh PACKAGES SCRATCH      PACKAGES has deb/, as packaging/make.sh makes it; SCRATCH keeps what is slow to make
#
# Needs root, Debian's archive, and Go 1.24 or later in PATH.
set -euo pipefail
packages=$(realpath -e "$1")
mkdir -p "$2"
scratch=$(realpath -e "$2")
cd "$(dirname "$0")"
die() { echo "FAILED: $*" >&2; exit 1; }

# Kubernetes' schemas come with kubernetes-validate. kubeconform reads the same files, once they name each other by their place.
version=1.37.0
[ -x "$scratch/python/bin/kubernetes-validate" ] || {
    python3 -m venv "$scratch/python"
    "$scratch/python/bin/pip" -q install kubernetes-validate==$version
}
[ -x "$scratch/bin/kubeconform" ] || GOFLAGS=-buildvcs=false GOBIN=$scratch/bin go install github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0
"$scratch/python/bin/python" - "$scratch/schemas" v$version-local-strict <<'END'
import json, pathlib, shutil, sys
import kubernetes_validate
to = pathlib.Path(sys.argv[1])
shutil.rmtree(to, ignore_errors=True)
to.mkdir()
for file in (pathlib.Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / sys.argv[2]).glob("*.json"):
    schema = json.loads(file.read_text().replace('"/api/_definitions.json#', '"_definitions.json#'))
    schema.pop("$id", None)
    (to / file.name).write_text(json.dumps(schema))
END
conform() { "$scratch/bin/kubeconform" -strict -schema-location "$scratch/schemas/{{.ResourceKind}}{{.KindSuffix}}.json" "$@"; }
validate() { "$scratch/python/bin/kubernetes-validate" --quiet --strict "$@"; }
for by in conform validate; do
    $by ./*.yaml || die "a manifest does not fit Kubernetes' schema ($by)"
    # A value of another type, and a field with a letter of another size.
    for change in 's/containerPort: 443/containerPort: x/' 's/readOnlyRootFilesystem/readOnlyRootFileSystem/'; do
        sed "$change" pod.yaml >"$scratch/broken.yaml"
        ! $by "$scratch/broken.yaml" >/dev/null 2>&1 || die "a broken manifest fits ($by, $change): this test shows nothing"
    done
done
echo "the manifests fit Kubernetes' schemas, by kubeconform and kubernetes-validate"

[ "$(id -u)" -eq 0 ] || { echo "only root may build and run the images: run this as root" >&2; exit 1; }
[ -e "$scratch/base.tar" ] || {
    mmdebstrap --mode=root --variant=minbase --include=nginx-light,openssl,curl,systemd-standalone-sysusers bookworm "$scratch/base.new.tar" \
        >"$scratch/base.log" 2>&1 || die "$(tail -n 3 "$scratch/base.log")"
    mv "$scratch/base.new.tar" "$scratch/base.tar"
}
# Debian 12's podman knows no emptyDir.
podman=podman,crun,catatonit,netavark,openssl,python3-yaml
[ -e "$scratch/podman.made" ] || {
    rm -rf "$scratch/podman"
    mmdebstrap --mode=root --variant=minbase --include=$podman trixie "$scratch/podman" >"$scratch/podman.log" 2>&1 ||
        die "$(tail -n 3 "$scratch/podman.log")"
    : >"$scratch/podman.made"
}
work=$(mktemp -d)
finish() {
    [ -z "${service:-}" ] || kill "$service" 2>/dev/null || true
    wait || true
    rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
b() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
export BUILDAH_ISOLATION=chroot
container=$(b from scratch)
b add -q "$container" "$scratch/base.tar" / >/dev/null
b config --env PATH=/usr/sbin:/usr/bin:/sbin:/bin --cmd '["nginx", "-g", "daemon off;"]' "$container"
b commit -q "$container" localhost/base >/dev/null
for name in nginx service; do
    b bud -q --build-arg BASE=localhost/base -t "$name" -f "Containerfile.$name" "$packages/deb" >"$work/log" 2>&1 || die "$(cat "$work/log")"
done
[ "$(b inspect --type image --format '{{.OCIv1.Config.User}}' service)" = 10198:10198 ] || die "the service is not to run as root"
echo "buildah builds both images"
mkdir "$work/pod"
for name in nginx service; do
    b push -q $name "docker-archive:$work/pod/$name.tar:localhost/$name:latest"
done

# The directories as the manifests' first container makes them, and what the secrets hold.
mkdir -p "$work"/{sockets,store,master,tls,conf}
chown 10198:10198 "$work/sockets" "$work/store"
chmod 700 "$work/store"
openssl rand -hex 32 >"$work/master/outboard.master"
awk '/^  site.conf: \|/ { on = 1; next } /^---/ { on = 0 } on { sub(/^    /, ""); print }' deployment.yaml >"$work/conf/site.conf"
grep -q ssl_certificate_key "$work/conf/site.conf" || die "deployment.yaml has no configuration of nginx"
# in IMAGE'S-ROOT UID COMMAND...: in process, network and IPC namespaces of its own, on a read-only root.
in_container() {
    local root=$1 user=$2
    shift 2
    bwrap --unshare-pid --unshare-net --unshare-ipc --unshare-uts --die-with-parent --ro-bind "$root" / --proc /proc --dev /dev \
        --tmpfs /tmp --tmpfs /dev/shm --perms 1777 --tmpfs /run --dir /run/outboard --dir /run/secrets/outboard \
        --tmpfs /var/lib/nginx --tmpfs /var/log/nginx "${mounts[@]}" --clearenv --setenv PATH /usr/sbin:/usr/bin:/sbin:/bin \
        --setenv CREDENTIALS_DIRECTORY /run/secrets/outboard -- setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
}
service_root=$(b mount "$(b from service)")
nginx_root=$(b mount "$(b from nginx)")
# Engines make the places of mounts.
mkdir -p "$nginx_root/etc/nginx/tls"
service_mounts=(--bind "$work/sockets" /run/outboard --bind "$work/store" /var/lib/outboard/store --ro-bind "$work/master" /run/secrets/outboard)
mounts=("${service_mounts[@]}")
in_container "$service_root" 10198 /usr/sbin/outboardd --directory /run/outboard --store /var/lib/outboard/store >"$work/service.log" 2>&1 &
service=$!
for _ in $(seq 100); do
    [ ! -S "$work/sockets/admin.sock" ] || break
    sleep 0.2
done
admin() { in_container "$service_root" 10198 outboard "$@"; }
admin service status >"$work/status" || die "$(cat "$work/status" "$work/service.log")"
admin keys generate site --type p256 >/dev/null
nginx_user=$(chroot "$nginx_root" id -u www-data)
admin keys grant site --user "$nginx_user" >/dev/null
admin keys grant site --user 0 >/dev/null
admin keys reference site >"$work/tls/tls.key"
grep -q 'BEGIN OUTBOARD KEY' "$work/tls/tls.key" || die "no reference"
echo "the service runs in its container, and makes a key"

# nginx with the manifest's configuration, and a client beside it: the pod's containers have one network.
mounts=(--ro-bind "$work/sockets" /run/outboard --bind "$work/tls" /etc/nginx/tls --ro-bind "$work/conf" /etc/nginx/conf.d)
cat >"$work/tls/try.sh" <<'END'
set -eu
printf '[req]\ndistinguished_name=name\n[name]\n' >/tmp/req.cnf
openssl req -new -x509 -key /etc/nginx/tls/tls.key -config /tmp/req.cnf -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
    -out /etc/nginx/tls/tls.crt
sed 's/^user .*/user www-data;/; /sites-enabled/d' /etc/nginx/nginx.conf >/tmp/nginx.conf
nginx -c /tmp/nginx.conf
for _ in $(seq 50); do
    if said=$(curl -sSf --cacert /etc/nginx/tls/tls.crt https://localhost/ 2>&1); then break; fi
    sleep 0.2
done
echo "$said"
END
mounts+=(--cap-add ALL)
said=$(in_container "$nginx_root" 0 sh /etc/nginx/tls/try.sh 2>&1) || die "$said"
grep -qx ok <<<"$said" || die "nginx does not answer: $said"
mounts=("${service_mounts[@]}")
used=$(admin stats --keys)
grep -qE "site .*(www-data|$nginx_user)" <<<"$used" || die "nginx did not use the service: $used"
echo "nginx answers in its container, with a key that only the service has"

kill "$service"
service=
./pod.sh "$scratch/podman" "$work/pod"
