# The tests of pkcs11-provider, by which programs that use OpenSSL reach tokens: those that it runs with SoftHSM, and those for other
# tokens that this system's OpenSSL can do.
. "$here/token.sh"
ways=token
packages='build-essential git ca-certificates meson pkg-config libssl-dev opensc openssl gnutls-bin expect'

source=$sources/pkcs11-provider
programs='tests/tsession tests/tgenkey tests/tlsctx tests/tlssetkey tests/tdigests tests/treadkeys tests/tcmpkeys tests/tfork
    tests/tpkey tests/pincache tests/ccerts tests/tecx'

prepare() {
    git_source https://github.com/latchset/pkcs11-provider acf46db7e0ffe3ad3c7a4a9a2d30eb70d8b7eafc "$source"
    [ -e "$cache/build/build.ninja" ] || meson setup "$cache/build" "$source"
    ninja -C "$cache/build" src/pkcs11.so $programs
    # Its tests, with our set-up in the place of SoftHSM's.
    mkdir -p "$cache/tests"
    ln -sf "$source"/tests/* "$cache/tests"
    ln -sf "$here/token-provider-init.sh" "$cache/tests/softhsm-init.sh"
}

run() {
    export OUTBOARD pkcs11 here out cache
    export -f make_token
    export TESTSSRCDIR=$cache/tests TEST_PATH=$cache/tests TESTBLDDIR=$cache/build/tests LIBSPATH=$cache/build/src SHARED_EXT=.so
    "$cache/tests/setup.sh" softhsm
    local test end
    for test in basic pubkey certs ecc edwards ecdh democa digest fork oaepsha2 hkdf pem_encoder rsa rsapss genkey pkey session \
        rand readkeys tls uri; do
        [ -z "$ONLY" ] || [ "$test" = "$ONLY" ] || continue
        timeout 120 "$cache/tests/test-wrapper" $test-softhsm.t && end=ok || end='not ok'
        echo "$end $test" >>"$out/results.tap"
    done
}

suite() {
    with_service run
    stand_in
}
