# OpenSSL 3.0: see openssl.sh.
number=3.0.0
release=bookworm
configure=()
. "$here/openssl.sh"
