# Requests, certificates, revocation and PKCS #12 with keys of every kind, across both sides.
cat >ca.cnf <<END
[ca]
default_ca = authority
[authority]
database = index.txt
crlnumber = crlnumber
default_md = default
default_crl_days = 30
END
echo basicConstraints=CA:FALSE >leaf.ext
for kind in rsa-2048 rsa-3072 rsa-4096 rsa-pss rsa-pss-restricted P-256 P-384 P-521 secp256k1 \
    brainpoolP256r1 $edwards_kinds; do
    digest=-sha256
    [[ $kind = rsa-pss-restricted ]] && digest=-sha384
    [[ $kind = Ed* ]] && digest=
    for maker in stock outboard; do
        name=$kind.$maker
        $maker new_key "$kind" >"$name.pem"
        $maker openssl req -x509 -new -key "$name.pem" $digest -subj "/CN=$name" -days 30 -out "$name.ca" \
            -addext basicConstraints=critical,CA:TRUE
        works openssl x509 -in "$name.ca" -noout -text
        works openssl x509 -in "$name.ca" -noout -pubkey
        works openssl verify -check_ss_sig -CAfile "$name.ca" "$name.ca"
        stock new_key P-256 >leaf.pem
        $maker openssl req -new -key "$name.pem" $digest -subj /CN=request -out request
        works openssl req -in request -noout -verify -text
        $maker openssl req -new -key leaf.pem -subj /CN=leaf -out request
        $maker openssl x509 -req -in request -CA "$name.ca" -CAkey "$name.pem" $digest -days 10 \
            -set_serial 7 -extfile leaf.ext -out leaf.crt
        works openssl verify -CAfile "$name.ca" leaf.crt
        for other in $(ls ./*.ca | head -3); do
            same openssl verify -CAfile "$other" leaf.crt
        done
        : >index.txt
        echo 01 >crlnumber
        $maker openssl ca -config ca.cnf -gencrl -keyfile "$name.pem" -cert "$name.ca" \
            ${digest:+-md ${digest#-}} -out crl
        works openssl crl -in crl -noout -text -CAfile "$name.ca"
        $maker openssl pkcs12 -export -inkey "$name.pem" -in "$name.ca" -passout pass:secret -out "$name.p12"
        works openssl pkcs12 -in "$name.p12" -passin pass:secret -noenc
        same openssl pkcs12 -in "$name.p12" -passin pass:wrong -noenc
    done
done
