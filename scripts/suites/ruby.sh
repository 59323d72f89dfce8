# Ruby: the tests of its openssl library.
packages='ruby dpkg-dev'
serves='rsa-2048-sign rsa-2048-verify p256-sign p256-verify p256-derive x25519-derive aes-256-gcm-seal'

source=$sources/ruby3.1

prepare() { debian_source bookworm ruby3.1 "$source"; }

# run_tests [PATTERN]: those of one name.
run_tests() {
    as_usual ruby -I tool/lib -I test/openssl -r envutil -r core_assertions -e '
        require "test/unit"
        Dir["test/openssl/test_*.rb"].sort.each { |file| require "./" + file }
    ' -- --verbose --show-skip ${1:+--name="/$1/"}
}

# A test that compares times to the second fails on a busy machine. So the tests that failed run once more, alone.
suite() {
    local failed
    cd "$source"
    run_tests "$ONLY" || true
    failed=$(sed -nE '/^ *[0-9]+\) (Failure|Error):$/ { n; s/^[^#]*#(\w+).*/\1/p }' "$1/log" | paste -sd '|')
    [ -z "$failed" ] || run_tests "#($failed)\$" || true
    # The runner prints each test as it ends, and then those that failed or were skipped.
    awk '
        /^\[ *[0-9]+\/[0-9]+\] / { sub(/^[^]]*\] /, ""); sub(/ = .*/, ""); outcome[$0] = "ok" }
        /^ *[0-9]+\) (Failure|Error|Skipped):/ { what = $2; getline; sub(/:$/, "", $1); outcome[$1] = what }
        END {
            for (name in outcome)
                print (outcome[name] ~ /Failure|Error/ ? "not " : "") "ok " name (outcome[name] ~ /Skip/ ? " # skip" : "")
        }
    ' "$1/log" >"$1/results.tap"
}
