# For '.': cargo's tools that the packages and 'make deny' need, in target/tools.

AUDITABLE_VERSION=0.7.7
DENY_VERSION=0.20.2

PATH=$(pwd -P)/target/tools/bin:$PATH
export PATH

# need_tool NAME VERSION: installs it unless it is there, in whatever version.
need_tool() {
    command -v "$1" >/dev/null && return
    echo "installing $1 $2" >&2
    CARGO_TARGET_DIR=$(pwd -P)/target/tools/build ${CARGO:-cargo} install --quiet --locked --root target/tools --version "$2" "$1"
    rm -rf target/tools/build
}
