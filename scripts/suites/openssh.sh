# OpenSSH: its regression tests, with Debian's programs. sshd and all that it starts are the system's, on ports and with
# keys of the tests' own.
packages='openssh-tests openssh-client openssh-server openssh-sftp-server make'
# What every version does through EVP: before 9.9, signatures and ECDH go past it. Only these tests use AES-GCM: rekey,
# try-ciphers, integrity. Until they have run, and if ONLY leaves them out, the ledger counts nothing.
serves='aes-128-gcm-seal aes-128-gcm-open aes-256-gcm-seal aes-256-gcm-open'

# Measures speed; wants a debugger.
left_out='cipher-speed agent-ptrace'

prepare() { :; }

suite() {
    mkdir -p /run/sshd
    cp -a /usr/lib/openssh/regress "$1/regress"
    # sshd starts the user's shell for each session, and bash then reads ~/.bashrc. That file can take seconds, and can change
    # PATH. So these processes, and no other, see an empty one.
    # make -k: a test that fails does not end the run.
    as_usual unshare --mount sh -c '[ ! -e ~/.bashrc ] || mount --bind /dev/null ~/.bashrc; exec "$@"' - \
        make -k -C "$1/regress" .OBJDIR="$1/regress" .CURDIR="$1/regress" BUILDDIR="$1/regress" \
        OBJ="$1/regress" SUDO= TEST_SHELL=sh TEST_SSH_SSH=ssh TEST_SSH_SFTPSERVER=/usr/lib/openssh/sftp-server \
        TEST_SSH_PLINK=/nowhere TEST_SSH_PUTTYGEN=/nowhere TEST_SSH_CONCH=/nowhere TEST_SSH_IPV6=no \
        TEST_SSH_ECC=yes TEST_SSH_UNSAFE_PERMISSIONS=1 SKIP_LTESTS="$left_out" ${ONLY:+LTESTS="$ONLY"} \
        file-tests t-exec
    # Each script says "ok …", "failed …" or "skipped …" in the end.
    sed -n 's/^\(ok\) \(.*\)/ok \2/p; s/^failed \(.*\)/not ok \1/p; s/^SKIPPED: \(.*\)/ok \1 # skip/p' "$1/log" \
        >"$1/results.tap"
}
