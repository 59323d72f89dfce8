# The command's own tests that take longer. Included by the Makefile.
#
#   make install-stress       start programs again and again while 'make install' replaces the files that they load
#                             (STARTS=2000)

STARTS ?= 2000

.PHONY: install-stress

install-stress:
	OUTBOARD_STARTS=$(STARTS) $(CARGO) test -q -p outboard-cli --test install
