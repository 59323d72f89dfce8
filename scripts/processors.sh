#!/bin/sh
# Runs tests on processors that this machine does not have. QEMU emulates each program, not a whole system.
#
#   scripts/processors.sh PROCESSOR...       (or: make test-processors)
#
#   x86-64     what is built for this machine, on Intel's and AMD's processors from Nehalem to Zen 3
#   aarch64    64-bit Arm: cross-built; the scalar path's vectors, the formats, the provider in Debian's OpenSSL
#   s390x      big endian: the formats, the interface to OpenSSL, and the scalar path's vectors
#   riscv64    the same
#
# docs/processors.md says what this shows.
set -eu

here=$(realpath "$(dirname "$0")/..")
made=$here/target/processors
cargo=${CARGO:-cargo}
cd "$here"
mkdir -p "$made"

# The lanes take minutes to optimise, and the tests here use little of them.
quick="--config profile.dev.package.outboard-lanes.opt-level=1 --config profile.dev.package.outboard-lanes.debug=false"

say() { printf '\n== %s\n' "$*"; }

fail() {
    echo "$*" >&2
    exit 1
}

# The pair of names that Debian and Rust have for an architecture.
debian_s() {
    case $1 in
        aarch64) echo arm64 ;;
        *) echo "$1" ;;
    esac
}
rust_s() {
    case $1 in
        riscv64) echo riscv64gc-unknown-linux-gnu ;;
        *) echo "$1-unknown-linux-gnu" ;;
    esac
}

# The standard library of a target: from rustup, or from a distribution's package of it.
need_target() {
    libraries=$(rustc --print target-libdir --target "$1")
    [ -d "$libraries" ] && return
    command -v rustup >/dev/null || fail "Rust's library for $1 is missing: install it with rustup ('rustup target add $1')"
    rustup target add "$1"
}

# Debian's OpenSSL for an architecture, unpacked and not installed: nothing of it runs without the emulator.
root_of() {
    root=$made/$1
    if [ ! -e "$root/usr/bin/openssl" ]; then
        scripts/need.sh mmdebstrap debian-archive-keyring
        rm -rf "$root"
        mmdebstrap --variant=extract --architectures="$1" --include=openssl bookworm "$root" >"$made/$1.log" 2>&1 ||
            fail "Debian's OpenSSL for $1 cannot be unpacked; see $made/$1.log"
    fi
    echo "$root"
}

# Tests of what the order of bytes can change. QEMU shows a program this machine's loader, not its own.
test_formats() {
    # shellcheck disable=SC2086
    "$cargo" test -q --locked --target "$target" $quick -p outboard-operation -p outboard-profile -p outboard-shared-memory \
        -p outboard-ledger -p outboard-observation -p outboard-wire -p outboard-administration -p outboard-elf \
        -p outboard-provider-abi --lib -- --skip this_very_program_is_dynamic_and_native
}

# Path scalar by the vectors of others, and the card service's store. QEMU keeps a program's madvise(2) to itself.
test_vectors() {
    # shellcheck disable=SC2086
    "$cargo" test -q --locked --target "$target" $quick -p outboard-engine -p outboard-vault --lib -- \
        --skip a_locked_page_is_left_out_of_dumps
}

