# openCryptoki's token for CCA cards, on libcsulcca.so and the card service: openCryptoki's own tests, as root.
#
# The token looks for a card in the tree of a mainframe's devices. A file system of the suite's own has one there. The tests that do not
# pass are in expected/opencryptoki-card.txt, with their reasons: what passes on IBM's card stands for stock.
packages='dpkg-dev build-essential autoconf automake libtool pkg-config flex bison expect libssl-dev libcap-dev libldap-dev libudev-dev'
ways=card
# What is served is the service's, and not in a ledger of the suite's.
evidence() { :; }

source=$sources/opencryptoki
installed=$cache/installed
programs='crypto/digest_tests crypto/des_tests crypto/des3_tests crypto/aes_tests crypto/ec_tests crypto/rsa_tests crypto/rsaupdate_tests
    pkcs11/attribute pkcs11/copyobjects pkcs11/destroyobjects pkcs11/findobjects pkcs11/generate_keypair pkcs11/get_interface
    pkcs11/getobjectsize pkcs11/sess_opstate misc_tests/fork misc_tests/obj_mgmt_tests misc_tests/obj_mgmt_lock_tests
    misc_tests/reencrypt misc_tests/dual_functions'

prepare() {
    debian_source trixie opencryptoki "$source"
    [ ! -e "$installed/sbin/pkcsslotd" ] || return 0
    cd "$source"
    ./bootstrap.sh
    # The daemon refuses to be root's.
    ./configure --prefix="$installed" --sysconfdir="$installed/etc" --localstatedir="$installed/var" --enable-testcases \
        --enable-ccatok --disable-icatok --disable-swtok --disable-ep11tok --disable-tpmtok --disable-icsftok \
        --disable-pkcsep11_migrate --disable-pkcsep11_session --disable-pkcstok_migrate --disable-pkcsstats --disable-p11sak \
        --disable-pkcshsm_mk_change --with-pkcs-group=daemon --with-pkcsslotd-user=daemon
    make -j"$(nproc)"
    make install
}

# on_card: in name spaces of its own; `$service` is the directory of the service.
on_card() {
    local name program kind step daemon
    mount -t tmpfs none /sys/devices
    mkdir -p /sys/devices/ap/card00
    echo 0x10000000 >/sys/devices/ap/card00/ap_functions
    echo OUTBOARD >/sys/devices/ap/card00/serialnr
    mount -t tmpfs none /sys/bus
    mkdir /sys/bus/ap
    echo 0 >/sys/bus/ap/ap_domain
    mount -t tmpfs none /run
    mount -t tmpfs -o mode=1777 none /dev/shm
    mkdir -p /run/opencryptoki

    # However it ends, nothing stays.
    trap '"$OUTBOARD" service stop --directory "$service"; kill "$(cat /run/opencryptoki/pkcsslotd.pid)"' EXIT
    "$OUTBOARD" service start --directory "$service"
    "$OUTBOARD" cca enable --directory "$service"
    for kind in SYM-MK AES-MK ASYM-MK APKA-MK; do
        for step in RANDOM SET; do
            "$OUTBOARD" cca call CSNBMKP rule_array=$kind,$step --directory "$service"
        done
    done
    # Parts of keys, clear keys, CSNDPKD, CSNDSYX: PKCS #11 has them.
    "$OUTBOARD" cca call access-points enable=0x1b,0x1c,0xc3,0x11f,0x105 --directory "$service"

    export OUTBOARD_CCA=$service LD_LIBRARY_PATH=$library:$installed/lib/opencryptoki:$installed/lib/opencryptoki/stdll
    export PKCSLIB=$installed/lib/opencryptoki/libopencryptoki.so PKCS11_SO_PIN=76543210 PKCS11_USER_PIN=01234567
    mkdir -p "$installed"/var/log/opencryptoki "$installed/var/lock/opencryptoki/ccatok" "$installed/var/lib/opencryptoki/ccatok/TOK_OBJ"
    rm -rf "$installed"/var/lib/opencryptoki/ccatok/*
    mkdir -p "$installed/var/lib/opencryptoki/ccatok/TOK_OBJ"
    chown -R daemon:daemon /run/opencryptoki "$installed/var"
    chmod -R u=rwX,g=rwX,o= /run/opencryptoki "$installed/var"
    printf 'version opencryptoki-3.23\nslot 0\n{\nstdll = libpkcs11_cca.so\n}\n' >"$installed/etc/opencryptoki/opencryptoki.conf"
    "$installed/sbin/pkcsslotd"
    sleep 1
    cd "$source/testcases"
    expect -f init_token.sh 0
    for program in $programs; do
        name=${program#*/}
        status=0
        timeout 300 "./$program" -slot 0 -nostop >"$out/$name.log" 2>&1 || status=$?
        # A test begins with what it does. Its outcome may say it again.
        awk -v program="$name" -v status="$status" '
            / TESTCASE .* BEGIN/ { test = $3; sub(/.* BEGIN ?/, ""); test = test " " $0 }
            / TESTCASE .* (PASS|FAIL|ERROR) / {
                outcome = / PASS / ? "ok" : "not ok"
                if (test == "") test = $3
                name = program ": " test
                count[name]++
                print outcome, name (count[name] > 1 ? " " count[name] : "")
                test = ""
            }
            END { print (status < 128 ? "ok" : "not ok"), program ": comes to its end" }
        ' "$out/$name.log" >>"$out/results.tap"
    done
}

suite() {
    library=$out/library
    mkdir -p "$library"
    cp "$(dirname "$MODULE")/libcsulcca.so" "$library"
    service=$(mktemp -d)
    : >"$out/results.tap"
    unshare --mount --ipc bash -euo pipefail -c "
        $(declare -p OUTBOARD service library installed source programs out); $(declare -f on_card); on_card" || true
    rm -rf "$service"
    mkdir -p "$cache/stock"
    sed 's/^not ok/ok/' "$out/results.tap" >"$cache/stock/results.tap"
}
