# Read before every session. A session is a script in which the program openssl is used as people use
# it, with and without Outboard; it fails at the first difference that nobody expects.
#
#   stock COMMAND…      runs it without Outboard
#   outboard COMMAND…   runs it with Outboard, which offers all that it can do
#   same COMMAND…       runs it both ways: exit status and output must be the same
#   works COMMAND…      like same, and it must succeed
#   new_key KIND        writes a new private key of that kind to standard output
set -Eeuo pipefail
shopt -s inherit_errexit
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR

openssl()  { LD_LIBRARY_PATH=$LIBRARIES timeout 120 "$OPENSSL" "$@"; }
stock()    { OPENSSL_CONF=$STOCK "$@"; }
outboard() { OPENSSL_CONF=$OUTBOARD "$@"; }

same() {
    status=0
    local other=0
    stock "$@" </dev/null >stock.out 2>stock.err || status=$?
    outboard "$@" </dev/null >outboard.out 2>outboard.err || other=$?
    if [[ $status != "$other" ]] || ! cmp -s stock.out outboard.out; then
        echo "differs: $*" >&2
        echo "stock says (status $status):" >&2
        head -c 1500 stock.out stock.err | cat -v >&2
        echo "Outboard says (status $other):" >&2
        head -c 1500 outboard.out outboard.err | cat -v >&2
        return 1
    fi
}

works() {
    same "$@"
    if [[ $status != 0 ]]; then
        echo "fails both ways (status $status): $*" >&2
        cat stock.err >&2
        return 1
    fi
}

new_key() {
    case $1 in
        rsa-pss) openssl genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 ;;
        rsa-pss-restricted)
            openssl genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 \
                -pkeyopt rsa_pss_keygen_md:sha384 -pkeyopt rsa_pss_keygen_mgf1_md:sha384 \
                -pkeyopt rsa_pss_keygen_saltlen:48 ;;
        rsa-e3) openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:3 ;;
        rsa-3-primes)
            openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_primes:3 ;;
        rsa-*) openssl genpkey -quiet -algorithm RSA -pkeyopt "rsa_keygen_bits:${1#rsa-}" ;;
        *-explicit)
            openssl genpkey -quiet -algorithm EC -pkeyopt "ec_paramgen_curve:${1%-explicit}" \
                -pkeyopt ec_param_enc:explicit ;;
        P-* | secp* | brainpool* | sect*) openssl genpkey -quiet -algorithm EC -pkeyopt "ec_paramgen_curve:$1" ;;
        *) openssl genpkey -quiet -algorithm "$1" ;;
    esac
}

# Kinds that Outboard knows, then some that it must leave alone.
rsa_kinds='rsa-2048 rsa-3072 rsa-4096 rsa-pss rsa-pss-restricted rsa-1024 rsa-2049 rsa-e3 rsa-3-primes'
ec_kinds='P-256 P-384 P-521 secp256k1 secp224r1 brainpoolP256r1 P-256-explicit P-384-explicit'
edwards_kinds='Ed25519 Ed448'
montgomery_kinds='X25519 X448'
all_kinds="$rsa_kinds $ec_kinds $edwards_kinds $montgomery_kinds"
