# What pkcs11-provider's setup.sh reads to make a token: one of the service that token-provider.sh has started.
export P11LIB=$pkcs11 TOKENLABEL='Outboard Token' TOKENLABELURI=Outboard%20Token TESTPORT=36000
make_token "$TOKENLABEL" "$PINVALUE" "$PINVALUE"
TOKENCONFIGVARS="export OUTBOARD_PKCS11=$OUTBOARD_PKCS11"
# What the module has no keys of, and an RSA key of 3092 bits, which it does not make (SUPPORT_ALLOWED_MECHANISMS).
SUPPORT_ED448=0 SUPPORT_X25519=0 SUPPORT_X448=0 SUPPORT_ALLOWED_MECHANISMS=0
# ML keys need OpenSSL 3.5; tlsfuzzer is not here.
SUPPORT_ML_DSA=0 SUPPORT_ML_KEM=0 SUPPORT_TLSFUZZER=0
