# OpenSC's p11test: what a token does with the keys that it has.
. "$here/token.sh"
ways=token
packages='build-essential dpkg-dev autoconf automake libtool pkg-config libcmocka-dev libssl-dev zlib1g-dev libpcsclite-dev opensc'

source=$sources/opensc

prepare() {
    debian_source bookworm opensc "$source"
    [ ! -e "$source/src/tests/p11test/p11test" ] || return 0
    cd "$source"
    ./bootstrap
    ./configure --disable-doc --disable-man --disable-notify --enable-pcsc --disable-openct --enable-cmocka CFLAGS=-w
    make -C src/common
    make -C src/tests/p11test p11test
}

run() {
    local kind id=1
    make_token suite $officer $user
    for kind in rsa:2048 EC:secp256r1 EC:secp384r1 EC:secp521r1 EC:edwards25519; do
        pkcs11-tool --module "$pkcs11" --slot 2 --login --pin $user --keypairgen --key-type $kind --label $kind --id 0$((id++))
    done
    "$source/src/tests/p11test/p11test" -m "$pkcs11" -s 2 -p $user || true
}

suite() {
    with_service run
    sed -nE 's/^\[ +OK \] (.*)/ok \1/p; s/^\[ +FAILED \] ([a-z0-9_]+)$/not ok \1/p' "$1/log" | sort -u >"$1/results.tap"
    stand_in
}
