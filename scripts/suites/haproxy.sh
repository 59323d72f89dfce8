# HAProxy: its own regression tests (reg-tests), with Debian's program. Varnish's test program runs them: HAProxy's own, vtest, is not
# in Debian, and descends from it.
packages='haproxy varnish socat openssl dpkg-dev'
ways='stock outboard'
serves='rsa-2048-sign x25519-derive aes-256-gcm-seal aes-256-gcm-open'

source=$sources/haproxy

prepare() { debian_source bookworm haproxy "$source"; }

# Every type of test. Some fail now and then, with stock, too, since they race against themselves: a test that fails is run again,
# alone, and must fail three times.
suite() {
    local tests=${ONLY:-reg-tests/} round
    cd "$source"
    export TMPDIR=$1/work VTEST_PROGRAM=/usr/bin/varnishtest HAPROXY_PROGRAM=/usr/sbin/haproxy
    mkdir "$TMPDIR"
    for round in 1 2 3; do
        as_usual scripts/run-regtests.sh --v --vtestparams '-t 60' --j $((round == 1 ? 2 : 1)) \
            --type default,slow,bug,devel,broken,experimental $tests >"$1/round-$round" 2>&1 || true
        tests=$(sed -n 's/^# *top *TEST \(.*\) FAILED .*/\1/p' "$1/round-$round")
        [ -n "$tests" ] || break
    done
    cat "$1"/round-*
    sed -nE 's/^# *top *TEST (.*) (passed|skipped|FAILED) .*/\1 \2/p' "$1"/round-* | awk '
        { outcome[$1] = $2 }
        END {
            for (name in outcome)
                print (outcome[name] == "FAILED" ? "not " : "") "ok " name (outcome[name] == "skipped" ? " # skip" : "")
        }
    ' | tr / . | sort >"$1/results.tap"
    rm -rf "$TMPDIR"
}
