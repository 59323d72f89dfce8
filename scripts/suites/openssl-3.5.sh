# OpenSSL 3.5: see openssl.sh.
number=3.5.0
release=trixie
# QUIC's tests take long, and use what TLS's use.
configure=(no-quic no-docs)
. "$here/openssl.sh"
