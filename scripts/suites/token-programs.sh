# Programs that use tokens: pkcs11-tool's own test of each slot, NSS and p11-kit.
. "$here/token.sh"
ways=token
packages='opensc openssl libnss3-tools p11-kit p11-kit-modules gnutls-bin'

prepare() { :; }

test_pkcs11_tool_coprocessor() { pkcs11-tool --module "$pkcs11" --slot 0 --test; }
test_pkcs11_tool_accelerator() { pkcs11-tool --module "$pkcs11" --slot 1 --test; }

test_pkcs11_tool_token() {
    pkcs11-tool --module "$pkcs11" --slot 2 --login --pin $user --keypairgen --key-type rsa:2048 --label tested --id 70
    pkcs11-tool --module "$pkcs11" --slot 2 --login --pin $user --test --verbose
    pkcs11-tool --module "$pkcs11" --slot 2 --login --pin $user --delete-object --type privkey --id 70
    pkcs11-tool --module "$pkcs11" --slot 2 --login --pin $user --delete-object --type pubkey --id 70
}

# The database has no password. The file has the token's PIN.
nss() { "$@" -d "sql:$service/nss" -f "$service/pins"; }

test_nss_module() {
    mkdir "$service/nss"
    echo "suite:$user" >"$service/pins"
    certutil -N -d "sql:$service/nss" --empty-password
    modutil -force -add Outboard -libfile "$pkcs11" -dbdir "sql:$service/nss"
    modutil -list Outboard -dbdir "sql:$service/nss" | grep 'Token Name: suite'
}

# Makes keys in the token, and certificates for them: a CA whose key the token has signs its own and the others.
test_nss_certificates() {
    local make="nss certutil -S -h suite -z $service/noise"
    head -c 4096 /dev/urandom >"$service/noise"
    printf 'y\n\ny\n' | $make -n nss-ca -s CN=ca -x -2 -t ,, -k rsa -g 2048 -m 1
    nss certutil -M -h suite -n suite:nss-ca -t CT,C,C
    $make -n nss-rsa -s E=rsa@example.org,CN=localhost -c suite:nss-ca -t ,, -k rsa -g 2048 -m 2
    $make -n nss-ec -s E=ec@example.org,CN=localhost -c suite:nss-ca -t ,, -k ec -q nistp256 -m 3
    nss certutil -K -h suite | grep nss-rsa
    nss certutil -L -h suite | grep nss-ec
    nss certutil -V -h suite -n suite:nss-rsa -u V -e
}

# Requests that a key of the token signs.
test_nss_request() {
    nss certutil -R -h suite -k suite:nss-ec -s CN=again -a -o "$service/request" ||
        nss certutil -R -h suite -s CN=again -k ec -q nistp384 -z "$service/noise" -a -o "$service/request"
    openssl req -in "$service/request" -noout -verify
}

test_nss_import() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$service/key" -out "$service/certificate" -subj /CN=imported
    openssl pkcs12 -export -inkey "$service/key" -in "$service/certificate" -name imported -passout pass:container -out "$service/p12"
    pk12util -i "$service/p12" -h suite -W container -d "sql:$service/nss" -k "$service/pins"
    nss certutil -K -h suite | grep imported
}

test_nss_signed_mail() {
    echo message >"$service/message"
    cmsutil -S -d "sql:$service/nss" -f "$service/pins" -N suite:nss-rsa -i "$service/message" -o "$service/mail"
    cmsutil -D -d "sql:$service/nss" -f "$service/pins" -i "$service/mail" | grep message
}

test_p11_kit_modules() {
    mkdir "$service/modules"
    echo "module: $pkcs11" >"$service/modules/outboard.module"
    unshare --mount --map-root-user sh -c '
        mount --bind "$service/modules" /usr/share/p11-kit/modules
        p11-kit list-modules
        p11tool --list-tokens
    ' | tee "$service/modules.txt"
    grep 'token: suite' "$service/modules.txt"
    grep 'token=suite' "$service/modules.txt"
}

test_p11_kit_server() {
    local address id
    p11-kit server --provider "$pkcs11" --name "$service/p11-kit.sock" 'pkcs11:token=suite' >"$service/p11-kit.env"
    . "$service/p11-kit.env"
    address=$(find /usr/lib -name p11-kit-client.so | head -n 1)
    id=$(pkcs11-tool --module "$address" --login --pin $user --list-objects --type privkey |
        sed -n '/label: *imported/,/ID:/s/.*ID: *//p')
    echo message >"$service/message"
    pkcs11-tool --module "$address" --login --pin $user --id "$id" --sign --mechanism SHA256-RSA-PKCS \
        -i "$service/message" -o "$service/signature"
    openssl x509 -in "$service/certificate" -pubkey -noout >"$service/public"
    openssl dgst -sha256 -verify "$service/public" -signature "$service/signature" "$service/message"
    kill "$P11_KIT_SERVER_PID"
}

run() {
    export HOME=$service/home
    mkdir "$HOME"
    make_token suite $officer $user
    tests pkcs11_tool_coprocessor pkcs11_tool_accelerator pkcs11_tool_token nss_module nss_certificates nss_request nss_import \
        nss_signed_mail p11_kit_modules p11_kit_server
}

suite() {
    with_service run
    stand_in
}