# The provider in Debian's OpenSSL: what it signs, this machine's OpenSSL verifies, and the other way round.
test_provider() {
    name=$1 target=$2 root=$3 emulator=$4
    # shellcheck disable=SC2086
    "$cargo" build -q --locked --target "$target" $quick -p outboard-provider -p outboard-cli
    built=$here/target/$target/debug
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cat >"$work/openssl.cnf" <<CONFIGURATION
openssl_conf = init
[init]
providers = providers
alg_section = algorithms
[providers]
default = stock_section
outboard = outboard_section
[stock_section]
activate = 1
[outboard_section]
activate = 1
module = $built/liboutboard.so
offer = all
ledger = $work/ledger
[algorithms]
default_properties = ?provider=outboard,?outboard.preferred=yes
CONFIGURATION
    emulated() { OPENSSL_CONF=$work/openssl.cnf "$emulator" -L "$root" "$root/usr/bin/openssl" "$@"; }
    emulated list -providers | grep -q 'name: Outboard' || fail "OpenSSL on $name does not load the provider"
    echo "a message" >"$work/message"
    for key in 'RSA -pkeyopt rsa_keygen_bits:2048' 'EC -pkeyopt ec_paramgen_curve:P-256' 'EC -pkeyopt ec_paramgen_curve:P-384' \
        'EC -pkeyopt ec_paramgen_curve:P-521' ED25519; do
        # shellcheck disable=SC2086
        openssl genpkey -quiet -algorithm $key -out "$work/key" 2>/dev/null || openssl genpkey -algorithm $key -out "$work/key" 2>/dev/null
        openssl pkey -in "$work/key" -pubout -out "$work/public"
        emulated pkeyutl -sign -inkey "$work/key" -rawin -in "$work/message" -out "$work/signature"
        openssl pkeyutl -verify -pubin -inkey "$work/public" -rawin -in "$work/message" -sigfile "$work/signature" >/dev/null ||
            fail "$name: a signature by $key is wrong"
        openssl pkeyutl -sign -inkey "$work/key" -rawin -in "$work/message" -out "$work/signature"
        emulated pkeyutl -verify -pubin -inkey "$work/public" -rawin -in "$work/message" -sigfile "$work/signature" >/dev/null ||
            fail "$name: does not verify a signature by $key"
    done
    for key in X25519 'EC -pkeyopt ec_paramgen_curve:P-256'; do
        for side in one other; do
            # shellcheck disable=SC2086
            emulated genpkey -algorithm $key -out "$work/$side" 2>/dev/null
            openssl pkey -in "$work/$side" -pubout -out "$work/$side.public"
        done
        emulated pkeyutl -derive -inkey "$work/one" -peerkey "$work/other.public" -out "$work/secret"
        openssl pkeyutl -derive -inkey "$work/other" -peerkey "$work/one.public" | cmp - "$work/secret" ||
            fail "$name: the shared secret by $key is wrong"
    done
    handshake
    "$emulator" -L "$root" "$built/outboard" stats --ledger "$work/ledger"
    "$emulator" -L "$root" "$built/outboard" stats --ledger "$work/ledger" --json |
        python3 -c 'import json, sys; served = json.load(sys.stdin)["served"]["served"]; sys.exit(served == 0)' ||
        fail "$name: Outboard served nothing"
    "$emulator" -L "$root" "$built/outboard" info
    rm -rf "$work"
    trap - EXIT
}

# A server on the emulated processor, and this machine's client: TLS 1.3 with AES-GCM, and a file of a megabyte.
handshake() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout "$work/key" \
        -out "$work/certificate" 2>/dev/null
    head -c 1000000 /dev/urandom >"$work/large"
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    (cd "$work" && emulated s_server -accept "127.0.0.1:$port" -key key -cert certificate -WWW -naccept 1 \
        -ciphersuites TLS_AES_128_GCM_SHA256 >/dev/null 2>&1) &
    server=$!
    python3 - "$port" "$work/large" <<'CLIENT' || fail "$name: a TLS connection fails"
import socket, ssl, sys, time
port, file = int(sys.argv[1]), sys.argv[2]
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
for _ in range(600):
    try:
        plain = socket.create_connection(("127.0.0.1", port))
        break
    except OSError:
        time.sleep(0.1)
with context.wrap_socket(plain) as connection:
    connection.sendall(b"GET /large HTTP/1.0\r\n\r\n")
    answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert connection.version() == "TLSv1.3" and connection.cipher()[0] == "TLS_AES_128_GCM_SHA256"
assert answer.endswith(open(file, "rb").read()), "the file is not what was sent"
CLIENT
    wait "$server" || fail "$name: the server failed"
}

