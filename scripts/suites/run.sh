#!/bin/bash
# Runs suites that others wrote, with stock OpenSSL and with Outboard, and compares them test for test.
#
#   scripts/suites/run.sh SUITE...       (or: make test-openssl, make test-others)
#
# A suite is a file beside this one, NAME.sh, that sets
#
#   packages   Debian packages that it needs
#   ways       how it is run: stock, outboard (what is usual: these two), cards (they are forced)
#   serves     operations that Outboard must have served, by their names in `outboard stats`; in_lanes: on cards
#
# and defines
#
#   prepare    makes it ready in $cache, once; what is there already stays
#   suite OUT  runs it once and leaves its results in OUT, as compare.py reads them
#
# In a suite, `$way` is the way of the run, and `as_usual COMMAND…` runs a command that way: with the system's
# configuration of OpenSSL, and Outboard in it unless the way is stock. Differences that are known stand in
# expected/NAME.txt, or for one way in expected/NAME-WAY.txt, with their reasons. All that is built or written is in target/suites.
#
#   OUTBOARD=FILE MODULE=FILE   other builds of the command and of the provider than target/release
#   EMULATED=FILE               another build of the provider with emulated lanes than target/emulated: what cards are
#                               forced in where the processor has no lanes
#   ONLY=…                      some of the tests, as the suite's own runner selects them; nothing is expected then
#   WAYS=…                      some of the ways. Results of an earlier run stay: WAYS=outboard compares with them
set -euo pipefail
shopt -s inherit_errexit

here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../..")
OUTBOARD=$(realpath "${OUTBOARD:-$root/target/release/outboard}")
MODULE=$(realpath "${MODULE:-$root/target/release/liboutboard.so}")
EMULATED=${EMULATED:-$root/target/emulated/liboutboard.so}
ONLY=${ONLY:-}
# The system's own programs: those of a version manager may bring another OpenSSL.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset OPENSSL_CONF OPENSSL_MODULES LD_LIBRARY_PATH PYTHONPATH RUBYLIB RUBYOPT
export LC_ALL=C.UTF-8
# Where the sources of all suites are.
sources=$root/target/suites/sources
mkdir -p "$sources"
. "$here/common.sh"

failed=
for name; do
    cache=$root/target/suites/$name
    mkdir -p "$cache"
    echo "$name:"
    # One suite's variables are not the next one's.
    set +e
    (
        set -e
        ways='stock outboard'
        . "$here/$name.sh"
        ways=${WAYS:-$ways}
        # Two runs of a suite share its directory. What a suite leaves running must not hold the lock.
        exec {lock}>"$cache/lock"
        flock -n "$lock" || { echo "  waiting for another run of this suite"; flock "$lock"; }
        "$root/scripts/need.sh" $packages
        set +e
        (set -e; prepare) >"$cache/prepare.log" 2>&1 </dev/null {lock}>&-
        ready=$?
        set -e
        [ $ready = 0 ] || { echo "  cannot be made ready; see $cache/prepare.log" >&2; exit 1; }
        fine=yes
        for way in $ways; do
            module=$MODULE
            if [ "$way" = cards ] && ! grep -q avx512ifma /proc/cpuinfo; then
                module=$(realpath -m "$EMULATED")
                if [ ! -e "$module" ]; then
                    echo " cards: passed over: this processor has no lanes (AVX-512 IFMA), and none are emulated (make emulated)"
                    continue
                fi
            fi
            out=$cache/$way
            rm -rf "$out"
            mkdir -p "$out"
            begun=$SECONDS
            # A suite that fails is a result like another.
            (suite "$out") >"$out/log" 2>&1 </dev/null {lock}>&- || true
            echo " $way: $((SECONDS - begun)) seconds"
            [ "$way" != stock ] || continue
            list=$here/expected/$name-$way.txt
            [ -e "$list" ] || list=$here/expected/$name.txt
            [ "$way" != cards ] || serves=$in_lanes
            [ -z "$ONLY" ] || list=/dev/null serves=
            python3 "$here/compare.py" "$cache/stock" "$out" "$list" || fine=no
            evidence "$out/ledger" || fine=no
        done
        [ $fine = yes ]
    )
    [ $? = 0 ] || failed="$failed $name"
    set -e
done
[ -z "$failed" ] || { echo "not as with stock:$failed" >&2; exit 1; }
