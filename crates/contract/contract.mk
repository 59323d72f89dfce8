# The differential contract's longer runs. Included by the Makefile.
#
#   make contract-valgrind  the contract's calls under Valgrind: nothing read or written out of place, no leak that
#                           stock has not (some minutes; a few of them are part of make test)
#   make contract-fuzz      drawn sequences of calls with shared keys and contexts, without and with Outboard
#                           (CONTRACT_SEQUENCES=2000..100000; the first 2000 are part of make test)
#   make contract-fuzz-guided  sequences that a fuzzer draws by what they reach in Outboard, with AddressSanitizer
#                           (FUZZ_SECONDS=60; needs cargo-fuzz and a nightly compiler)
#   make contract-asan      the same sequences, and scenarios, with Outboard built with AddressSanitizer
#                           (needs a nightly compiler)

CARGO              ?= cargo
FUZZ_SECONDS       ?= 60
CONTRACT_SEQUENCES ?= 2000..100000
# Sequences and scenarios for AddressSanitizer.
CONTRACT_ASAN      ?= 0 1000
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
	cd crates/contract && mkdir -p fuzz/corpus/sequences && \
	OUTBOARD_FUZZ_CONFIGURATIONS=$(abspath crates/contract/fuzz) $(CARGO) +nightly fuzz run --target-dir $(abspath target/fuzz) \
	    sequences -- -max_len=800 -max_total_time=$(FUZZ_SECONDS)

contract-asan:
	RUSTFLAGS="-Zsanitizer=address -Clink-arg=-rdynamic" $(CARGO) +nightly build --locked --target $(contract_target) \
	    --target-dir target/asan $(contract_quickly) -p outboard-provider -p outboard-contract
	crates/contract/asan.sh target/asan/$(contract_target)/debug $(CONTRACT_ASAN)
