# pyca/cryptography: its own tests, with the NIST vectors they read, over Debian's build for the system's libcrypto.
# Its Wycheproof tests are skipped: they read vectors of a form that no package has. crates/provider/tests runs
# Wycheproof's.
packages='python3-cryptography python3-cryptography-vectors python3-pytest python3-pytest-subtests python3-hypothesis
    python3-pretend python3-iso8601 python3-tz dpkg-dev'
# Version 38 signs NIST's vectors for the curves past EVP (ECDSA_sign): P-384 and P-521 have no other signatures here.
serves='rsa-2048-sign rsa-2048-verify p256-sign p256-verify ed25519-sign ed25519-verify p256-derive p384-derive
    p521-derive x25519-keygen x25519-derive aes-128-gcm-seal aes-256-gcm-open'

source=$sources/python-cryptography

prepare() {
    debian_source bookworm python-cryptography "$source"
    # The installed module is what is tested: the sources alone could not be imported.
    rm -rf "$source/src"
}

suite() {
    cd "$source"
    as_usual python3 -m pytest -q -p no:cacheprovider -o addopts= -k "$ONLY" --junitxml="$1/results.xml" tests
}
