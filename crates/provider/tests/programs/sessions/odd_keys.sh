# RSA keys of odd shapes: whatever stock makes of them, Outboard makes of them.
head -c 32 /dev/urandom >hash

# Like same; the status alone where even stock never says the same twice (blinding with a wrong key).
alike() {
    local once=0 status=0 other=0
    stock "$@" >once.out 2>/dev/null || once=$?
    stock "$@" >stock.out 2>/dev/null || status=$?
    if [[ $once = "$status" ]] && cmp -s once.out stock.out; then
        same "$@"
    else
        outboard "$@" >/dev/null 2>&1 || other=$?
        [[ $status = "$other" ]] || { echo "status $status, but $other: $*"; return 1; }
    fi
}

# Writes NAME.pem (PKCS #1) for every shape, from the numbers of a proper key.
cat >shapes.py <<'END'
import re, subprocess, sys

def integer(value):
    body = value.to_bytes(value.bit_length() // 8 + 1, 'big')
    return b'\x02' + length(len(body)) + body

def length(count):
    if count < 128:
        return bytes([count])
    digits = count.to_bytes((count.bit_length() + 7) // 8, 'big')
    return bytes([0x80 | len(digits)]) + digits

def write(name, *numbers):
    body = b''.join(map(integer, (0,) + numbers))
    with open(name + '.der', 'wb') as file:
        file.write(b'\x30' + length(len(body)) + body)

text = open(sys.argv[1]).read().replace('\n', '').replace(' ', '')
def number(name):
    return int(re.search(name + r':([0-9a-f:]+)', text).group(1).replace(':', ''), 16)
n, d, p, q = number('modulus'), number('privateExponent'), number('prime1'), number('prime2')
dp, dq, qi, e = number('exponent1'), number('exponent2'), number('coefficient'), 65537
if p < q:
    p, q, dp, dq, qi = q, p, dq, dp, pow(p, -1, q)

write('proper', n, e, d, p, q, dp, dq, qi)
write('p-below-q', n, e, d, q, p, dq, dp, pow(p, -1, q))
write('no-crt', n, e, d, 0, 0, 0, 0, 0)
write('no-exponents', n, e, d, p, q, 0, 0, 0)
write('no-coefficient', n, e, d, p, q, dp, dq, 0)
write('no-d', n, e, 0, p, q, dp, dq, qi)
write('d-plus-phi', n, e, d + (p - 1) * (q - 1), p, q, dp, dq, qi)
write('d-long', n, e, d + (p - 1) * (q - 1) * 2**70, p, q, dp, dq, qi)
write('wrong-dp', n, e, d, p, q, dp + 2, dq, qi)
write('wrong-coefficient', n, e, d, p, q, dp, dq, qi + 1)
write('wrong-modulus', n + 2, e, d, p, q, dp, dq, qi)
write('even-modulus', n + 1, e, d, p, q, dp, dq, qi)
write('modulus-1', 1, e, d, p, q, dp, dq, qi)
write('modulus-0', 0, e, d, p, q, dp, dq, qi)
write('e-1', n, 1, 1, p, q, 1, 1, qi)
write('e-0', n, 0, d, p, q, dp, dq, qi)
write('e-even', n, 65536, d, p, q, dp, dq, qi)
big = 2**64 + 13
while True:
    try:
        write('e-large', n, big, pow(big, -1, (p - 1) * (q - 1)), p, q, pow(big, -1, p - 1), pow(big, -1, q - 1), qi)
        break
    except ValueError:
        big += 2
END

for bits in 2048 3072; do
    stock new_key rsa-$bits >proper.pem
    stock openssl rsa -in proper.pem -noout -text >proper.txt
    python3 shapes.py <(sed '/^writing/d' proper.txt | awk '/^[a-z].*:/ {print "|" $0; next} {print}')
    stock openssl dgst -sha256 -sign proper.pem -out signature hash
    stock openssl pkeyutl -encrypt -inkey proper.pem -in hash -out encrypted
    for der in *.der; do
        shape=${der%.der}
        same openssl pkey -inform DER -in $der -noout -check
        same openssl pkey -inform DER -in $der -pubout
        cp stock.out $shape.pub
        same openssl pkey -inform DER -in $der -noout -text
        alike openssl dgst -sha256 -keyform DER -sign $der hash
        same openssl dgst -sha256 -verify $shape.pub -signature signature hash
        alike openssl pkeyutl -decrypt -keyform DER -inkey $der -in encrypted
        a=0 b=0
        stock openssl dgst -sha256 -sigopt rsa_padding_mode:pss -keyform DER -sign $der -out s1 hash 2>/dev/null || a=$?
        outboard openssl dgst -sha256 -sigopt rsa_padding_mode:pss -keyform DER -sign $der -out s2 hash 2>/dev/null || b=$?
        [[ $a = "$b" ]] || { echo "PSS with $shape: $a, but $b"; exit 1; }
        if [[ $a = 0 ]]; then
            same openssl dgst -sha256 -sigopt rsa_padding_mode:pss -verify $shape.pub -signature s1 hash
            same openssl dgst -sha256 -sigopt rsa_padding_mode:pss -verify $shape.pub -signature s2 hash
        fi
    done
    works openssl dgst -sha256 -keyform DER -sign p-below-q.der hash
    cmp stock.out signature
done

# Sizes in between and beyond.
for bits in 512 1536 2056 3000 4104; do
    stock new_key rsa-$bits >odd.pem
    same openssl dgst -sha256 -sign odd.pem hash
    same openssl pkey -in odd.pem -noout -check
done

# EC: a private key without its public one, of another length, zero, beyond the order.
stock new_key P-384 >ec.pem
stock openssl ec -in ec.pem -no_public -outform DER -out no-public.der
same openssl pkey -inform DER -in no-public.der -pubout
for maker in stock outboard; do
    $maker openssl dgst -sha256 -keyform DER -sign no-public.der -out signature hash
    works openssl dgst -sha256 -prverify ec.pem -signature signature hash
done
python3 - <<'END'
der = bytearray(open('no-public.der', 'rb').read())
at = der.index(b'\x04\x30') + 2
for name, scalar in (('zero', b'\0' * 48), ('order', b'\xff' * 48), ('one', b'\0' * 47 + b'\1')):
    der[at:at + 48] = scalar
    open(name + '.ec', 'wb').write(der)
END
for name in zero order one; do
    same openssl pkey -inform DER -in $name.ec -noout -text
    same openssl pkey -inform DER -in $name.ec -noout -check
    a=0 b=0
    stock openssl dgst -sha256 -keyform DER -sign $name.ec -out s1 hash 2>/dev/null || a=$?
    outboard openssl dgst -sha256 -keyform DER -sign $name.ec -out s2 hash 2>/dev/null || b=$?
    [[ $a = "$b" ]] || { echo "ECDSA with the key $name: $a, but $b"; exit 1; }
done
