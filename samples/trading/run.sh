#!/bin/bash
# Starts the trading application with a database of its own, on 127.0.0.1, until you press Ctrl-C:
#
#   samples/trading/run.sh [file | accelerator | provider | coprocessor [NAME]]
#
# The word says where the key of HTTPS is used (README.md). NAME is the key's name in the card service. These variables change what is used:
#
#   PORT      the port of HTTPS (9443)
#   SETTINGS  settings of outboard.jar, as docs/java-provider.md tells them
#   MODULE    outboard-pkcs11.so (/usr/local/lib/outboard/outboard-pkcs11.so)
#   JAR       outboard.jar (/usr/local/lib/outboard/outboard.jar)
#   LIBERTY   the directory of Open Liberty (Debian's Tomcat 10)
set -euo pipefail
key=${1:-file} name=${2:-trading} port=${PORT:-9443}
# Programs change their directory.
module=$(realpath -m "${MODULE:-/usr/local/lib/outboard/outboard-pkcs11.so}")
jar=$(realpath -m "${JAR:-/usr/local/lib/outboard/outboard.jar}")
liberty=${LIBERTY:+$(realpath -m "$LIBERTY")}
sources=$(dirname "$(readlink -f "$0")")

# Everything that is made is in one directory. It disappears at the end, whatever happens, and so do the processes.
directory=$(mktemp -d "${TMPDIR:-/tmp}/trading.XXXXXX")
chmod 711 "$directory"
server=
end() {
    trap - EXIT INT TERM
    if [ -n "$server" ]; then
        kill "$server" 2> /dev/null || true
        wait "$server" || true
    fi
    if [ -f "$directory/database/data/postmaster.pid" ]; then
        as_owner pg_ctl -D data -m immediate stop > /dev/null || true
    fi
    rm -rf "$directory"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# PostgreSQL refuses to run as root. Then it is the user postgres, which its package makes.
PATH=$PATH:$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -1)
as_owner() (
    cd "$directory/database"
    if [ "$(id -u)" = 0 ]; then
        exec setpriv --reuid postgres --regid postgres --clear-groups "$@"
    fi
    exec "$@"
)
mkdir "$directory/database" "$directory/server"
# Other users of this machine reach the port, too.
export PGPASSWORD
PGPASSWORD=$(openssl rand -hex 16)
(umask 077 && echo "$PGPASSWORD" > "$directory/database/password")
[ "$(id -u)" != 0 ] || chown -R postgres: "$directory/database"
echo "Making the database"
as_owner initdb -A scram-sha-256 --pwfile=password -U trading --no-sync -D data > /dev/null
as_owner pg_ctl -D data -w -l log -o "-c listen_addresses=127.0.0.1 -c port=$((port + 1)) -c unix_socket_directories=$directory/database" \
    start > /dev/null
psql -q -h 127.0.0.1 -p $((port + 1)) -U trading -d postgres -v ON_ERROR_STOP=1 -f "$sources/schema.sql"

if [ "$key" != coprocessor ]; then
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 30 \
        -keyout "$directory/key.pem" -out "$directory/certificate.pem" 2> /dev/null
    openssl pkcs12 -export -name "$name" -passout pass:changeit -inkey "$directory/key.pem" -in "$directory/certificate.pem" \
        -out "$directory/store.p12"
fi
echo "Starting the server. Open https://localhost:$port/trade/home, and log in as uid:0 with the password xxx"
TRADING_DIRECTORY=$directory/server TRADING_STORE=$directory/store.p12 TRADING_ALIAS=$name TRADING_KEY=$key \
    TRADING_HTTPS=$port TRADING_HTTP=$((port + 2)) TRADING_LIBERTY=$liberty \
    TRADING_MODULE=$module TRADING_JAR=$jar TRADING_SETTINGS=${SETTINGS:-} \
    TRADING_DATABASE="jdbc:postgresql://127.0.0.1:$((port + 1))/postgres?user=trading&password=$PGPASSWORD" \
    bash "$sources/server.sh" &
server=$!
wait "$server"
