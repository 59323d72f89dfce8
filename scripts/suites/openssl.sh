# OpenSSL's own tests in a libcrypto of their own: every recipe (a file in test/recipes) but those in $left_out.
# openssl-3.0.sh and openssl-3.5.sh read this file, and set the version: $release, $number.
#
# OpenSSL links the tests of its internal functions to static libraries. But a program that uses Outboard uses the shared
# libcrypto. So prepare compiles static libraries, once, and makes shared ones of them that export all symbols. All tests
# run over the shared ones.
packages='build-essential perl dpkg-dev python3'
ways='stock outboard cards'
# The tests use all operations.
serves='rsa-2048-sign rsa-2048-verify p256-keygen p256-sign p256-verify p256-derive p384-sign p384-verify p384-derive
    p521-sign p521-verify p521-derive x25519-keygen x25519-derive ed25519-sign ed25519-verify
    aes-128-gcm-seal aes-128-gcm-open aes-192-gcm-seal aes-192-gcm-open aes-256-gcm-seal aes-256-gcm-open'

# With forced cards, a lone request of these operations runs in the lanes. The others wait for 256 requests, or for
# company.
in_lanes='rsa-2048-sign:lanes p256-derive:lanes p384-derive:lanes x25519-derive:lanes'

# Recipes that show nothing about a provider: they test the build, its symbols and messages, the FIPS module (which is
# not built), random input, other projects, and QUIC.
left_out='00-prep_* 01-* 02-test_errstr 02-test_ordinals 02-test_localetest 03-test_fipsinstall 40-test_rehash
    90-test_shlibload 95-test_external_* 99-test_fuzz_* *quic*'

# OpenSSL reads the first section of these files as a list of a certificate's extensions. They stay as they are.
no_configurations='v3_ca_exts.cnf invalid-x509.cnf'

source=$sources/openssl-$release

prepare() {
    debian_source "$release" openssl "$source"
    mkdir -p "$cache/build"
    cd "$cache/build"
    [ -e Makefile ] || perl "$source/Configure" linux-x86_64 no-shared enable-ec_nistp_64_gcc_128 enable-rfc3779 \
        no-mdc2 no-rc5 no-idea no-ssl3 no-afalgeng no-fips no-makedepend "${configure[@]}" -O0 -fPIC
    if [ ! -e shared ]; then
        make -s -j2 build_generated
        make -s -j2 libcrypto.a libssl.a
        share libcrypto
        share libssl "$PWD/libcrypto.so.3"
        touch shared
    fi
    make -s -j2 build_programs build_modules
    cc -shared -fPIC -O1 -Wall -I include -I "$source/include" -o also.so "$here/openssl_also.c" -ldl
}

# share NAME LIBRARY…: makes NAME.so.3 of NAME.a. From then on, NAME.a is a linker script: the linker takes a symbol from the
# shared library, or else from the static one. (Some tests contain parts of a provider, which need a hidden symbol.)
share() {
    cc -shared -o "$1.so.3" "-Wl,-soname,$1.so.3" -Wl,-Bsymbolic -Wl,--whole-archive "$1.a" -Wl,--no-whole-archive \
        "${@:2}" -ldl -pthread
    mv "$1.a" "$1-static.a"
    echo "INPUT($PWD/$1.so.3 $PWD/$1-static.a)" >"$1.a"
}

suite() {
    local copy=$cache/tree setting=
    # The recipes name configurations in the sources, and each way needs other ones: so each way gets a copy of the sources.
    # The copy is always at the same place, because names of tests contain it.
    rm -rf "$copy"
    mkdir "$copy"
    cp -as "$source/." "$copy"
    export PLAIN_CONF=$source/apps/openssl.cnf
    export SRCTOP=$copy BLDTOP=$cache/build PERL=/usr/bin/perl EXE_EXT= NO_FIPS=1
    case $way in
        outboard) setting='cards = 0' ;;
        cards)
            force_cards "$number"
            setting="offer = profile"$'\n'"profile = $1/profile.json"
            ;;
    esac
    if [ "$way" != stock ]; then
        for file in "$copy"/apps/openssl.cnf "$copy"/test/*.cnf; do
            ! matches "$(basename "$file")" "$no_configurations" || continue
            enable_in "$file" "$setting" || echo "left as it is: $file" >&2
        done
        enable_in /dev/null "$setting" "$1/also.cnf"
        export OUTBOARD_ALSO=$1/also.cnf OUTBOARD_PRELOAD=$cache/build/also.so
    fi
    export way out=$1
    recipes | ONLY= xargs -r -P 2 -n 1 "$here/openssl_recipe.sh"
}

# The names of the recipes to be run; ONLY may hold patterns of them.
recipes() {
    local recipe
    for recipe in "$source"/test/recipes/*.t; do
        recipe=$(basename "$recipe" .t)
        ! matches "$recipe" "$left_out" && matches "$recipe" "${ONLY:-*}" && echo "$recipe"
    done
}
