# The lanes' own commands. Included by the Makefile; also `make -f crates/lanes/lanes.mk bench-lanes`
# from the repository's root.
#
#   make bench-lanes          measure stock, AWS-LC, crypto_mb and lanes for every operation, and the break-even
#                             numbers: target/bench/lanes.json   (SECONDS_EACH=0.5; ONLY=part of a name: the
#                             rest of the file does not change)
#   make crypto-mb            fetch Intel's crypto_mb from PyPI, for comparison: target/bench/crypto_mb
#   make bench-lanes-kernels  measure RSA's kernels: their share of the processor's bound
#   make bench-lanes-timing   test whether time depends on secrets: Welch's t for each private operation
#                             (MEASUREMENTS=2000 a class, ONLY=part of a name)
#   make lanes-emulated       test the vectors and a few random batches on the portable emulation, on any
#                             processor (part of make test)
#   make lanes-machine        run the lanes' own code, not the emulation, on a processor with AVX-512 that Bochs emulates:
#                             others' vectors, what is left behind, random batches against OpenSSL (scripts/machine.sh;
#                             MACHINE_SECONDS=3600)
#   make lanes-units          the unit tests: bounds of all digits, the vectors' instructions against the emulation (part of
#                             make test)
#   make lanes-count          count the vpmadd52 instructions of each operation (part of make test)
#   make lanes-secrets        check with Valgrind that no branch and no address depends on a secret, including the
#                             loading of a key (slow: it emulates)
#   make lanes-leftovers      check that no operation, and no making of a key, leaves a secret on the stack or in a
#                             vector register (release build; part of make test; on the emulation if there is no IFMA)
#   make lanes-table-scan     print the assembly of all table scans, for review
#   make lanes-fault          check that a flipped bit anywhere releases nothing wrong, and that each check is needed
#                             for that (slow: it emulates; LANES_FAULTS=number for each operation; make test draws a few)
#   make lanes-fuzz           compare with AWS-LC what a fuzzer chooses, on the emulation if there is no IFMA
#                             (FUZZ_SECONDS=60 for each target; installs cargo-fuzz)

CARGO        ?= cargo
PYTHON       ?= python3
lanes_bench   = target/bench
crypto_mb     = $(lanes_bench)/crypto_mb
FUZZ_SECONDS ?= 60
MACHINE_SECONDS ?= 3600

# The compiler takes minutes to optimise kernels whose every instruction is a function; little is lost without.
lanes_quickly  = $(CARGO) test -q --locked -p outboard-lanes \
    --config profile.dev.package.outboard-lanes.opt-level=1 \
    --config profile.dev.package.outboard-lanes.debug=0
# Tests on the emulation, all with one build.
lanes_emulated = $(lanes_quickly) --features fault
lanes_faults   = --test rsa_faults --test ecdsa_faults --test x25519_faults --test ed25519_faults --test ml_dsa_faults

# The program that a cargo command builds.
lanes_program = sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'

.PHONY: crypto-mb bench-lanes bench-lanes-kernels bench-lanes-timing lanes-check lanes-units lanes-emulated lanes-count \
    lanes-machine lanes-secrets lanes-leftovers lanes-table-scan lanes-fault lanes-fuzz

crypto-mb: $(crypto_mb)/libcrypto_mb.so
	@test -e $<

bench-lanes: $(crypto_mb)/libcrypto_mb.so
	CRYPTO_MB=$(abspath $(crypto_mb)) $(CARGO) bench -q -p outboard-lanes --bench lanes

bench-lanes-kernels:
	$(CARGO) bench -q -p outboard-lanes --bench kernels

bench-lanes-timing:
	$(CARGO) bench -q -p outboard-lanes --bench timing

# Intel's library for the comparison alone, from PyPI with the runtime that it links to. Without it the
# benchmark says so and goes on.
$(crypto_mb)/libcrypto_mb.so:
	-@scripts/need.sh python3 python3-pip
	mkdir -p $(crypto_mb)
	-$(PYTHON) -m pip download -q --no-deps -d $(crypto_mb) ipp-crypto intel-cmplr-lib-rt && \
	for wheel in $(crypto_mb)/*.whl; do $(PYTHON) -m zipfile -e $$wheel $(crypto_mb)/unpacked; done && \
	mv $(crypto_mb)/unpacked/*.data/data/lib/*.so* $(crypto_mb) && \
	rm -rf $(crypto_mb)/unpacked $(crypto_mb)/*.whl $(crypto_mb)/icx-lto.so $(crypto_mb)/libippcp*

# What make test runs of all this.
lanes-check: lanes-units lanes-emulated lanes-count lanes-leftovers
	LANES_FAULTS=$${LANES_FAULTS:-8} $(lanes_emulated) $(lanes_faults)

lanes-units:
	$(lanes_quickly) --lib

lanes-emulated:
	LANES_BATCHES=$${LANES_BATCHES:-4} $(lanes_emulated) --test rsa_vectors --test ecdsa --test ecdh --test x25519 \
	    --test ed25519 --test ml_dsa --test ml_kem -- --skip odd_encodings

# What compares with AWS-LC is left out: its results are wrong on this processor (scripts/machine.sh).
lanes-machine:
	programs=$$($(CARGO) test -q --locked -p outboard-lanes --no-run --message-format=json --lib --test ecdh --test ed25519 \
	    --test leftovers --test ml_dsa --test ml_kem --test openssl --test rsa_vectors --test x25519 | $(lanes_program)) && \
	program() { echo "$$programs" | grep "/$$1-[0-9a-f]*$$"; } && \
	MACHINE_FILES=$$(/sbin/ldconfig -p | sed -n 's/.*x86-64.* => \(.*libcrypto.so.3\)$$/\1/p') \
	MACHINE_ENV=LANES_BATCHES=1 \
	scripts/machine.sh $(MACHINE_SECONDS) \
	    "$$(program x25519) rfc7748_section_5_2 --exact" "$$(program x25519) wycheproof" \
	    "$$(program ed25519) rfc8032" "$$(program ed25519) bernstein" "$$(program ed25519) wycheproof" \
	    "$$(program ecdh) nist" "$$(program ecdh) wycheproof" \
	    "$$(program outboard_lanes) words::tests" "$$(program ml_kem) wycheproof" "$$(program ml_dsa) wycheproof" \
	    "$$(program openssl)" "$$(program leftovers) _leaves_nothing" "$$(program rsa_vectors)"

lanes-count:
	$(lanes_emulated) --test counts -- --nocapture

lanes-secrets:
	@scripts/need.sh valgrind
	program=$$($(CARGO) test -q --release -p outboard-lanes --features emulation --lib --no-run \
	    --message-format=json | $(lanes_program)) && \
	valgrind -q "$$program" --test-threads 1 secrets

lanes-leftovers:
	if grep -q avx512ifma /proc/cpuinfo; \
	then $(CARGO) test -q --release --locked -p outboard-lanes --test leftovers; \
	else $(lanes_emulated) --test leftovers; fi

lanes-table-scan:
	@program=$$($(CARGO) test -q --release -p outboard-lanes --test stack --no-run --message-format=json | \
	    $(lanes_program)) && sh crates/lanes/table-scan.sh "$$program"

lanes-fault:
	$(lanes_emulated) $(lanes_faults) -- --nocapture

lanes-fuzz:
	for target in rsa curves lattices; do \
	    FUZZ_FEATURES=$$(grep -q avx512ifma /proc/cpuinfo || echo emulation) scripts/fuzz.sh lanes $$target none -max_len=2100 -max_total_time=$(FUZZ_SECONDS) || exit; \
	done
