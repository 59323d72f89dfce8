# Outboard: build, try, test, measure, install.
#
#   make            build the provider and the commands (release)
#   make run        run real programs with stock OpenSSL and with Outboard: CPU time, ratio, proof
#   make jar        make build, and install the JDK that outboard.jar, the provider for Java, is built with
#   make test       formatting, lints, every test
#   make test-openssl, make test-others   test suites of others, with stock and with Outboard: the same results
#   make test-token test suites of others against the PKCS #11 module
#   make test-coprocessor openCryptoki's tests with its token for CCA cards on libcsulcca.so (as root)
#   make test-peers post-quantum handshakes with OpenSSL 3.2 and 3.4, and with rustls, which are built first
#   make test-debian13   programs of Debian 13 (Java 25, OpenSSL 3.5, OpenSSH 10) with what is built here
#   make test-java  real Java servers and the JDK's own tests, with the PKCS #11 module and with outboard.jar
#   make java-soak  a million handshakes of a JVM leave nothing behind (HANDSHAKES=)
#   make test-processors tests on other processors, which QEMU emulates: Arm, s390x, RISC-V, older x86-64 (docs/processors.md)
#   make measure    measure every workload, smaller (MEASURE=--quick); results and a report in outboard-results
#   make results    the same, into results/: the figures and pictures of README and docs
#   make java-peers fetch Amazon's and Google's providers for the workload java: target/bench/java-peers
#   make openssl-peers build OpenSSL 3.5 and 4.0 for the workloads speed and pq: target/bench
#   make liberty    fetch Open Liberty for the workload trading: target/bench/liberty
#   make bench      measure each operation through EVP: stock and Outboard take turns in one process
#   make deny       check licences and advisories of all dependencies
#   make site       the documents as a site with a search (mdBook): target/site/html
#   make packages   .deb and .rpm of everything, with bills of materials
#   make install    PREFIX=/usr/local DESTDIR=   (then: outboard calibrate; outboard enable)
#   make uninstall
#
# scripts/need.sh installs the Debian packages that a target needs, if you are root. Otherwise it prints the
# command that installs them.

PREFIX     ?= /usr/local
DESTDIR    ?=
$(if $(word 2,$(PREFIX)),$(error PREFIX has a blank: '$(PREFIX)'))
$(if $(word 2,$(DESTDIR)),$(error DESTDIR has a blank: '$(DESTDIR)'))
CARGO      ?= cargo
STRIP      ?= strip --strip-debug
# put.sh strips where it is told to, and nothing else.
unexport STRIP
# The directory where this system's libcrypto looks for provider modules.
MODULESDIR ?= $(shell openssl version -m 2>/dev/null | sed -n 's/^MODULESDIR: "\(.*\)"$$/\1/p')

release     = target/release
bindir      = $(DESTDIR)$(PREFIX)/bin
sbindir     = $(DESTDIR)$(PREFIX)/sbin
unitdir     = $(DESTDIR)$(PREFIX)/lib/systemd/system
sysusersdir = $(DESTDIR)$(PREFIX)/lib/sysusers.d
units       = outboard.service outboard.socket outboard-chroot.socket outboard-agent.service outboard-agent.socket \
              outboard-metrics@.service outboard-metrics.socket
