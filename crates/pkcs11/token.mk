# The PKCS #11 module with calls that no sane program makes.
#
#   make token-stress        drawn calls of all functions, from one thread and from four, in so many processes (TOKEN_ROUNDS=500);
#                            the same with a token of the card service
#   make token-fuzz          the same calls, chosen by a fuzzer that sees which code they reach (FUZZ_SECONDS=60 or
#                            FUZZ_RUNS=1000000; installs cargo-fuzz)

TOKEN_ROUNDS ?= 500

.PHONY: token-stress token-fuzz
token-stress:
	TOKEN_ROUNDS=$(TOKEN_ROUNDS) $(CARGO) test --locked -p outboard-pkcs11 --test hostile
	$(CARGO) build --locked -p outboard-cli -p outboard-service
	TOKEN_ROUNDS=$(TOKEN_ROUNDS) $(CARGO) test --locked -p outboard-cli --test token_drawn

token-fuzz:
	scripts/fuzz.sh pkcs11 calls none -max_len=8192 -len_control=10 $(fuzz_limit)
