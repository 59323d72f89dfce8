# RSA encryption: what one side encrypts both decrypt, and what is damaged is refused alike.
: >empty
head -c 1 /dev/urandom >one
head -c 100 /dev/urandom >message
for kind in rsa-1024 rsa-2048 rsa-3072 rsa-4096 rsa-2049 rsa-3-primes rsa-pss; do
    stock new_key $kind >$kind.pem
    stock openssl pkey -in $kind.pem -pubout >$kind.pub
done
for kind in rsa-2048 rsa-3072 rsa-4096 rsa-2049 rsa-3-primes; do
    for options in '' 'rsa_padding_mode:pkcs1' 'rsa_padding_mode:oaep' \
        'rsa_padding_mode:oaep rsa_oaep_md:sha256' \
        'rsa_padding_mode:oaep rsa_oaep_md:sha512 rsa_mgf1_md:sha1' \
        'rsa_padding_mode:oaep rsa_oaep_md:sha256 rsa_oaep_label:6c6162656c'; do
        arguments=()
        for option in $options; do arguments+=(-pkeyopt "$option"); done
        for file in message one empty; do
            for maker in stock outboard; do
                $maker openssl pkeyutl -encrypt -pubin -inkey $kind.pub "${arguments[@]}" \
                    -in $file -out encrypted || continue
                works openssl pkeyutl -decrypt -inkey $kind.pem "${arguments[@]}" -in encrypted
                cmp stock.out $file
            done
        done
        stock openssl pkeyutl -encrypt -pubin -inkey $kind.pub "${arguments[@]}" -in message -out encrypted
        # One bit of it turned, one byte too few, another padding.
        { head -c 20 encrypted; printf '\x5a'; tail -c +22 encrypted; } >damaged
        same openssl pkeyutl -decrypt -inkey $kind.pem "${arguments[@]}" -in damaged
        tail -c +2 encrypted >short
        same openssl pkeyutl -decrypt -inkey $kind.pem "${arguments[@]}" -in short
        same openssl pkeyutl -decrypt -inkey $kind.pem -in encrypted
        same openssl pkeyutl -decrypt -inkey $kind.pem "${arguments[@]}" -in empty
    done
    # Too long for its padding.
    head -c 600 /dev/zero >long
    same openssl pkeyutl -encrypt -pubin -inkey $kind.pub -in long
done
head -c 256 /dev/zero >block
for file in block message empty; do
    same openssl pkeyutl -encrypt -pubin -inkey rsa-2048.pub -pkeyopt rsa_padding_mode:none -in $file
    same openssl pkeyutl -decrypt -inkey rsa-2048.pem -pkeyopt rsa_padding_mode:none -in $file
done
head -c 256 /dev/zero | tr '\0' '\377' >block
same openssl pkeyutl -decrypt -inkey rsa-2048.pem -pkeyopt rsa_padding_mode:none -in block
same openssl pkeyutl -encrypt -pubin -inkey rsa-pss.pub -in message
same openssl pkeyutl -decrypt -inkey rsa-2048.pub -pubin -in message
