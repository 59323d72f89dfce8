# The coprocessor's verbs against other implementations.
#
#   make cca-differential    100,000 drawn cases of each kind (CCA_CASES=100000) against Python's psec and pydukpt: PIN blocks,
#                            PVV, IBM 3624, CVV, MACs, DUKPT, TR-31 (a quarter of an hour)

CCA_CASES ?= 100000

.PHONY: cca-differential
cca-differential:
	scripts/cca-python.sh
	OUTBOARD_TEST_ALL=1 CCA_CASES=$(CCA_CASES) $(CARGO) test --locked -p outboard-cca --test differential -- --nocapture
