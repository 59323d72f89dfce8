# The command's own tests that take longer. Included by the Makefile.
#
#   make install-stress       start programs again and again while 'make install' replaces the files that they load
#                             (STARTS=2000)
#   make packages-stress      Debian's nginx, HAProxy, Apache and sshd under load, reloaded, rotated and upgraded again and
#                             again (CYCLES=200); needs root

STARTS ?= 2000
CYCLES ?= 200

.PHONY: install-stress packages-stress

install-stress:
	OUTBOARD_STARTS=$(STARTS) $(CARGO) test -q -p outboard-cli --test install

packages-stress: need-test
	OUTBOARD_TEST_ALL=1 OUTBOARD_CYCLES=$(CYCLES) $(CARGO) test -q -p outboard-cli --test packages under_load -- --nocapture
