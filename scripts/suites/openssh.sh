# OpenSSH: its regression tests, with Debian's programs. sshd and all that it starts are the system's, with keys of the
# tests' own, and ports of a network of their own.
packages='openssh-tests openssh-client openssh-server openssh-sftp-server make iproute2'
# What every version does through EVP: before 9.9, signatures and ECDH go past it. Only these tests use AES-GCM: rekey,
# try-ciphers, integrity. Until they have run, and if ONLY leaves them out, the ledger counts nothing.
serves='aes-128-gcm-seal aes-128-gcm-open aes-256-gcm-seal aes-256-gcm-open'

# Measures speed; wants a debugger.
left_out='cipher-speed agent-ptrace'

prepare() { :; }

suite() {
    mkdir -p /run/sshd
    cp -a /usr/lib/openssh/regress "$1/regress"
    as_usual unshare --mount --net bash -c "$(declare -p out ONLY left_out); $(declare -f matches regress names run); run"
}

# In a network and mounts of its own.
run() {
    local name status
    ip link set lo up
    # sshd starts the user's shell for each session, and bash then reads ~/.bashrc. That file can take seconds, and can change
    # PATH. So these processes, and no other, see an empty one.
    [ ! -e ~/.bashrc ] || mount --bind /dev/null ~/.bashrc
    # Each by a command of its own: OpenSSH's runner ends with the first test that fails.
    names | while read -r name; do
        case $name in
            t[0-9]*) regress "$name" ;;
            *) regress LTESTS="$name" t-exec ;;
        esac >"$out/$name.log" 2>&1 </dev/null && status=0 || status=$?
        # What a test skips is said by a line.
        if [ $status != 0 ]; then
            echo "not ok - $name"
        elif grep -q '^SKIPPED: ' "$out/$name.log"; then
            echo "ok - $name # skip"
        else
            echo "ok - $name"
        fi
    done >"$out/results.tap"
}

# The names of the tests to be run, as the Makefile has them; ONLY may hold patterns of them.
names() {
    local name
    for name in $(make -C "$out/regress" -pn nothing 2>/dev/null | sed -n 's/^\(REGRESS_TARGETS\|LTESTS\) :\?= //p'); do
        ! matches "$name" "$left_out" && matches "$name" "${ONLY:-*}" && echo "$name"
    done
}

# regress TARGET…: makes them of OpenSSH's Makefile.
regress() {
    timeout --kill-after=10 3600 make -C "$out/regress" .OBJDIR="$out/regress" .CURDIR="$out/regress" \
        BUILDDIR="$out/regress" OBJ="$out/regress" SUDO= TEST_SHELL=sh TEST_SSH_SSH=ssh \
        TEST_SSH_SFTPSERVER=/usr/lib/openssh/sftp-server TEST_SSH_PLINK=/nowhere TEST_SSH_PUTTYGEN=/nowhere \
        TEST_SSH_CONCH=/nowhere TEST_SSH_IPV6=no TEST_SSH_ECC=yes TEST_SSH_UNSAFE_PERMISSIONS=1 "$@"
}
