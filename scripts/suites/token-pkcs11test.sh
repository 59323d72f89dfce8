# Google's pkcs11test: every function, as PKCS #11 2.20 has it.
. "$here/token.sh"
packages='build-essential git ca-certificates'

source=$sources/pkcs11test

prepare() {
    git_source https://github.com/google/pkcs11test 2cbe462c62bacf537b9a9a427a1c053d8c2e4760 "$source"
    make -C "$source"
}

run() {
    local options='-s 1'
    if [ "$way" = token ]; then
        make_token suite $officer $user
        options="-s 2 -u $user -o $officer"
    fi
    "$source/pkcs11test" -m "${pkcs11##*/}" -l "${pkcs11%/*}" $options || true
}

suite() {
    with_service run
    sed -nE 's/^\[       OK \] ([^ ,]+).*/ok \1/p; s/^\[  FAILED  \] ([^ ,]+).*\([0-9]+ ms\)$/not ok \1/p' "$1/log" |
        tr / . >"$1/results.tap"
    stand_in
}
