# The cards' own commands. Included by the Makefile; also `make -f crates/engine/cards.mk bench-cards` from
# the repository's root.
#
#   make bench-cards          processor time and fill of event loops and thread pools, and latency at several
#                             loads, scalar and cards taking turns
#                             (ONLY="rsa-2048 latency": parts of the names)
#   make cards-stress         threads, forks, cancelled requests, full queues, dying workers, for long
#                             (ROUNDS=200)
#   make cards-model          the queue in every order of its threads' steps, a closer look
#                             (PREEMPTIONS=4)
#   make cards-anywhere       the tests of cards and of HAProxy with lanes or without: batches run one by one
#   make cards-sanitize       the tests under ThreadSanitizer, which reports what two threads touch with
#                             nothing between them: needs a nightly toolchain with its sources   (SANITIZED=5)

CARGO       ?= cargo
ROUNDS      ?= 200
PREEMPTIONS ?= 4
SANITIZED   ?= 5

.PHONY: bench-cards cards-stress cards-model cards-anywhere cards-sanitize

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

cards-sanitize:
	@rustc +nightly --version >/dev/null 2>&1 && test -d "$$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" || \
	  { echo "a nightly toolchain with its sources is missing: rustup toolchain install nightly --component rust-src" >&2; exit 1; }
	RUSTFLAGS=-Zsanitizer=thread TSAN_OPTIONS=die_after_fork=0 CARD_ROUNDS=$(SANITIZED) CARD_PATIENCE=3600 \
	  CARGO_TARGET_DIR=target/thread-sanitizer \
	  $(CARGO) +nightly test -q -Zbuild-std --target $$(rustc +nightly --print host-tuple) -p outboard-engine --test card
