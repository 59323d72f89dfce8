# Part of the maintainer scripts of outboard-service.

# Makes the users of the card service and of its front for ssh. Fails where a person has such a name: the service would be that person, who
# could read its store.
service_users() {
    for user in outboard outboard-agent; do
        shell=$(getent passwd "$user" | cut -d: -f7)
        case $shell in
        '' | */nologin | */false) ;;
        *)
            echo "outboard-service: there is a user '$user' already, who can log in (with $shell). The card service would run as that" >&2
            echo "user. Rename the user, or take the shell away (usermod --shell /usr/sbin/nologin $user), and install again." >&2
            return 1
            ;;
        esac
    done
    systemd-sysusers outboard.conf
}
