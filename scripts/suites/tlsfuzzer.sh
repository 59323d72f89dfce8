# tlsfuzzer: its scripts, which misuse TLS in thousands of ways, against `openssl s_server` with RSA and ECDSA certificates. Most
# scripts assume another server somewhere and fail in part with stock, too: only the comparison says something.
packages='openssl python3-venv git ca-certificates'
ways='stock outboard'
serves='rsa-2048-sign rsa-2048-verify p256-sign p256-derive p384-derive p521-derive x25519-derive aes-128-gcm-seal
    aes-128-gcm-open aes-256-gcm-seal aes-256-gcm-open'

source=$sources/tlsfuzzer

# Finite-field Diffie-Hellman by the thousand, and measurements of time: no operations of Outboard's, and they take hours.
left_out='*dhe-no-shared-secret-padding *dhe-key-share-random *timing* *ffdhe* *large-number-of-extensions*'

prepare() {
    git_source https://github.com/tlsfuzzer/tlsfuzzer 14555fe211456c46deccc4b2d94751dbd894aece "$source"
    [ -e "$cache/python/ready" ] || {
        /usr/bin/python3 -m venv --clear "$cache/python"
        "$cache/python/bin/pip" install -q tlslite-ng==0.9.0b2
        touch "$cache/python/ready"
    }
    # A script draws the tests that it makes. Each run must draw the same.
    mkdir -p "$cache/drawn"
    printf 'import random\nrandom.seed(1)\nrandom.SystemRandom = lambda: random.Random(1)\n' >"$cache/drawn/sitecustomize.py"
}

# server PORT OPTION…: one that begins anew when a script has ended it.
server() {
    while :; do
        openssl s_server -www -accept "127.0.0.1:$1" -key tests/serverX509Key.pem -cert tests/serverX509Cert.pem \
            -dkey tests/serverECKey.pem -dcert tests/serverECCert.pem -cipher ALL:@SECLEVEL=0 "${@:2}" || true
        sleep 0.2
    done
}

# one SCRIPT: against the servers of this place among those that work side by side ($place).
one() {
    local name=$1 port=$((4433 + 2 * place)) options status
    options="-p $port"
    # Those that send a client's certificate.
    ! grep -q '^ -k ' "tlsfuzzer/_apps/$(tr - _ <<<"$name").py" ||
        options="-p $((port + 1)) -k tests/clientX509Key.pem -c tests/clientX509Cert.pem"
    # Its clients are stock: only the server is tested.
    # shellcheck disable=SC2086
    OPENSSL_CONF= PYTHONPATH=$cache/drawn:. timeout --kill-after=10 "${SCRIPT_LIMIT:-120}" "$cache/python/bin/python" \
        "scripts/$name.py" -h 127.0.0.1 $options -n 20 >"$out/$name.out" 2>&1 && status=0 || status=$?
    # "NAME ..." begins a test, and "OK" ends one that passed.
    awk '
        function ended() { if (name != "") print (fine ? "" : "not ") "ok - " name; name = "" }
        / \.\.\.$/ { ended(); name = $0; sub(/ \.\.\.$/, "", name); gsub(/[#\/]/, ".", name); fine = 0 }
        /^OK/ { fine = 1 }
        /^Test end/ { ended() }
        END { ended(); print (late ? "not " : "") "ok - ended in time" }
    ' late=$((status > 123)) "$out/$name.out" >"$out/$name.tap"
}

# The names of the scripts to be run; ONLY may hold patterns of them.
names() {
    local script name
    for script in scripts/test-*.py; do
        name=$(basename "$script" .py)
        ! matches "$name" "$left_out" && matches "$name" "${ONLY:-*}" && echo "$name"
    done
}

run() {
    local place servers=()
    cd "$source"
    set -m
    for place in 0 1; do
        server $((4433 + 2 * place)) & servers+=($!)
        server $((4434 + 2 * place)) -verify 1 & servers+=($!)
    done
    set +m
    sleep 1
    export cache out
    export -f one matches
    names | xargs -r -P 2 -n 1 --process-slot-var=place bash -c 'one "$1"' -
    kill -- "${servers[@]/#/-}"
}

suite() {
    as_usual bash -c "$(declare -p cache source out ONLY left_out); $(declare -f); run"
}
