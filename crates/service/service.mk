# The card service: under load, and with messages that no client sends.
#
#   make service-stress      200 kills of the card service while nginx and HAProxy shake hands with its keys and ssh logs in
#                            (KILLS=200, spread over so many seconds: SECONDS=300)
#   make service-fuzz        the card service's messages with bytes that a fuzzer chooses: requests, references, what ssh
#                            clients say (FUZZ_SECONDS=60 or FUZZ_RUNS=10000000 for each target; installs
#                            cargo-fuzz)

KILLS        ?= 200
SECONDS      ?= 300
FUZZ_SECONDS ?= 60
fuzz_limit    = $(if $(FUZZ_RUNS),-runs=$(FUZZ_RUNS),-max_total_time=$(FUZZ_SECONDS))

.PHONY: service-stress service-fuzz
service-stress: need-test
	$(CARGO) build --locked -p outboard-provider -p outboard-cli -p outboard-service
	OUTBOARD_TEST_ALL=1 OUTBOARD_KILLS=$(KILLS) OUTBOARD_SECONDS=$(SECONDS) $(CARGO) test --locked -p outboard-cli --test service_killed -- --nocapture

service-fuzz:
	for target in request reference agent; do \
	    scripts/fuzz.sh service $$target none -max_len=2100 $(fuzz_limit) || exit; \
	done
