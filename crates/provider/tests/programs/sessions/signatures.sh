# Signatures of every kind and digest, made by one side, verified by both.
head -c 5000 /dev/urandom >message
: >empty
head -c 40000000 /dev/zero >huge
echo changed >other

# across NAME ARGUMENTS…: dgst with a key; each side's signature is good for both, and only for its message.
across() {
    local key=$1 maker
    shift
    for maker in stock outboard; do
        $maker openssl dgst "$@" -sign "$key.pem" -out signature message
        works openssl dgst "$@" -verify "$key.pub" -signature signature message
        same openssl dgst "$@" -verify "$key.pub" -signature signature other
        works openssl dgst "$@" -prverify "$key.pem" -signature signature message
    done
    # What is no signature at all, stock calls an error for some keys and a wrong signature for others.
    head -c 20 signature >short
    refused openssl dgst "$@" -verify "$key.pub" -signature short message
    refused openssl dgst "$@" -verify "$key.pub" -signature empty message
}

# refused COMMAND…: both ways.
refused() {
    local side
    for side in stock outboard; do
        if $side "$@" >/dev/null 2>&1; then
            echo "$side accepts: $*"
            return 1
        fi
    done
}

for kind in $rsa_kinds $ec_kinds; do
    stock new_key "$kind" >"$kind.pem"
    stock openssl pkey -in "$kind.pem" -pubout >"$kind.pub"
    case $kind in
        rsa-pss-restricted) across "$kind" -sha384 ;;
        rsa-1024 | rsa-pss) across "$kind" -sha256 ;;
        *) for digest in sha1 sha224 sha256 sha384 sha512 sha512-256 sha3-256 sha3-512; do
                across "$kind" "-$digest"
            done ;;
    esac
done

# PKCS #1 v1.5 has one signature only: both sides must make the same, of nothing and of much.
for kind in rsa-2048 rsa-3072 rsa-4096 rsa-2049 rsa-1024 rsa-e3 rsa-3-primes; do
    for digest in md5 sha1 sha256 sha512; do
        for file in message empty huge; do
            works openssl dgst "-$digest" -sign "$kind.pem" $file
        done
    done
done
for file in empty huge; do
    for kind in P-256 P-384 P-521; do
        outboard openssl dgst -sha384 -sign $kind.pem -out signature $file
        works openssl dgst -sha384 -verify $kind.pub -signature signature $file
    done
done

# PSS: salts of every length, with every digest and mask.
for kind in rsa-2048 rsa-1024 rsa-pss rsa-pss-restricted; do
    for digest in sha1 sha256 sha384; do
        for salt in digest max auto 0 20 78 222 10000; do
            options=(-sigopt rsa_padding_mode:pss -sigopt "rsa_pss_saltlen:$salt")
            # The status alone: signatures are random.
            a=0 b=0
            stock openssl dgst "-$digest" "${options[@]}" -sign $kind.pem -out s1 message 2>/dev/null || a=$?
            outboard openssl dgst "-$digest" "${options[@]}" -sign $kind.pem -out s2 message 2>/dev/null || b=$?
            [[ $a = "$b" ]] || { echo "PSS $kind $digest, salt $salt: $a, but $b"; exit 1; }
            [[ $a = 0 ]] || continue
            for signature in s1 s2; do
                for other in "$salt" auto digest 20; do
                    same openssl dgst "-$digest" -sigopt rsa_padding_mode:pss \
                        -sigopt "rsa_pss_saltlen:$other" -verify $kind.pub -signature $signature message
                done
            done
        done
    done
done
across rsa-3072 -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:sha1
across rsa-3072 -sha512 -sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:sha3-256
same openssl dgst -sha256 -sigopt rsa_padding_mode:pkcs1 -sign rsa-pss.pem message
same openssl dgst -sha256 -sigopt rsa_padding_mode:x931 -sign rsa-2048.pem message
same openssl dgst -sha256 -sigopt rsa_padding_mode:oaep -sign rsa-2048.pem message
same openssl dgst -sha256 -sigopt rsa_padding_mode:none -sign rsa-2048.pem message

# Without a digest, or with one that was made elsewhere.
for length in 0 1 20 32 36 48 64 100 245 246 255 256 257; do
    head -c $length message >hash
    same openssl pkeyutl -sign -inkey rsa-2048.pem -in hash
    same openssl pkeyutl -sign -inkey rsa-2048.pem -in hash -pkeyopt digest:sha256
    same openssl pkeyutl -sign -inkey rsa-2048.pem -in hash -pkeyopt rsa_padding_mode:none
    same openssl pkeyutl -sign -inkey rsa-2048.pem -in hash -pkeyopt rsa_padding_mode:x931
    a=0 b=0
    stock openssl pkeyutl -sign -inkey P-384.pem -in hash -out s1 2>/dev/null || a=$?
    outboard openssl pkeyutl -sign -inkey P-384.pem -in hash -out s2 2>/dev/null || b=$?
    [[ $a = "$b" ]] || { echo "ECDSA of $length bytes: $a, but $b"; exit 1; }
    if [[ $a = 0 ]]; then
        same openssl pkeyutl -verify -inkey P-384.pem -in hash -sigfile s1
        same openssl pkeyutl -verify -inkey P-384.pem -in hash -sigfile s2
        same openssl pkeyutl -verify -pubin -inkey P-384.pub -in other -sigfile s2
    fi
done
head -c 32 message >hash
stock openssl pkeyutl -sign -inkey rsa-2048.pem -in hash -pkeyopt digest:sha256 -out signature
works openssl pkeyutl -verifyrecover -pubin -inkey rsa-2048.pub -in signature
works openssl pkeyutl -verifyrecover -pubin -inkey rsa-2048.pub -in signature -pkeyopt digest:sha256
works openssl pkeyutl -verifyrecover -pubin -inkey rsa-2048.pub -in signature -pkeyopt rsa_padding_mode:none
works openssl pkeyutl -verify -pubin -inkey rsa-2048.pub -in hash -sigfile signature -pkeyopt digest:sha256
same openssl pkeyutl -verifyrecover -pubin -inkey rsa-3072.pub -in signature
works openssl pkeyutl -sign -rawin -digest sha256 -inkey rsa-2048.pem -in message

# EdDSA is deterministic, and takes its message whole.
for kind in $edwards_kinds; do
    stock new_key "$kind" >"$kind.pem"
    stock openssl pkey -in "$kind.pem" -pubout >"$kind.pub"
    for file in message empty other huge; do
        same openssl pkeyutl -sign -rawin -inkey "$kind.pem" -in $file
        [[ $status = 0 ]] || continue
        cp stock.out signature
        works openssl pkeyutl -verify -rawin -pubin -inkey "$kind.pub" -in $file -sigfile signature
        same openssl pkeyutl -verify -rawin -pubin -inkey "$kind.pub" -in hash -sigfile signature
        head -c 63 signature >short
        same openssl pkeyutl -verify -rawin -pubin -inkey "$kind.pub" -in $file -sigfile short
    done
    same openssl dgst -sha256 -sign "$kind.pem" message
done

# A public key cannot sign.
for kind in rsa-2048 rsa-3072 rsa-pss P-256 P-384 secp256k1 Ed25519; do
    same openssl pkeyutl -sign -pubin -inkey $kind.pub -in hash
    same openssl dgst -sha256 -sign $kind.pub message
done
