# The differential contract's longer runs. Included by the Makefile.
#
#   make contract-valgrind  the contract's calls under Valgrind: nothing read or written out of place, no leak that
#                           stock has not (some minutes; a few of them are part of make test)
#   make contract-fuzz      drawn sequences of calls with shared keys and contexts, without and with Outboard
#                           (CONTRACT_SEQUENCES=2000..100000; the first 2000 are part of make test)
#   make contract-fuzz-guided  sequences that a fuzzer draws by what they reach in Outboard, with AddressSanitizer
#                           (FUZZ_SECONDS=60; installs cargo-fuzz)
#   make contract-asan      the whole contract, and drawn sequences, with Outboard built with AddressSanitizer, in the
#                           system's OpenSSL (OUTBOARD_CONTRACT=gcm: a theme; CONTRACT_ASAN=0..1000: the sequences)

CARGO              ?= cargo
FUZZ_SECONDS       ?= 60
CONTRACT_SEQUENCES ?= 2000..100000
CONTRACT_ASAN      ?= 0..1000
contract_target     = x86_64-unknown-linux-gnu
# The compiler takes minutes to optimise the lanes' kernels, which these processes do not run.
contract_quickly    = --config profile.dev.package.outboard-lanes.opt-level=0 \
    --config profile.dev.package.outboard-lanes.debug=0

.PHONY: contract-valgrind contract-fuzz contract-fuzz-guided contract-asan

contract-valgrind:
	@scripts/need.sh valgrind
	OUTBOARD_CONTRACT_VALGRIND=all $(CARGO) test --locked -p outboard-contract --test valgrind

contract-fuzz:
	OUTBOARD_CONTRACT_SEQUENCES=$(CONTRACT_SEQUENCES) $(CARGO) test --locked -p outboard-contract --test sequences

contract-fuzz-guided:
	OUTBOARD_FUZZ_CONFIGURATIONS=$(abspath crates/contract/fuzz) \
	    scripts/fuzz.sh contract sequences address -max_len=800 -len_control=10 -max_total_time=$(FUZZ_SECONDS)

# The stable compiler has the sanitizer, and its runtime; RUSTC_BOOTSTRAP makes it take the option. The runtime is in the
# tests' programs; -rdynamic lets the module find it there. A report ends its process, and differs from stock, but for
# one that stock causes as well: so the reports are looked for, too. A crash at a null pointer is none of them: some
# scenarios crash with stock, and must with Outboard. Scenarios leave objects behind, by intent.
contract-asan:
	rm -rf target/asan/reports
	mkdir -p target/asan/reports
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Clink-arg=-rdynamic" \
	    ASAN_OPTIONS=detect_leaks=0:handle_segv=0:abort_on_error=1:log_path=$(abspath target/asan/reports)/report \
	    OUTBOARD_CONTRACT_VERSION=system OUTBOARD_CONTRACT_SEQUENCES=$(CONTRACT_ASAN) \
	    $(CARGO) test --locked --target $(contract_target) --target-dir target/asan $(contract_quickly) --no-fail-fast \
	    -p outboard-contract --test contract --test sequences
	@! grep -h ERROR target/asan/reports/* 2>/dev/null
