# The life of the role on one machine. check.sh runs it. /files has the role and the packages.

step() { echo "  $*"; }
die() { echo "FAILED: $*" >&2; exit 1; }
mkdir -p /root/role
cd /root/role
cat >site.yml <<END
- hosts: all
  gather_subset: [min, pkg_mgr]
  roles: [outboard]
END
# play ARGUMENT...: runs the role, and prints how many tasks changed something.
play() {
    local said
    said=$(ANSIBLE_ROLES_PATH=/files/roles ANSIBLE_NOCOWS=1 ansible-playbook -i localhost, -c local site.yml \
        -e "{\"outboard_package_files\": $(printf '"%s"\n' /files/outboard_*.deb /files/outboard-service_*.deb | paste -sd, | sed 's/.*/[&]/')}" \
        -e "{\"outboard_packages\": [outboard, outboard-service], \"outboard_metrics\": \"127.0.0.1:9798\"}" "$@" 2>&1) || die "$said"
    sed -n 's/^localhost .* changed=\([0-9]*\) .*/\1/p' <<<"$said"
}
# What the role may change: files of the system, and units.
state() {
    { find /etc /usr/bin /usr/sbin /usr/lib/systemd /var/lib/outboard -type f -newermt '@0' 2>/dev/null | sort | xargs sha256sum
        systemctl list-unit-files --no-legend 'outboard*'; systemctl list-units --no-legend 'outboard*.socket'; } 2>/dev/null
}
sum() { state | sha256sum; }
openssl_cnf=$(sha256sum </etc/ssl/openssl.cnf)

step "--check says what it would change, and changes nothing"
before=$(sum)
[ "$(play --check)" -ge 1 ] || die "--check changes nothing of a machine without Outboard"
[ "$(sum)" = "$before" ] || die "--check has changed the machine"
[ ! -e /usr/bin/outboard ] || die "--check has installed it"

step "installs, measures, switches on, and opens the address of the counters"
[ "$(play)" -ge 4 ] || die "little changed"
[ -e /var/lib/outboard/profile.json ] || die "nothing was measured"
openssl list -providers | grep -q Outboard || die "it is not switched on"
python3 - <<'END'
import urllib.request
text = urllib.request.urlopen("http://127.0.0.1:9798/metrics", timeout=30).read().decode()
assert text.endswith("# EOF\n") and 'program="openssl"' not in text.split("outboard_build")[0], text
END

step "a second run, and one with --check, change nothing"
before=$(sum)
[ "$(play)" = 0 ] || die "a second run changes something"
[ "$(play --check)" = 0 ] || die "a second run with --check would change something"
[ "$(sum)" = "$before" ] || die "a second run has changed the machine"

step "switches off, and on for one program"
[ "$(play -e outboard_enabled=false)" = 1 ] || die "not only the switch changed"
[ "$(sha256sum </etc/ssl/openssl.cnf)" = "$openssl_cnf" ] || die "openssl.cnf is not what it was"
[ "$(play -e outboard_enabled=false)" = 0 ] || die "switching off again changes something"
[ "$(play -e '{"outboard_enable_options": "--for nginx"}' --check)" = 1 ] || die "--check does not see that it is off"
[ "$(play -e '{"outboard_enable_options": "--for nginx"}')" = 1 ] || die "not only the switch changed"
[ "$(play -e '{"outboard_enable_options": "--for nginx"}')" = 0 ] || die "a second time changes something"

step "closes the address of the counters, and leaves alone what the role did not write"
dropins=/etc/systemd/system/outboard-metrics.socket.d
printf '[Socket]\nBacklog=64\n' >$dropins/override.conf
closed='{"outboard_metrics": "", "outboard_enable_options": "--for nginx"}'
[ "$(play -e "$closed")" = 2 ] || die "not only the address changed"
! systemctl --quiet is-active outboard-metrics.socket || die "the address is open"
[ "$(ls $dropins)" = override.conf ] || die "$dropins has $(ls $dropins)"
[ "$(play -e "$closed")" = 0 ] || die "closing again changes something"
[ "$(play -e '{"outboard_enable_options": "--for nginx"}')" -ge 1 ] || die "it was not opened again"
! refused=$(play -e '{"outboard_package_files": ["http://example.org/x.deb"]}') || die "a package without a signature: $refused"

step "removes"
[ "$(play -e outboard_state=absent -e outboard_purge=true --check)" -ge 1 ] || die "--check sees nothing to remove"
[ -e /usr/bin/outboard ] || die "--check has removed it"
[ "$(play -e outboard_state=absent -e outboard_purge=true)" -ge 1 ] || die "nothing was removed"
[ "$(ls $dropins)" = override.conf ] || die "the administrator's file is gone"
[ ! -e /usr/bin/outboard ] && [ ! -e /var/lib/outboard/profile.json ] || die "something is left"
[ "$(sha256sum </etc/ssl/openssl.cnf)" = "$openssl_cnf" ] || die "openssl.cnf is not what it was"
[ "$(play -e outboard_state=absent)" = 0 ] || die "removing again changes something"
echo "the role: installs, repeats, checks and removes as it says"
