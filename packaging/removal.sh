# Part of the maintainer scripts of every package: what still needs Outboard, named before it breaks.
#
# OUTBOARD_REMOVE_ANYWAY=1 in the environment of the package manager removes all the same.

# Names the files with such a line, also those that links lead to. A name is printed as it is but for control characters.
outboard_search() {
    timeout 60 grep -RlsI -D skip "$@" | tr -d '\000-\011\013-\037\177'
}

# The lines, or nothing. Files of the system's own that name the user 'outboard' are no configuration.
outboard_users() {
    case $1 in
    provider | service)
        outboard_search -e '-----BEGIN OUTBOARD KEY-----' /etc /var/lib/postgresql/*/*/server.key |
            sed 's|$|: holds a reference to a key of the card service|'
        # (Not 'chown outboard:outboard', 'image: outboard:latest', nor what a comment says.)
        outboard_search -E '^([^#]*[^#A-Za-z0-9_/.@-])?outboard:[A-Za-z0-9]' /etc |
            grep -vE '^/etc/(passwd|shadow|group|gshadow|subuid|subgid)-?$' |
            while read -r file; do
                ! grep -oE '^([^#]*[^#A-Za-z0-9_/.@-])?outboard:[A-Za-z0-9._-]+' "$file" 2>/dev/null |
                    grep -vE '(chown|image:).*outboard:|outboard:outboard$' | grep -q . || echo "$file"
            done |
            sed 's|$|: names a key of the card service (outboard:NAME)|'
        ;;
    esac
    case $1 in
    service)
        outboard_search -E '^[^#]*/run/outboard/(agent|service|metrics)\.sock' /etc --exclude-dir=systemd |
            sed 's|$|: names a socket of the card service|'
        # Programs whose files no longer need it may still have a reference that they read earlier.
        timeout 60 outboard status --json 2>/dev/null |
            sed -n '/^ *"with_references": \[$/,/^ *\],\{0,1\}$/s/^ *"\(.*\)",\{0,1\}$/\1/p' |
            sed 's|$|: runs with a reference to a key of a card service, and would lose the key|'
        connected=$(timeout 10 outboard service status --json 2>/dev/null | sed -n 's/.*"connections": *\([0-9]*\).*/\1/p')
        [ "${connected:-0}" = 0 ] ||
            echo "running programs: $connected are connected to the card service, and lose its keys ('outboard stats --keys' names them)"
        ;;
    token)
        outboard_search -E '^[^#]*outboard-pkcs11\.so' /etc | sed 's|$|: names the PKCS #11 module|'
        ;;
    esac
}

# Fails, unless nothing needs it or somebody insists.
outboard_may_go() {
    users=$(outboard_users "$1" || true)
    [ -n "$users" ] || return 0
    {
        echo "outboard: what is about to be removed is still needed, and programs would fail without it:"
        echo "$users" | sed 's/^/  /'
        case $1 in
        token) echo "Take the module out of them first ('outboard java --revert' does it for Java)." ;;
        *)
            echo "Give them back their keys first ('outboard keys adopt --revert FILE.outboard-backup'), or other keys, and restart"
            echo "the programs."
            ;;
        esac
    } >&2
    if [ "${OUTBOARD_REMOVE_ANYWAY:-}" = 1 ]; then
        echo "outboard: removed all the same, because OUTBOARD_REMOVE_ANYWAY=1." >&2
        return 0
    fi
    echo "Or remove it all the same: set OUTBOARD_REMOVE_ANYWAY=1 in the package manager's environment." >&2
    return 1
}

# The system's openssl.cnf without Outboard, byte for byte what it was. Names the processes that use Outboard until they restart.
outboard_switched_off() {
    # (outboard_may_go has searched for what needs it.)
    said=$(OPENSSL_CONF=/dev/null /usr/bin/outboard disable --anyway 2>&1) || failed=yes
    # Whatever went wrong: a file without the mark, or no file, loads nothing.
    named=$(grep -lsF '# >>> outboard: loads OpenSSL' /etc/ssl/openssl.cnf /etc/pki/tls/openssl.cnf /usr/lib/ssl/openssl.cnf |
        head -n 1)
    if [ -z "$named" ]; then
        [ -n "${failed:-}" ] || echo "$said"
        return 0
    fi
    {
        echo "$said"
        echo "outboard: $named still loads Outboard."
    } >&2
    if [ "${OUTBOARD_REMOVE_ANYWAY:-}" = 1 ]; then
        echo "outboard: removed all the same, because OUTBOARD_REMOVE_ANYWAY=1. Programs go on with OpenSSL's own provider." >&2
        return 0
    fi
    echo "Take its block out of that file, from the line '# >>> outboard' to '# <<< outboard', and try again; or remove the package all" >&2
    echo "the same: set OUTBOARD_REMOVE_ANYWAY=1 in the package manager's environment." >&2
    return 1
}
