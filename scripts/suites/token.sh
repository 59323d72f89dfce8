# What the suites of the PKCS #11 module share. All of their tests must pass: a module without faults stands for stock. Those that do
# not are in expected/NAME-WAY.txt, with their reasons.
#
# Ways: token (slot 2, a token with PINs, of a card service of the suite's own), accelerator (slot 1).

ways='token accelerator'
# What is served is the service's, and not in a ledger of the suite's.
evidence() { :; }
pkcs11=$(dirname "$MODULE")/liboutboard_pkcs11.so
officer=officers-pin
user=users-pin

# with_service COMMAND…: runs it while a new service runs, in $service.
with_service() {
    local status=0
    service=$(mktemp -d)
    export service OUTBOARD_PKCS11=service=$service
    "$OUTBOARD" service start --directory "$service"
    "$@" || status=$?
    "$OUTBOARD" service stop --directory "$service"
    rm -rf "$service"
    return $status
}

# make_token LABEL OFFICER USER: a token of the service that we may use, with these PINs.
make_token() {
    "$OUTBOARD" token init suite --label "$1" --directory "$service" --officer-pin-file <(echo "$2") --pin-file <(echo "$3")
    "$OUTBOARD" token grant suite --user "$(id -un)" --directory "$service"
}

# tests NAME…: runs the function test_NAME of each name, and notes whether it ended well.
tests() {
    local name status
    for name; do
        echo "== $name"
        # A shell of its own: run.sh calls us where `set -e` ends nothing.
        bash -euxo pipefail -c "$(declare -p service pkcs11 user); $(declare -f); test_$name" && status=ok || status='not ok'
        echo "$status $name" >>"$out/results.tap"
    done
}

# stand_in: what compare.py compares with, once the results are there.
stand_in() {
    mkdir -p "$cache/stock"
    sed 's/^not ok/ok/' "$out/results.tap" >"$cache/stock/results.tap"
}