libdir      = $(DESTDIR)$(PREFIX)/lib/outboard
mandir      = $(DESTDIR)$(PREFIX)/share/man
# What other systems need to know of Outboard: AppArmor, SELinux, Prometheus, Grafana, Ansible, containers.
sharedir    = $(DESTDIR)$(PREFIX)/share/outboard
shared      = $(shell cd packaging && find confinement/apparmor confinement/selinux monitoring/*.yml monitoring/*.json \
                  ansible/site.yml ansible/roles containers/*.yaml containers/Containerfile* -type f | LC_ALL=C sort)
docdir      = $(DESTDIR)$(PREFIX)/share/doc/outboard
bashdir     = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir      = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir     = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
# The files of a build that 'make install' needs.
built       = $(release)/outboard $(release)/outboardd $(release)/outboard-bench $(release)/liboutboard.so \
              $(release)/liboutboard_observe.so $(release)/liboutboard_stopwatch.so $(release)/liboutboard_pkcs11.so \
              $(release)/libcsulcca.so
# A rustup without a toolchain has a cargo that always fails.
has_cargo  := $(shell $(CARGO) --version 2>/dev/null)
# outboard.jar is built where there is a JDK.
has_jdk    := $(shell command -v javac)
has_lanes  := $(shell grep -ow -m1 avx512ifma /proc/cpuinfo)
documents   = README.md CHANGELOG.md LICENSE docs/*.md

# Debian packages, by purpose.
build_packages = build-essential openssl
run_packages   = $(build_packages) openssh-server openssh-sftp-server openssh-client nginx nghttp2-client curl
measure_packages = $(run_packages) rsync wrk haproxy apache2-bin stunnel4 linux-perf softhsm2 postgresql \
                 openjdk-17-jdk-headless tomcat10-common libpostgresql-jdbc-java
test_packages  = $(run_packages) rsync python3 postgresql wrk valgrind perl chromium \
                 haproxy apache2 stunnel4 linux-perf systemd logrotate zsh fish \
                 opensc gnutls-bin libnss3-tools openjdk-17-jdk-headless python3-pip softhsm2 \
                 tomcat10 libpostgresql-jdbc-java
jar_packages   = $(build_packages) openjdk-17-jdk-headless

.PHONY: build jar run test beside test-peers documents-check site test-evp test-openssl test-others test-token test-coprocessor test-debian13 test-processors test-java java-soak tested emulated measure results report bench install uninstall fmt lint check deny deny-licences help openssl-peers need-build need-jar need-run need-measure need-test liberty java-peers
.DEFAULT_GOAL := build

build: need-build
	$(CARGO) build --release --locked -p outboard-cli -p outboard-provider -p outboard-observer -p outboard-bench \
	    -p outboard-stopwatch-preload -p outboard-service -p outboard-pkcs11 -p outboard-csulcca -p outboard-java
	$(if $(has_jdk),$(make_jar),@echo "javac is not here: outboard.jar is not built (install a JDK, then type 'make jar')" >&2)

make_jar = STRIP="$(STRIP)" scripts/jar.sh $(release)/liboutboard_java.so $(release)/outboard.jar

# After the others: alone, the library in it would be built with all that it stands on once more.
jar: need-jar build
	$(make_jar)

run: need-run build
	$(release)/outboard-bench first-light

# What computes goes beside what waits: half of the tests of whole programs leave a core idle. Nothing beside them builds, reads or
# starts what those load.
test: need-test fmt
	$(MAKE) --no-print-directory -j2 check beside
	$(MAKE) --no-print-directory test-evp packages-check confinement-check monitoring-check documents-check

# lanes-check (crates/lanes/lanes.mk): the lanes' arithmetic on the emulation, also with flipped bits. engine-secrets
# (crates/engine/secrets.mk): what RSA decryption takes paddings off decides no branch.
beside: need-test
	nice $(MAKE) --no-print-directory lint lanes-check engine-secrets

fmt:
	$(CARGO) fmt --all --check

lint: need-build
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy -p outboard-lanes --lib --profile test --locked -- -D warnings

# The provider comes first, because whole-program tests load it from the target directory. A missing program fails its
# test. A test program that hangs is ended and named, and the others continue.
check: need-test tested
	scripts/java-later.sh
	scripts/cca-python.sh
	scripts/go-later.sh
	MAKEFLAGS= PATH="$(CURDIR)/target/go-later/go/bin:$$PATH" OUTBOARD_TEST_ALL=1 $(CARGO) test --workspace --locked --no-fail-fast \
	  --config "target.'cfg(unix)'.runner = 'timeout --foreground --kill-after=60 3600'"

# What whole-program tests load and start. One command for all: for other packages together, cargo would choose other features of
# their dependencies, and build those anew.
tested: need-build
	$(CARGO) build --locked -p outboard-provider -p outboard-observer -p outboard-cli -p outboard-bench \
	    -p outboard-stopwatch-preload -p outboard-service -p outboard-pkcs11 -p outboard-csulcca -p outboard-java
	$(if $(has_jdk),STRIP="strip --strip-debug" scripts/jar.sh target/debug/liboutboard_java.so target/debug/outboard.jar)

# OpenSSL's own evp_test with its vectors: the part of test-openssl that takes one minute.
test-evp: need-test tested
	OUTBOARD=target/debug/outboard MODULE=target/debug/liboutboard.so scripts/suites/run.sh evp

# Test suites of others, each with stock and with Outboard. The results must be equal: see scripts/suites/run.sh. They run with forced
# cards, too: on emulated lanes if the processor has none.
test-openssl: build $(if $(has_lanes),,emulated)
	scripts/suites/run.sh openssl-3.0 openssl-3.5

test-others: build
	scripts/suites/run.sh cryptography cpython openssh ruby netssleay nginx tlsfuzzer

# Test suites of others against the PKCS #11 module: docs/token.md tells what they say.
test-token: build
	scripts/suites/run.sh token-pkcs11test token-p11test token-provider token-programs

# openCryptoki's token for CCA cards on libcsulcca.so: docs/coprocessor.md tells what passes. As root.
test-coprocessor: build
	scripts/suites/run.sh opencryptoki

# Post-quantum handshakes with OpenSSL 3.2 and 3.4, and with rustls, which are built first.
test-peers: need-test tested
	OUTBOARD_TEST_ALL=1 OUTBOARD_TEST_PEERS=1 $(CARGO) test --locked -p outboard-provider --test programs -- ml_dsa rustls
	OUTBOARD_TEST_PEERS=1 $(CARGO) test --locked -p outboard-openssl-versions

# Tests of whole programs, run in Debian 13 (scripts/debian13.sh). Left out are what that system does not have, what it has itself (its
# OpenSSL knows ML-KEM and ML-DSA), and a ledger on its root: a file of an overlay has another device number in /proc/PID/maps than for stat.
test-debian13: need-build tested
	OUTBOARD_TEST_ALL=1 $(CARGO) test --locked --no-fail-fast \
	  --config "target.'cfg(unix)'.runner = '$(CURDIR)/scripts/debian13.sh'" -p outboard-cli -p outboard-provider \
	  --test token --test token_objects --test token_admin --test service_ssh --test system --test doctor \
	  --test doctor_service --test programs -- --skip version_ --skip valgrind:: --skip soak:: \
	  --skip post_quantum:: --skip ml_dsa:: --skip the_order_of_groups --skip a_ledger_elsewhere

# Jetty, Netty, Tomcat and Open Liberty (scripts/java-servers.sh and 'make liberty' fetch them), as docs/java.md and docs/java-provider.md
# set them up; then the JDK's own tests, with stock Java and with outboard.jar, and with a JDK 25 where there is one (JDK_25).
JDK_25 ?= $(firstword $(wildcard /usr/lib/jvm/*-25-*))

test-java: need-test tested liberty
	scripts/java-later.sh
	scripts/java-servers.sh
	OUTBOARD_TEST_ALL=1 OUTBOARD_JAVA_SERVERS=$(CURDIR)/target/java-servers OUTBOARD_LIBERTY=$(CURDIR)/$(liberty)/wlp \
	    $(CARGO) test --locked --no-fail-fast -p outboard-cli --test java_servers -- --test-threads=2
	OUTBOARD=target/debug/outboard MODULE=target/debug/liboutboard.so JAR=target/debug/outboard.jar JDK_25=$(JDK_25) \
	    scripts/suites/run.sh java $(if $(JDK_25),java-25)

# Minutes to hours: HANDSHAKES of outboard.jar, and as many of the accelerator slot.
HANDSHAKES ?= 1000000

java-soak: need-test tested
	OUTBOARD_JAVA_HANDSHAKES=$(HANDSHAKES) $(CARGO) test --locked -p outboard-java --test handshakes million -- --nocapture

# Links, shell blocks and options in the documents, against what the commands' own definitions say; and the CI files.
documents-check: tested
	@scripts/need.sh python3 python3-yaml
	rm -rf target/documents
	target/debug/outboard generate target/documents
	target/debug/outboard-bench generate target/documents
	scripts/documents.py target/documents

# The documents as a site: target/site/html.
site: tested
	@scripts/need.sh python3 man-db bsdextrautils
	scripts/site.sh target/debug target/site

# Other processors, emulated: docs/processors.md.
PROCESSORS ?= x86-64 aarch64 s390x riscv64

test-processors: need-build
	scripts/processors.sh $(PROCESSORS)

# The provider with emulated lanes: target/emulated/liboutboard.so. It is slow; only tests use it.
emulated: need-build
	$(CARGO) build --profile emulated --locked -p outboard-provider --features emulated-lanes

# Set MEASURE= (empty) for the full length, about an hour.
MEASURE ?= --quick

measure: need-measure build
	$(release)/outboard-bench run $(MEASURE)
	$(release)/outboard-bench report

# The figures of README and docs, and their sources. Run this on a quiet machine, and commit the result.
results: need-measure build
	$(release)/outboard-bench run $(MEASURE) --out results
	$(release)/outboard-bench report results

# Only the pages and pictures of results/, after a change of their drawing.
report: need-build
	$(CARGO) run --release --locked -q -p outboard-bench -- report results

bench: build
	$(release)/outboard-bench evp

# Open Liberty for the workload trading ('outboard-bench run trading --peers liberty'), from Maven Central: 352 MB, once.
liberty         = target/bench/liberty
liberty_version = 26.0.0.3

liberty: $(liberty)/wlp/bin/tools/ws-server.jar

$(liberty)/wlp/bin/tools/ws-server.jar:
	@command -v mvn > /dev/null || scripts/need.sh maven
	mvn -q -B -C org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get -Dmaven.repo.local=$(abspath $(liberty))/repository \
	    -Dartifact=io.openliberty:openliberty-runtime:$(liberty_version):zip -Dtransitive=false
	python3 -m zipfile -e $(liberty)/repository/io/openliberty/openliberty-runtime/$(liberty_version)/*.zip $(liberty)
	rm -rf $(liberty)/repository
	@test -e $@

# What a Java user would pick instead: Amazon's and Google's providers, from Maven Central (8 MB, once), for
# 'outboard-bench run java --peers accp=target/bench/java-peers/accp.jar,conscrypt=target/bench/java-peers/conscrypt.jar'.
java_peers = target/bench/java-peers

java-peers: $(java_peers)/accp.jar $(java_peers)/conscrypt.jar

$(java_peers)/accp.jar: artifact = software.amazon.cryptools:AmazonCorrettoCryptoProvider:2.5.0:jar:linux-x86_64
$(java_peers)/conscrypt.jar: artifact = org.conscrypt:conscrypt-openjdk-uber:2.5.2:jar
$(java_peers)/%.jar:
	@command -v mvn > /dev/null || scripts/need.sh maven
	mvn -q -B -C org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dmaven.repo.local=$(abspath $(java_peers))/repository \
	    -Dartifact=$(artifact) -DoutputDirectory=$(abspath $(java_peers))/$*
	mv $(java_peers)/$*/*.jar $@
	rm -rf $(java_peers)/repository $(java_peers)/$*

# Newer OpenSSLs for 'outboard-bench run pq --peers openssl-3.5,openssl-4.0'. (Those of the tests are optimised less.)
openssl-peers: need-test
	OUTBOARD_BUILD_PEERS=1 $(CARGO) test --locked -p outboard-openssl-versions peers_are_built

# Licences and advisories of all dependencies; see deny.toml. The list of advisories is fetched from the network.
deny: deny-licences
	$(CARGO) deny check advisories

# The part that needs no list of advisories: licences, sources, bans. CI runs it.
deny-licences: need-build
	@packaging/tool.sh cargo-deny
	$(CARGO) deny --log-level error check licenses bans sources

# One rename puts each file in place (scripts/put.sh), so a program that starts meanwhile sees the old file or the new
# one. The files of a build are enough: 'sudo make install' works if root has no cargo.
install: $(if $(has_cargo),build)
	@test -n "$(MODULESDIR)" || { echo "cannot find OpenSSL's modules directory: install openssl, or pass MODULESDIR=" >&2; exit 1; }
	@for file in $(built); do \
	    test -f $$file || { echo "$$file is missing: run 'make' first, as a user who has cargo" >&2; exit 1; }; \
	done
	@test -n "$(has_cargo)" || echo "cargo is not here: installing what is in $(release)"
	STRIP="$(STRIP)" scripts/put.sh 0755 $(release)/outboard $(bindir)/outboard
	STRIP="$(STRIP)" scripts/put.sh 0755 $(release)/outboard-bench $(bindir)/outboard-bench
	STRIP="$(STRIP)" scripts/put.sh 0755 $(release)/outboardd $(sbindir)/outboardd
	STRIP="$(STRIP)" scripts/put.sh 0644 $(release)/liboutboard.so $(DESTDIR)$(MODULESDIR)/outboard.so
	STRIP="$(STRIP)" scripts/put.sh 0644 $(release)/liboutboard_observe.so $(DESTDIR)$(MODULESDIR)/outboard-observe.so
	STRIP="$(STRIP)" scripts/put.sh 0644 $(release)/liboutboard_stopwatch.so $(libdir)/liboutboard_stopwatch.so
	STRIP="$(STRIP)" scripts/put.sh 0644 $(release)/liboutboard_pkcs11.so $(libdir)/outboard-pkcs11.so
	STRIP="$(STRIP)" scripts/put.sh 0644 $(release)/libcsulcca.so $(libdir)/libcsulcca.so
	scripts/put.sh 0644 crates/csulcca/include/csulincl.h $(libdir)/include/csulincl.h
	@if [ -f $(release)/outboard.jar ]; then \
	    scripts/put.sh 0644 $(release)/outboard.jar $(libdir)/outboard.jar; \
	else \
	    echo "outboard.jar is not installed: it was not built (install a JDK, then type 'make jar' and 'make install')"; \
	fi
	set -e; generated=$$(mktemp -d); trap 'rm -rf "$$generated"' EXIT; \
	$(release)/outboard generate "$$generated"; \
	$(release)/outboard-bench generate "$$generated"; \
	for unit in $(units); do \
	    sed 's|@sbindir@|$(PREFIX)/sbin|; s|@bindir@|$(PREFIX)/bin|' systemd/$$unit >"$$generated/$$unit"; \
	    scripts/put.sh 0644 "$$generated/$$unit" $(unitdir)/$$unit; \
	done; \
	scripts/put.sh 0644 systemd/outboard.sysusers $(sysusersdir)/outboard.conf; \
	for page in "$$generated"/man/*; do \
	    scripts/put.sh 0644 "$$page" $(mandir)/man$${page##*.}/$${page##*/}; \
	done; \
	for script in "$$generated"/*.bash; do \
	    name=$${script##*/}; name=$${name%.bash}; \
	    scripts/put.sh 0644 "$$generated/$$name.bash" $(bashdir)/$$name; \
	    scripts/put.sh 0644 "$$generated/_$$name" $(zshdir)/_$$name; \
	    scripts/put.sh 0644 "$$generated/$$name.fish" $(fishdir)/$$name.fish; \
	done; \
	for file in $(shared); do \
	    sed 's|/usr/share/outboard|$(PREFIX)/share/outboard|' packaging/$$file >"$$generated/shared"; \
	    mode=0644; [ ! -x packaging/$$file ] || mode=0755; \
	    scripts/put.sh $$mode "$$generated/shared" $(sharedir)/$${file#confinement/}; \
	done; \
	for document in $(documents); do \
	    scripts/put.sh 0644 $$document $(docdir)/$${document##*/}; \
	done; \
	for schema in docs/schema/*.json; do \
	    scripts/put.sh 0644 $$schema $(docdir)/schema/$${schema##*/}; \
	done

# First switch Outboard off, so that no configuration names a removed file.
uninstall:
	@test -n "$(MODULESDIR)" || { echo "cannot find OpenSSL's modules directory: pass MODULESDIR=" >&2; exit 1; }
	if [ -z "$(DESTDIR)" ] && [ -x $(bindir)/outboard ]; then $(bindir)/outboard disable; fi
	rm -f $(bindir)/outboard $(bindir)/outboard-bench $(DESTDIR)$(MODULESDIR)/outboard.so $(DESTDIR)$(MODULESDIR)/outboard-observe.so
	rm -f $(sbindir)/outboardd $(units:%=$(unitdir)/%) $(sysusersdir)/outboard.conf
	rm -f $(mandir)/man1/outboard.1 $(mandir)/man1/outboard-*.1 $(mandir)/man5/outboard.cnf.5
	rm -rf $(docdir) $(libdir) $(sharedir)
	for name in outboard outboard-bench; do \
	    rm -f $(bashdir)/$$name $(zshdir)/_$$name $(fishdir)/$$name.fish || exit; \
	done

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile
	@for file in crates/*/*.mk packaging/packages.mk; do echo; sed -n '/^#   make/,/^$$/s/^# //p' $$file; done

need-build:
	@scripts/need.sh $(build_packages)
	@command -v $(CARGO) >/dev/null || { echo "Rust is not installed; run: curl --proto '=https' -sSf https://sh.rustup.rs | sh" >&2; exit 1; }

need-jar:
	@scripts/need.sh $(jar_packages)

need-run:
	@scripts/need.sh $(run_packages)

need-measure:
	@scripts/need.sh $(measure_packages)

need-test:
	@scripts/need.sh $(test_packages)

# Generated files, fixtures and the like of single crates.
-include crates/*/*.mk packaging/packages.mk