on_another() {
    processor=$1
    debian=$(debian_s "$processor")
    target=$(rust_s "$processor")
    emulator=qemu-$processor-static
    scripts/need.sh qemu-user-static "gcc-$processor-linux-gnu" "libc6-dev-$debian-cross" openssl python3
    need_target "$target"
    variable=$(echo "$target" | tr 'a-z-' 'A-Z_')
    export "CARGO_TARGET_${variable}_LINKER=$processor-linux-gnu-gcc"
    # The C library that the cross compiler links to, and the file that this machine's /etc/ld.so.cache does not have.
    libraries=/usr/$processor-linux-gnu
    [ "$processor" != aarch64 ] || libraries=$(root_of "$debian")
    export "CARGO_TARGET_${variable}_RUNNER=$emulator -L $libraries"
    # Without lanes, nothing uses their code.
    export RUSTFLAGS="${RUSTFLAGS:-} -Adead_code"
    say "$processor: formats"
    test_formats
    if [ "$processor" = s390x ]; then
        # AWS-LC brings Rust bindings for the other processors. For this one, bindgen makes them of AWS-LC's headers.
        scripts/need.sh libclang-dev cmake
        packaging/tool.sh bindgen
        export "BINDGEN_EXTRA_CLANG_ARGS=-I$libraries/include"
    fi
    say "$processor: vectors"
    test_vectors
    [ "$processor" = aarch64 ] || return 0
    say "$processor: everything builds"
    # shellcheck disable=SC2086
    "$cargo" build -q --locked --target "$target" $quick -p outboard-cli -p outboard-provider -p outboard-observer \
        -p outboard-stopwatch-preload -p outboard-service -p outboard-pkcs11 -p outboard-java
    say "$processor: the provider in Debian's OpenSSL"
    test_provider "$processor" "$target" "$libraries" "$emulator"
}

# This machine's build on other processors of its own architecture. The kernel's list of instructions is this machine's.
on_x86_64() {
    [ "$(uname -m)" = x86_64 ] || fail "these tests are for an x86-64 machine"
    scripts/need.sh qemu-user-static openssl python3
    target=$(rustc --print host-tuple)
    # A target that is named has a directory of its own, and so shares no file with a build whose lanes are optimised.
    for model in Nehalem SandyBridge Haswell Broadwell Skylake-Client EPYC-Rome EPYC-Milan; do
        case $model in
            # Without AES, AVX2 or ADX nothing is known: all stays with OpenSSL until it is measured.
            Nehalem | SandyBridge | Haswell) known=False ;;
            *) known=True ;;
        esac
        emulator=$made/$model
        # QEMU warns of each of the model's instructions that it does not emulate.
        printf '#!/bin/sh\n[ "$1" != -L ] || shift 2\nexec qemu-x86_64-static -cpu %s "$@" 2>>%s\n' "$model" "$made/$model.log" >"$emulator"
        chmod +x "$emulator"
        export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$emulator"
        say "$model: vectors"
        # shellcheck disable=SC2086
        "$cargo" test -q --locked --target "$target" $quick -p outboard-processor -p outboard-profile -p outboard-engine --lib -- \
            --skip the_kernel_agrees
        say "$model: the provider in this system's OpenSSL"
        test_provider "$model" "$target" "" "$emulator"
        "$emulator" "$here/target/$target/debug/outboard" info --profile /nowhere --json |
            python3 -c 'import json, sys; sys.exit(str(json.load(sys.stdin)["summary"]["chosen"] > 0) != sys.argv[1])' $known ||
            fail "$model: another choice than docs/processors.md says"
    done
}

[ $# -gt 0 ] || fail "name a processor: x86-64, aarch64, s390x or riscv64"
for processor in "$@"; do
    case $processor in
        x86-64) on_x86_64 ;;
        aarch64 | s390x | riscv64) on_another "$processor" ;;
        *) fail "unknown processor $processor" ;;
    esac
done
