# Packages for other machines. Included by the Makefile.
#
#   make packages             .deb, .rpm and bills of materials, in target/packages: one set for Debian 12 and 13, Ubuntu 22.04 and
#                             24.04, RHEL 9 and 10 and their kin, and Fedora; checked by lintian and rpmlint
#   make repository           repositories for apt and dnf with them, in target/packages/repository, signed by KEY=… (a secret key of
#                             gpg), or by a throw-away key without KEY=
#   make packages-reproducible  builds everything a second time, elsewhere: the same bytes
#   make test-packages        installs, uses, upgrades under load and purges the packages in Debian 12 and 13, Ubuntu 22.04 and 24.04
#                             (SYSTEMS=…), and the .rpm in Debian 13; needs root
#   make confinement-check    the rules for AppArmor and SELinux (packaging/confinement); part of 'make test'
#   make monitoring-check     a real Prometheus with the alert rules and the dashboard's questions, and Grafana's own types of a
#                             dashboard (packaging/monitoring); part of 'make test'
#   make ansible-check        the Ansible role in a machine of its own: installs, repeats, checks, removes (packaging/ansible); needs root
#   make containers-check     the manifests and images of packaging/containers; needs root

packages         = target/packages
packages_packages = $(build_packages) dpkg-dev openjdk-17-jdk-headless rpm lintian rpmlint python3 unzip
repository_packages = apt-utils createrepo-c gpg rpm
confinement_packages = apparmor checkpolicy semodule-utils policycoreutils selinux-policy-default setools selinux-utils strace python3
SYSTEMS         ?= bookworm trixie jammy noble rpm

.PHONY: packages repository packages-reproducible test-packages packages-check confinement-check monitoring-check ansible-check containers-check

packages: need-build
	@scripts/need.sh $(packages_packages)
	packaging/build.sh $(packages)/build
	packaging/make.sh $(packages)/build/release $(packages)
	packaging/lint.sh $(packages)

# Part of 'make test': packages of what cargo built for the tests. Their contents, and what lintian and rpmlint say.
packages-check: tested
	@scripts/need.sh $(packages_packages)
	DEB_COMPRESSION='-Zgzip -z1' RPM_COMPRESSION=w1.gzdio WITHOUT_AUDIT=1 packaging/make.sh target/debug $(packages)/check
	packaging/lint.sh $(packages)/check
	rm -rf $(packages)/check

repository:
	@scripts/need.sh $(repository_packages)
	@test -d $(packages)/deb || { echo "there are no packages yet: run 'make packages' first" >&2; exit 1; }
	packaging/repository.sh $(packages) $(packages)/repository $(if $(KEY),--key '$(KEY)',--throw-away)

packages-reproducible: need-build
	@scripts/need.sh $(packages_packages)
	packaging/reproducible.sh $(packages)

test-packages:
	@scripts/need.sh $(repository_packages) mmdebstrap debian-archive-keyring
	@test -d $(packages)/deb || { echo "there are no packages yet: run 'make packages' first" >&2; exit 1; }
	packaging/test.sh $(packages) $(SYSTEMS)

confinement-check: tested
	@scripts/need.sh $(confinement_packages)
	packaging/confinement/check.sh target/debug/liboutboard.so

monitoring-check: tested
	@scripts/need.sh prometheus systemd python3 python3-pip openssl
	scripts/go-later.sh
	PATH="$(CURDIR)/target/go-later/go/bin:$$PATH" packaging/monitoring/check.py target/debug/outboard target/debug/liboutboard.so

ansible-check: tested
	@scripts/need.sh $(packages_packages) ansible-core
	DEB_COMPRESSION='-Zgzip -z1' RPM_COMPRESSION=w1.gzdio WITHOUT_AUDIT=1 packaging/make.sh target/debug $(packages)/check
	packaging/ansible/check.sh $(packages)/check
	rm -rf $(packages)/check

containers-check: tested
	@scripts/need.sh $(packages_packages) buildah bubblewrap mmdebstrap debian-archive-keyring python3-venv python3-pip
	scripts/go-later.sh
	DEB_COMPRESSION='-Zgzip -z1' RPM_COMPRESSION=w1.gzdio WITHOUT_AUDIT=1 packaging/make.sh target/debug $(packages)/check
	PATH="$(CURDIR)/target/go-later/go/bin:$$PATH" packaging/containers/check.sh $(packages)/check target/containers
	rm -rf $(packages)/check
