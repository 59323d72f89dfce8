# Part of the maintainer scripts of outboard-service.

# After an upgrade: the service restarts only if systemd then hands it its master key. A master key that people entered would be
# gone, and no program could use its keys until somebody enters the key again. The front for ssh never restarts: sessions use it.
service_upgraded() {
    [ -d /run/systemd/system ] || return 0
    systemctl --quiet is-active outboard.service || return 0
    # (Where systemd has no credentials, as in a container, the environment can name their directory.)
    from='(LoadCredential|LoadCredentialEncrypted|SetCredentialEncrypted)=outboard\.master|Environment=CREDENTIALS_DIRECTORY='
    # A line may have come after the start, or have been taken back by a later one: the service knows where its key came from.
    if systemctl cat outboard.service 2>/dev/null | grep -qE "^($from)" &&
        timeout 10 outboard service status --json 2>/dev/null | grep -q '"source": *"credential"'; then
        # The sockets stay, and requests wait.
        systemctl try-restart outboard.service || true
    else
        echo "The card service still runs the earlier version, because a restart would forget its master key. To restart it, have"
        echo "the key at hand, and type: systemctl restart outboard.service && outboard service enter < FILE"
    fi
}
