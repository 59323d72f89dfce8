# The cards' own commands. Included by the Makefile; also `make -f crates/engine/cards.mk bench-cards` from
# the repository's root.
#
#   make bench-cards          measure processor time and fill of event loops and thread pools, and latency at
#                             several loads; scalar and cards take turns
#                             (ONLY="rsa-2048 latency": parts of the names)
#   make cards-stress         a long test with threads, forks, cancelled requests, full queues, dying workers
#                             (ROUNDS=200)
#   make cards-model          test the queue in every order of its threads' steps, more closely
#                             (PREEMPTIONS=4)
#   make cards-anywhere       test cards and HAProxy without lanes: batches run one by one
#   make cards-emulated       test cards on emulated lanes where the processor has none
#   make cards-emulated-programs  the same of the modules and the service that have cards, built once more
#   make kem-anywhere         test path wide of ML-KEM and of ML-DSA without lanes: emulated
#   make cards-sanitize       run the tests under ThreadSanitizer, which reports unordered accesses of two
#                             threads; needs a nightly toolchain with its sources   (SANITIZED=5)

CARGO       ?= cargo
ROUNDS      ?= 200
PREEMPTIONS ?= 4
SANITIZED   ?= 5

.PHONY: bench-cards cards-stress cards-model cards-anywhere cards-emulated cards-emulated-programs kem-anywhere cards-sanitize

bench-cards:
	$(CARGO) bench -q -p outboard-engine --bench cards -- $(ONLY)

cards-stress:
	CARD_ROUNDS=$(ROUNDS) CARD_PATIENCE=3600 $(CARGO) test -q -p outboard-engine --test card

cards-model:
	LOOM_MAX_PREEMPTIONS=$(PREEMPTIONS) $(CARGO) test -q --release -p outboard-engine --test card_model

cards-anywhere:
	$(CARGO) test -q -p outboard-engine --features stand-in-lanes --test card
	$(CARGO) test -q -p outboard-provider --features stand-in-lanes --test jobs --test jobs_in_lanes --test killed \
	  --test programs -- --skip soak

# The compiler takes minutes to optimise emulated kernels; little is lost without.
emulated_lanes = --features outboard-engine/emulated-lanes \
    --config profile.dev.package.outboard-lanes.opt-level=1 --config profile.dev.package.outboard-lanes.debug=0

kem-anywhere:
	$(CARGO) test -q --locked -p outboard-engine --lib $(emulated_lanes) -- kem:: dsa::

cards-emulated:
	@if grep -q avx512ifma /proc/cpuinfo; then echo "cards-emulated: left out, because here all tests have lanes"; else \
	    set -x; $(CARGO) test -q --locked -p outboard-engine $(emulated_lanes) --test card; fi

# In a directory of its own: other tests load the modules of the usual one, and start its programs.
cards-emulated-programs:
	OUTBOARD_TEST_ALL=1 CARGO_TARGET_DIR=target/cards-emulated $(CARGO) test -q --locked --no-fail-fast \
	    -p outboard-provider -p outboard-service -p outboard-pkcs11 $(emulated_lanes) \
	    --test jobs --test jobs_in_lanes --test jobs_lost --test killed --test confined \
	    --test cards --test usage --test crowd --test decryption --test asynchronous --test asynchronous_service

cards-sanitize:
	@rustc +nightly --version >/dev/null 2>&1 && test -d "$$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" || \
	  { echo "a nightly toolchain with its sources is missing: rustup toolchain install nightly --component rust-src" >&2; exit 1; }
	RUSTFLAGS=-Zsanitizer=thread TSAN_OPTIONS=die_after_fork=0 CARD_ROUNDS=$(SANITIZED) CARD_PATIENCE=3600 \
	  CARGO_TARGET_DIR=target/thread-sanitizer \
	  $(CARGO) +nightly test -q -Zbuild-std --target $$(rustc +nightly --print host-tuple) -p outboard-engine --test card
