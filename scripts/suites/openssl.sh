# OpenSSL's own tests, of the version that the file which reads this one names ($release,
# $number), in a libcrypto of their own: evp_test with all its vectors, and every recipe but those that $left_out names.
#
# The libraries are compiled once, as static ones, and the shared ones made of them export all symbols. So the tests of
# OpenSSL's inside, which are otherwise linked to static libraries, run over the shared libcrypto, too, as programs do.
packages='build-essential perl dpkg-dev python3'
ways='stock outboard cards'
# The vectors and recipes use everything.
serves='rsa-2048-sign rsa-2048-verify p256-keygen p256-sign p256-verify p256-derive p384-sign p384-verify p384-derive
    p521-sign p521-verify p521-derive x25519-keygen x25519-derive ed25519-sign ed25519-verify
    aes-128-gcm-seal aes-128-gcm-open aes-192-gcm-seal aes-192-gcm-open aes-256-gcm-seal aes-256-gcm-open'

# And on cards that are forced: what runs there alone. The others wait for 256 requests, or for company.
in_lanes='rsa-2048-sign:lanes p256-derive:lanes p384-derive:lanes x25519-derive:lanes'

# Recipes that show nothing about a provider:
# the build, its symbols and messages; the FIPS module, which is not built; random input; other projects; QUIC.
left_out='00-prep_* 01-* 02-test_errstr 02-test_ordinals 02-test_localetest 03-test_fipsinstall 40-test_rehash
    90-test_shlibload 95-test_external_* 99-test_fuzz_* *quic*'

# Files whose first section is read as a list of a certificate's extensions, and nothing else.
no_configurations='v3_ca_exts.cnf invalid-x509.cnf'

source=$sources/openssl-$release

prepare() {
    debian_source "$release" openssl "$source"
    mkdir -p "$cache/build"
    cd "$cache/build"
    [ -e Makefile ] || perl "$source/Configure" linux-x86_64 no-shared enable-ec_nistp_64_gcc_128 enable-rfc3779 \
        no-mdc2 no-rc5 no-idea no-ssl3 no-afalgeng no-fips "${configure[@]}" -O0 -fPIC
    if [ ! -e shared ]; then
        nice make -s -j2 build_generated
        nice make -s -j2 libcrypto.a libssl.a
        share libcrypto
        share libssl "$PWD/libcrypto.so.3"
        touch shared
    fi
    nice make -s -j2 build_programs build_modules
    cc -shared -fPIC -O1 -Wall -I include -I "$source/include" -o also.so "$here/openssl_also.c" -ldl
}

# share NAME LIBRARY…: a shared library of the static one, in whose place the linker finds it from now on. Some tests hold
# parts of a provider, which need a hidden symbol of the static one.
share() {
    cc -shared -o "$1.so.3" "-Wl,-soname,$1.so.3" -Wl,-Bsymbolic -Wl,--whole-archive "$1.a" -Wl,--no-whole-archive \
        "${@:2}" -ldl -pthread
    mv "$1.a" "$1-static.a"
    echo "INPUT($PWD/$1.so.3 $PWD/$1-static.a)" >"$1.a"
}

suite() {
    local copy=$cache/tree setting=
    # The recipes name configurations in the sources: this way has a copy of its own, at a place that is always the same,
    # because names of tests tell it.
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
    recipes | ONLY= nice xargs -r -P 2 -n 1 "$here/openssl_recipe.sh"
}

# The names of the recipes to be run; ONLY may hold patterns of them.
recipes() {
    local recipe
    for recipe in "$source"/test/recipes/*.t; do
        recipe=$(basename "$recipe" .t)
        ! matches "$recipe" "$left_out" && matches "$recipe" "${ONLY:-*}" && echo "$recipe"
    done
}

matches() {
    local pattern
    set -f
    for pattern in $2; do
        # shellcheck disable=SC2053
        [[ $1 != $pattern ]] || return 0
    done
    return 1
}
