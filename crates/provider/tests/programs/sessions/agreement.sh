# Key agreement: both sides find the same secret, or refuse alike.
for kind in $ec_kinds $montgomery_kinds; do
    for maker in stock outboard; do
        $maker new_key "$kind" >"$kind.$maker.pem"
        $maker openssl pkey -in "$kind.$maker.pem" -pubout >"$kind.$maker.pub"
    done
    works openssl pkeyutl -derive -inkey "$kind.stock.pem" -peerkey "$kind.outboard.pub"
    cp stock.out secret
    works openssl pkeyutl -derive -inkey "$kind.outboard.pem" -peerkey "$kind.stock.pub"
    cmp secret stock.out
    works openssl pkeyutl -derive -inkey "$kind.outboard.pem" -peerkey "$kind.outboard.pub"
    same openssl pkeyutl -derive -inkey "$kind.stock.pub" -pubin -peerkey "$kind.outboard.pub"
done
for kind in P-256 P-384 P-521; do
    works openssl pkeyutl -derive -inkey $kind.stock.pem -peerkey $kind.outboard.pub \
        -pkeyopt ecdh_cofactor_mode:1
    same openssl pkeyutl -derive -inkey $kind.stock.pem -peerkey $kind.outboard.pub \
        -pkeyopt ecdh_kdf_type:X963KDF -pkeyopt ecdh_kdf_md:sha256 -pkeyopt ecdh_kdf_outlen:70
done

# Another curve, another kind, the point of low order.
same openssl pkeyutl -derive -inkey P-256.stock.pem -peerkey P-384.stock.pub
same openssl pkeyutl -derive -inkey P-256.stock.pem -peerkey X25519.stock.pub
same openssl pkeyutl -derive -inkey X25519.stock.pem -peerkey X448.stock.pub
same openssl pkeyutl -derive -inkey P-256.stock.pem -peerkey P-256-explicit.stock.pub
for point in 00 01; do
    # SubjectPublicKeyInfo of X25519, RFC 8410.
    { printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x6e\x03\x21\x00'
        printf "\x$point"
        head -c 31 /dev/zero; } >low.der
    same openssl pkeyutl -derive -inkey X25519.stock.pem -peerkey low.der -peerform DER
    [[ $status != 0 ]]
done
