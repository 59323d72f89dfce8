#!/bin/sh
# Makes the contract's calls with Outboard built with AddressSanitizer: asan.sh DIRECTORY FIRST END
#
# DIRECTORY has the program `contract` and liboutboard.so, both built so: the program brings the runtime along. What
# differs from stock is not looked at here; what the sanitizer finds ends the process, and so this script.
set -eu

directory=$1 first=$2 end=$3
workplace=$(mktemp -d)
trap 'rm -rf "$workplace"' EXIT

head='openssl_conf = openssl_init
[openssl_init]
providers = provider_sections'
default='[default_section]
activate = 1
[provider_sections]
default = default_section'
printf '%s\n%s\n' "$head" "$default" > "$workplace/stock.cnf"
cat > "$workplace/ours.cnf" <<EOF
$head
alg_section = evp_properties
$default
outboard = outboard_section
[outboard_section]
module = $(realpath "$directory")/liboutboard.so
activate = 1
offer = all
ledger = $workplace/ledger
cards = 0
[evp_properties]
default_properties = ?provider=outboard,?outboard.preferred=yes
EOF

# Scenarios leave objects behind, by intent.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1
contract=$directory/contract
"$contract" --sequences libcrypto.so.3 "$workplace/stock.cnf" "$workplace/ours.cnf" "$first" "$end" > "$workplace/output"
grep -q '^done' "$workplace/output"

export OPENSSL_CONF="$workplace/ours.cnf"
for scenario in key/ec-P-256 key/rsa2048 key/generated/x25519 sign/orders/rsa2048 sign/orders/ec-P-256 \
    sign/orders/ed25519 sign/midway/rsa2048 sign/malformed/ec-P-256 derive/peers/ec-P-256 derive/settings/x25519 \
    gcm/128/orders gcm/256/records gcm/256/sequences contexts/two contexts/loaded-and-unloaded \
    end/before-cleanup/used-keys end/after-cleanup/messages end/cleanup-by-hand/operations
do
    echo "$scenario"
    "$contract" libcrypto.so.3 "$scenario" > "$workplace/output"
    test -s "$workplace/output"
done
echo "AddressSanitizer has found nothing"
