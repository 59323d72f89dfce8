# nginx: those of its tests (nginx-tests) that use TLS, with Debian's program. The client is Perl's IO::Socket::SSL, in the same way.
packages='nginx libnginx-mod-http-geoip libnginx-mod-http-image-filter libnginx-mod-http-perl libnginx-mod-http-xslt-filter
    libnginx-mod-mail libnginx-mod-stream libnginx-mod-stream-geoip libio-socket-ssl-perl libgd-perl libcache-memcached-perl
    libscgi-perl openssl git ca-certificates'
ways='stock outboard'
serves='rsa-2048-sign x25519-derive aes-256-gcm-seal aes-256-gcm-open'

source=$sources/nginx-tests

prepare() { git_source https://github.com/nginx/nginx-tests 76bb761cdcaeb6cb024d605c2ef91bf8d8a602d7 "$source"; }

# Each is a program of its own, that waits for most of its time. One that fails is run again: some depend on the clock.
suite() {
    local test round
    cd "$source"
    # Its directories are for root alone.
    export TMPDIR=$1/work TEST_NGINX_BINARY=/usr/sbin/nginx TEST_NGINX_MODULES=/usr/lib/nginx/modules TEST_NGINX_GLOBALS='user root;'
    mkdir "$TMPDIR"
    for test in $(grep -lE '(http|mail|stream)_ssl' ${ONLY:-*.t}); do
        for round in 1 2 3; do
            echo "== $test, for the $round. time"
            ! as_usual timeout --kill-after=10 120 perl "$test" >"$1/${test%.t}.tap" || break
        done
    done
    rm -rf "$TMPDIR"
}
