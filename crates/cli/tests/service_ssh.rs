//! sshd and ssh with keys of the card service, by its agent's socket.

mod common;

use common::service::{Service, us};
use outboard_programs::{OpenSsl, Sshd, SshdOptions, Workplace};
use std::process::Command;

/// sshd's host keys and a user's key move into the service: sshd asks for host keys, ssh for the user's, by the agent's socket.
#[test]
fn ssh_uses_keys_of_the_service() {
    if !outboard_programs::missing(&["sshd", "ssh", "ssh-keygen", "ssh-add"]).is_empty() {
        assert!(
            std::env::var_os("OUTBOARD_TEST_ALL").is_none(),
            "a program is missing"
        );
        return;
    }
    let service = Service::start();
    let socket = service.path("agent.sock");
    let workplace = Workplace::new().expect("it can be made");
    let stock = OpenSsl::stock(&workplace).expect("it can be written");
    let settings = format!("HostKeyAgent {}", socket.display());
    let options = SshdOptions {
        openssl: &stock,
        core: None,
        settings: &settings,
    };
    // Makes the keys.
    Sshd::start(&workplace, options)
        .expect("it starts")
        .stop()
        .expect("it stops");
    let us = us();
    let kinds = ["ed25519", "ecdsa", "rsa"];
    let hosts = kinds.map(|kind| workplace.join(format!("host_{kind}")));
    let paths = hosts
        .each_ref()
        .map(|path| path.to_str().expect("it is ASCII"));
    let said = service.says(&[&["keys", "adopt"], &paths[..], &["--user", &us]].concat());
    common::says(&said, "HostKeyAgent");
    assert!(hosts.iter().all(|host| !host.exists()));
    for kind in kinds {
        let user = Sshd::user_key(&workplace, kind);
        let user = user.to_str().expect("it is ASCII");
        service.says(&["keys", "adopt", user, "--user", &us, "--destroy"]);
    }
    let sshd = Sshd::start(&workplace, options).expect("it starts without a private key");
    let login = |host: &str, kind: &str| {
        let public = workplace.join(format!("user_{kind}.pub"));
        let said = sshd
            .client("ssh")
            .expect("it is installed")
            .args(["-o", &format!("HostKeyAlgorithms={host}")])
            .args(["-o", &format!("IdentityAgent={}", socket.display())])
            .args(["-o", "IdentitiesOnly=yes"])
            .arg("-i")
            .arg(&public)
            .args([Sshd::HOST, "echo", "in"])
            .succeed()
            .unwrap_or_else(|error| panic!("{host}, {kind}: {error}"));
        assert_eq!(said.output.trim(), "in");
    };
    let hosts = [
        "ssh-ed25519",
        "ecdsa-sha2-nistp256",
        "rsa-sha2-512",
        "rsa-sha2-256",
    ];
    for host in hosts {
        login(host, "ed25519");
    }
    for kind in kinds {
        login("ssh-ed25519", kind);
    }
    // A restart between logins, and while sshd listens.
    service.kill();
    service.says(&["service", "start"]);
    login("rsa-sha2-512", "rsa");

    // Who has no grant sees nothing.
    let list = || {
        let mut command = Command::new("ssh-add");
        let output = command.arg("-l").env("SSH_AUTH_SOCK", &socket).output();
        String::from_utf8_lossy(&output.expect("it is installed").stdout).into_owned()
    };
    assert_eq!(list().lines().count(), 6);
    service.says(&["keys", "revoke", "user_rsa", "--user", &us]);
    assert_eq!(list().lines().count(), 5);
}
