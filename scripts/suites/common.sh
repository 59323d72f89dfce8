# What suites share; read by run.sh.

# Runs a command in the way of this run.
as_usual() {
    case $way in
        stock) "$OUTBOARD" run --stock -- "$@" ;;
        cards) "$OUTBOARD" run --module "$module" --offer profile --profile "$out/profile.json" --ledger "$out/ledger" -- "$@" ;;
        *) "$OUTBOARD" run --module "$module" --offer all --ledger "$out/ledger" -- "$@" ;;
    esac
}

# force_cards VERSION: the profile that puts all it can on cards ($out/profile.json), for a libcrypto of that version.
force_cards() {
    "$OUTBOARD" info --json | python3 "$here/cards.py" "$1" >"$out/profile.json"
}

# debian_source RELEASE PACKAGE DIRECTORY: the newest upstream sources of a Debian package that can be had, unpacked.
# With a configuration of apt's that is its own: the machine's stays as it is.
debian_source() (
    exec {lock}>"$sources/lock"
    flock "$lock"
    local release=$1 package=$2 directory=$3 version
    local apt=$sources/apt-$release
    [ ! -e "$directory" ] || return 0
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/download"
    local signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    cat >"$apt/sources.list" <<-END
	deb-src $signed http://deb.debian.org/debian $release main
	deb-src $signed http://deb.debian.org/debian-security $release-security main
	END
    local options="-o Dir::Etc::SourceList=$apt/sources.list -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State=$apt/state -o Dir::Cache=$apt/cache -o Dir::State::status=/var/lib/dpkg/status
        -o Acquire::Retries=5 -o APT::Sandbox::User=root"
    apt-get -q $options update
    for version in $(apt-cache $options showsrc "$package" | sed -n 's/^Version: //p' | sort -uVr); do
        rm -f "$apt"/download/*
        (cd "$apt/download" && apt-get -q $options source --tar-only "$package=$version") || continue
        mkdir -p "$directory.part"
        tar -xf "$apt"/download/*.orig.tar.?z -C "$directory.part" --strip-components=1
        mv "$directory.part" "$directory"
        return 0
    done
    return 1
)

# git_source REPOSITORY COMMIT DIRECTORY: that commit of a repository.
git_source() (
    exec {lock}>"$sources/lock"
    flock "$lock"
    [ ! -e "$3" ] || return 0
    git init -q "$3.part"
    git -C "$3.part" fetch -q --depth 1 "$1" "$2"
    git -C "$3.part" checkout -q FETCH_HEAD
    mv "$3.part" "$3"
)

# matches NAME PATTERNS: whether one of the patterns is the name's. A subshell, because 'set -f' must not outlive it.
matches() (
    set -f
    for pattern in $2; do
        # shellcheck disable=SC2053
        [[ $1 != $pattern ]] || exit 0
    done
    exit 1
)

# evidence LEDGER: says what Outboard served, and fails where an operation that the suite names is not among it.
evidence() {
    local counted
    counted=$("$OUTBOARD" stats --ledger "$1" --json) && python3 "$here/served.py" "$serves" <<<"$counted"
}

# enable_in FILE SETTING [COPY]: puts Outboard into a configuration of OpenSSL, or into a copy of it, as
# `outboard run` would, with a setting more.
enable_in() {
    local to=${3:-$1}
    OPENSSL_CONF=$1 "$OUTBOARD" run --module "$module" --offer all --ledger "$out/ledger" -- \
        sh -c 'cat "$OPENSSL_CONF"' >"$to.part" || { rm -f "$to.part"; return 1; }
    printf '[outboard_sect]\n%s\n' "$2" >>"$to.part"
    mv "$to.part" "$to"
}
