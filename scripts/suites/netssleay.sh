# Perl: the tests of Net::SSLeay, with Debian's build of it.
packages='perl libnet-ssleay-perl libtest-nowarnings-perl dpkg-dev'
ways='stock outboard'
serves='rsa-2048-sign rsa-2048-verify x25519-derive aes-256-gcm-seal aes-256-gcm-open'

source=$sources/libnet-ssleay-perl

prepare() { debian_source bookworm libnet-ssleay-perl "$source"; }

suite() {
    local test
    cd "$source"
    for test in ${ONLY:-t/local/*.t}; do
        as_usual timeout --kill-after=10 300 perl -I inc "$test" >"$1/$(basename "$test" .t).tap" ||
            echo "not ok - ended" >>"$1/$(basename "$test" .t).tap"
    done
    # One test's name says how long it took.
    sed -i 's/, duration=.*//' "$1"/*.tap
}
