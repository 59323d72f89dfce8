# OpenSSL's evp_test with all its vectors, compiled for the system's own libcrypto: the part of test-openssl that takes a
# minute. Vectors of algorithms that are not in the default provider fail with stock as well.
packages='build-essential libssl-dev dpkg-dev python3'
ways='stock outboard cards'
serves='rsa-2048-sign rsa-2048-verify p256-sign p256-verify p256-derive p384-verify p384-derive p521-derive
    x25519-derive ed25519-sign ed25519-verify aes-128-gcm-seal aes-128-gcm-open aes-192-gcm-seal aes-192-gcm-open
    aes-256-gcm-seal aes-256-gcm-open'
in_lanes='rsa-2048-sign:lanes p256-derive:lanes p384-derive:lanes x25519-derive:lanes'

source=$sources/openssl-bookworm

prepare() {
    debian_source bookworm openssl "$source"
    [ ! -e "$cache/evp_test" ] || return 0
    cd "$cache"
    local include="-I $source/include -I $source -I $source/apps/include"
    cc -w -c $include "$source"/test/testutil/*.c "$source"/apps/lib/{opt,fmt}.c
    ar rc testutil.a ./*.o
    rm ./*.o
    cc -w $include -o evp_test "$source/test/evp_test.c" testutil.a -lcrypto
}

# Its context is one of its own, which reads a configuration only where that is named.
suite() {
    [ "$way" != cards ] || force_cards "$(openssl version | cut -d ' ' -f 2)"
    as_usual bash -c '
        for vectors in "$1"/evp*.txt; do
            "$2" -config "$OPENSSL_CONF" "$vectors" >"$3/$(basename "$vectors" .txt).tap" 2>&1
        done
    ' - "$source/test/recipes/30-test_evp_data" "$cache/evp_test" "$1"
}
