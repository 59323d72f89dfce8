# The engine's own check for secrets. Included by the Makefile; also `make -f crates/engine/secrets.mk engine-secrets`
# from the repository's root.
#
#   make engine-secrets       check with Valgrind that no branch and no address depends on the blocks that RSA decryption
#                             takes paddings off (part of make test)

CARGO ?= cargo

# As in a release, whose translation counts: without the assertions and overflow checks, which branch.
as_released = $(foreach package,outboard-engine subtle,$(foreach setting,opt-level=3 debug-assertions=false \
    overflow-checks=false,--config profile.dev.package.$(package).$(setting)))

.PHONY: engine-secrets

engine-secrets:
	@scripts/need.sh valgrind
	set -e; programs=$$($(CARGO) test -q --locked -p outboard-engine -p outboard-valgrind --lib --no-run $(as_released) \
	    --message-format=json | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'); \
	test -n "$$programs"; \
	for program in $$programs; do valgrind -q "$$program" --test-threads 1 secrets leak_is_found; done
