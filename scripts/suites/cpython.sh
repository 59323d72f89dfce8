# CPython: its tests of ssl, of hashlib and of what rests on them.
packages='python3 libpython3.11-testsuite'
serves='rsa-3072-sign rsa-3072-verify x25519-keygen x25519-derive aes-256-gcm-seal aes-256-gcm-open'

prepare() { :; }

suite() {
    cd "$1"
    as_usual python3 -m test --junit-xml "$1/results.xml" --timeout 600 -u network \
        ${ONLY:+-m "$ONLY"} test_ssl test_hashlib test_hmac test_httplib test_ftplib test_poplib test_imaplib
}
