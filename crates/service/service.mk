# The card service, under load.
#
#   make service-stress      200 kills of the card service while nginx shakes hands with its keys (KILLS=200)

KILLS ?= 200

.PHONY: service-stress
service-stress: need-test
	$(CARGO) build --locked -p outboard-provider -p outboard-cli -p outboard-service
	OUTBOARD_TEST_ALL=1 OUTBOARD_KILLS=$(KILLS) $(CARGO) test --locked -p outboard-cli --test service_killed -- --nocapture
