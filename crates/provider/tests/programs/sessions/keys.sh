# Keys of every kind, made by one side, read, written, checked and shown by both.
printf 'secret' >password
for kind in $all_kinds; do
    for maker in stock outboard; do
        key=$kind.$maker
        $maker new_key "$kind" >"$key.pem"
        works openssl pkey -in "$key.pem"
        works openssl pkey -in "$key.pem" -noout -text
        works openssl pkey -in "$key.pem" -outform DER
        cp stock.out "$key.der"
        works openssl pkey -in "$key.der" -inform DER
        works openssl pkey -in "$key.pem" -pubout
        cp stock.out "$key.pub"
        works openssl pkey -pubin -in "$key.pub" -outform DER
        works openssl pkey -pubin -in "$key.pub" -noout -text
        same openssl pkey -in "$key.pem" -noout -check
        same openssl pkey -in "$key.pem" -noout -pubcheck
        same openssl pkey -pubin -in "$key.pub" -noout -pubcheck
        same openssl pkey -in "$key.pem" -traditional
        # Encrypted by each, decrypted by both.
        for writer in stock outboard; do
            $writer openssl pkcs8 -topk8 -in "$key.pem" -v2 aes-256-cbc -passout file:password >encrypted.pem
            works openssl pkey -in encrypted.pem -passin file:password
            cmp stock.out "$key.pem" || cmp stock.out <(stock openssl pkey -in "$key.pem")
            works openssl storeutl -noout -passin file:password encrypted.pem
        done
        same openssl pkey -in encrypted.pem -passin pass:wrong
        case $kind in
            rsa-pss*) ;;
            rsa-*) works openssl rsa -in "$key.pem" -noout -modulus
                same openssl rsa -in "$key.pem" -noout -check
                works openssl rsa -in "$key.pem" -RSAPublicKey_out ;;
            P-* | secp* | brainpool*)
                works openssl ec -in "$key.pem" -noout -text
                works openssl ec -in "$key.pem" -conv_form compressed -outform DER
                works openssl ec -in "$key.pem" -param_enc explicit -outform DER ;;
        esac
    done
done

# Parameters alone.
for curve in P-256 P-384 P-521 secp256k1; do
    works openssl ecparam -name "$curve" -noout -text
    works openssl genpkey -genparam -algorithm EC -pkeyopt "ec_paramgen_curve:$curve"
    cp stock.out parameters.pem
    outboard openssl genpkey -paramfile parameters.pem >key.pem
    works openssl pkey -in key.pem -noout -text
done

# What is damaged is refused by both.
head -c 500 rsa-2048.stock.pem >cut.pem
same openssl pkey -in cut.pem
same openssl pkey -in /dev/null
