# TLS 1.2 and 1.3: every kind of key at the server and, by client certificate, at the client; every
# group and the common cipher suites; resumption, key update and much data. Stock and Outboard on
# either side: what works between two stocks works between all.
head -c 20000000 /dev/urandom >large
echo 'a small page' >small
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || :' EXIT

configuration() { if [[ $1 = stock ]]; then echo "$STOCK"; else echo "$OUTBOARD"; fi; }

# serve SIDE ARGUMENTS…: starts a server of the files here; its port is then in port_SIDE.
serve() {
    local side=$1 log=server.$1.log port=
    shift
    rm -f "$log"
    LD_LIBRARY_PATH=$LIBRARIES OPENSSL_CONF=$(configuration "$side") \
        "$OPENSSL" s_server -accept 127.0.0.1:0 -WWW "$@" >"$log" 2>&1 &
    servers+=($!)
    for _ in {1..6000}; do
        port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' "$log" 2>/dev/null || :)
        [[ -z $port ]] || break
        sleep 0.01
    done
    [[ -n $port ]] || { echo "the server does not start: $(cat "$log")" >&2; return 1; }
    declare -g "port_$side=$port"
}

# serve_both ARGUMENTS…: one of each, in place of those that run.
serve_both() {
    kill "${servers[@]}" 2>/dev/null || :
    wait
    servers=()
    serve stock "$@"
    serve outboard "$@"
}

# fetch SERVER CLIENT FILE ARGUMENTS…: whether the file comes whole.
fetch() {
    local port=port_$1 client=$2 file=$3
    shift 3
    printf 'GET /%s HTTP/1.0\r\n\r\n' "$file" |
        LD_LIBRARY_PATH=$LIBRARIES OPENSSL_CONF=$(configuration "$client") timeout 30 "$OPENSSL" \
            s_client -quiet -connect "127.0.0.1:${!port}" "$@" >fetched 2>"client.$client.log" || return 1
    LC_ALL=C sed '1,/^\r$/d' fetched | cmp -s - "$file"
}

# alike FILE ARGUMENTS…: all four pairs succeed, or all fail; sets worked.
alike() {
    worked=yes
    fetch stock stock "$@" || worked=no
    local pair result
    for pair in 'outboard stock' 'stock outboard' 'outboard outboard'; do
        result=yes
        fetch $pair "$@" || result=no
        if [[ $result != "$worked" ]]; then
            echo "between stocks: $worked, between $pair: $result: $*" >&2
            tail -n 3 server.*.log client.*.log >&2
            return 1
        fi
    done
}

# must FILE ARGUMENTS…: all four pairs succeed.
must() {
    alike "$@"
    [[ $worked = yes ]] || { echo "fails even between stocks: $*" >&2; cat client.stock.log >&2; return 1; }
}

for kind in rsa-2048 rsa-3072 rsa-4096 rsa-pss P-256 P-384 P-521 secp256k1 brainpoolP256r1 \
    P-256-explicit $edwards_kinds; do
    stock new_key "$kind" >"$kind.pem"
    stock openssl req -x509 -new -key "$kind.pem" -subj /CN=localhost -days 30 -out "$kind.crt"
    own=(-cert "$kind.crt" -key "$kind.pem" -CAfile "$kind.crt" -verify_return_error)
    serve_both "${own[@]}" -Verify 1
    case $kind in
        secp* | brainpool* | *-explicit) check=alike ;;
        *) check=must ;;
    esac
    $check small -tls1_2 "${own[@]}"
    $check small -tls1_3 "${own[@]}"
    # Without a certificate, or with one that the server does not know.
    alike small -tls1_2 -CAfile "$kind.crt"
    alike small -tls1_3 -cert rsa-2048.crt -key rsa-2048.pem -CAfile "$kind.crt"
done

groups='X25519 X448 P-256 P-384 P-521 ffdhe2048'
serve_both -cert rsa-3072.crt -key rsa-3072.pem -cert2 rsa-3072.crt -key2 rsa-3072.pem
for suite in AES128-GCM-SHA256 AES256-GCM-SHA384 AES128-SHA ECDHE-RSA-AES128-GCM-SHA256 \
    ECDHE-RSA-AES256-GCM-SHA384 ECDHE-RSA-CHACHA20-POLY1305 ECDHE-RSA-AES128-SHA256 \
    DHE-RSA-AES256-GCM-SHA384; do
    must large -tls1_2 -cipher "$suite:@SECLEVEL=0"
done
for suite in TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256; do
    must large -tls1_3 -ciphersuites $suite
done
for group in $groups; do
    must small -tls1_3 -groups "$group"
    [[ $group = ffdhe* ]] || must small -tls1_2 -cipher ECDHE -groups "$group"
done
for group in X25519MLKEM768 SecP256r1MLKEM768 SecP384r1MLKEM1024 brainpoolP256r1; do
    alike small -groups "$group"
done
for algorithm in rsa_pss_rsae_sha256 rsa_pss_rsae_sha512 RSA+SHA256 RSA+SHA512; do
    alike small -tls1_2 -sigalgs "$algorithm"
    alike small -tls1_3 -sigalgs "$algorithm"
done

# A key update in mid-connection: the ciphers get new keys. s_client takes K and k for commands only where
# each is all that it reads at once, so on a busy machine they need longer pauses.
update_keys() {
    local port=port_$1 client=$2 pause=$3
    { echo K; sleep "$pause"; echo k; sleep "$pause"; printf 'GET /small HTTP/1.0\r\n\r\n'; sleep "$pause"; } |
        LD_LIBRARY_PATH=$LIBRARIES OPENSSL_CONF=$(configuration "$client") timeout 30 "$OPENSSL" \
            s_client -tls1_3 -connect "127.0.0.1:${!port}" >fetched 2>&1 || :
    grep -q 'a small page' fetched && [[ $(grep -c KEYUPDATE fetched) = 2 ]]
}
for pair in 'stock outboard' 'outboard stock' 'outboard outboard'; do
    for pause in 0.1 0.5 2; do
        ! update_keys $pair "$pause" || continue 2
    done
    echo "no page after a key update, $pair: $(tail fetched)" >&2
    exit 1
done

# Resumed sessions: five more connections with the first one's ticket.
for pair in 'stock stock' 'stock outboard' 'outboard stock' 'outboard outboard'; do
    set -- $pair
    port=port_$1
    LD_LIBRARY_PATH=$LIBRARIES OPENSSL_CONF=$(configuration "$2") timeout 30 "$OPENSSL" \
        s_client -tls1_2 -reconnect -connect "127.0.0.1:${!port}" </dev/null >fetched 2>&1 || :
    [[ $(grep -c ^Reused fetched) = 5 ]] || { echo "not resumed, $pair: $(tail fetched)"; exit 1; }
done

# The client's groups are not the server's first choice: the handshake starts again.
serve_both -cert P-384.crt -key P-384.pem -groups P-384
must large -tls1_3 -groups X25519:P-384
must large -tls1_2 -groups X25519:P-384
alike small -groups X25519
