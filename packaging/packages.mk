# Packages for other machines. Included by the Makefile.
#
#   make packages             .deb, .rpm and bills of materials, in target/packages: one set for Debian 12 and 13, Ubuntu 22.04 and
#                             24.04, RHEL 9 and 10 and their kin, and Fedora; checked by lintian and rpmlint
#   make repository           repositories for apt and dnf with them, in target/packages/repository, signed by KEY=… (a secret key of
#                             gpg), or by a throw-away key without KEY=
#   make packages-reproducible  builds everything a second time, elsewhere: the same bytes
#   make test-packages        installs, uses, upgrades under load and purges the packages in Debian 12 and 13, Ubuntu 22.04 and 24.04
#                             (SYSTEMS=…), and the .rpm in Debian 13; needs root

packages         = target/packages
packages_packages = $(build_packages) dpkg-dev openjdk-17-jdk-headless rpm lintian rpmlint python3 unzip
repository_packages = apt-utils createrepo-c gpg rpm
SYSTEMS         ?= bookworm trixie jammy noble rpm

.PHONY: packages repository packages-reproducible test-packages packages-check

packages: need-build
	@scripts/need.sh $(packages_packages)
	packaging/build.sh $(packages)/build
	packaging/make.sh $(packages)/build/release $(packages)
	packaging/lint.sh $(packages)

# Part of 'make test': packages of what cargo built for the tests. Their contents, and what lintian and rpmlint say.
packages-check: tested
	@scripts/need.sh $(packages_packages)
	$(CARGO) build --locked -p outboard-bench
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
