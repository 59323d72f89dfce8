# CMS: signed by every kind of key, encrypted for RSA and EC, with AES-GCM of nothing and of much.
: >empty
head -c 100000 /dev/urandom >message
head -c 30000000 /dev/urandom >huge
for kind in rsa-2048 rsa-3072 rsa-4096 rsa-pss P-256 P-384 P-521 secp256k1 $edwards_kinds; do
    stock new_key "$kind" >"$kind.pem"
    stock openssl req -x509 -new -key "$kind.pem" -subj "/CN=$kind" -out "$kind.crt"
    # A PSS key wants its padding said, see below; EdDSA came to CMS after 3.0.
    [[ $kind != rsa-pss ]] || continue
    [[ $kind != Ed* ]] || stock openssl cms -sign -binary -in message -signer "$kind.crt" \
        -inkey "$kind.pem" -outform DER -out signed 2>/dev/null || continue
    for maker in stock outboard; do
        for file in message empty; do
            $maker openssl cms -sign -binary -in $file -signer "$kind.crt" -inkey "$kind.pem" \
                -outform DER -nodetach -out signed
            works openssl cms -verify -inform DER -in signed -CAfile "$kind.crt" -purpose any
            cmp stock.out $file
        done
    done
done
for kind in rsa-3072 rsa-pss; do
    for maker in stock outboard; do
        $maker openssl cms -sign -binary -in message -signer $kind.crt -inkey $kind.pem \
            -keyopt rsa_padding_mode:pss -outform DER -nodetach -out signed
        works openssl cms -verify -inform DER -in signed -CAfile $kind.crt -purpose any
    done
done

# encrypt KIND FILE CIPHER OPTIONS…
encrypt() {
    local kind=$1 file=$2 cipher=$3 maker
    shift 3
    for maker in stock outboard; do
        $maker openssl cms -encrypt -binary -in "$file" "-$cipher" -outform DER -out encrypted \
            -recip "$kind.crt" "$@"
        works openssl cms -decrypt -binary -inform DER -in encrypted -recip "$kind.crt" -inkey "$kind.pem"
        cmp stock.out "$file"
        { head -c -20 encrypted; printf '\x5a'; tail -c 19 encrypted; } >damaged
        # What was decrypted before the tag was found wrong may have been written.
        same openssl cms -decrypt -binary -inform DER -in damaged -recip "$kind.crt" -inkey "$kind.pem" \
            -out /dev/null
    done
}
for cipher in aes-128-gcm aes-192-gcm aes-256-gcm aes-128-cbc; do
    for file in message empty; do
        encrypt rsa-3072 $file $cipher
        encrypt P-384 $file $cipher
    done
done
encrypt rsa-2048 huge aes-256-gcm
encrypt P-256 huge aes-128-gcm
encrypt secp256k1 message aes-128-gcm
encrypt rsa-4096 message aes-256-cbc -keyopt rsa_padding_mode:oaep
encrypt rsa-4096 message aes-256-cbc -keyopt rsa_padding_mode:oaep -keyopt rsa_oaep_md:sha256
encrypt P-521 message aes-256-gcm -keyopt ecdh_kdf_md:sha512
# The password's way, no key at all.
for maker in stock outboard; do
    $maker openssl cms -encrypt -binary -in message -aes-256-cbc -outform DER -out encrypted -pwri_password secret
    works openssl cms -decrypt -binary -inform DER -in encrypted -pwri_password secret
    cmp stock.out message
done
