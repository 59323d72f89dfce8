# openssl list of every kind: what was there without Outboard is there with it.
kinds='commands digest-commands digest-algorithms kdf-algorithms random-instances random-generators
    mac-algorithms cipher-commands cipher-algorithms encoders decoders key-managers
    key-exchange-algorithms kem-algorithms signature-algorithms asymcipher-algorithms
    public-key-algorithms public-key-methods store-loaders providers'
for kind in $kinds; do
    stock openssl list "-$kind" | sort >stock.list
    outboard openssl list "-$kind" | sort >outboard.list
    missing=$(comm -23 stock.list outboard.list)
    [[ -z $missing ]] || { echo "list -$kind lost: $missing"; exit 1; }
    # Every parameter of every implementation is asked for.
    outboard openssl list -verbose "-$kind" >/dev/null
    outboard openssl list -verbose -propquery provider=outboard "-$kind" >/dev/null
done
outboard openssl list -providers | grep -i 'name: outboard'
outboard openssl list -signature-algorithms | grep '@ outboard'
outboard openssl list -cipher-algorithms | grep '@ outboard'
