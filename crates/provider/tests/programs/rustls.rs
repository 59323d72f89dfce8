//! rustls with AWS-LC, as a client of nginx and as a server of curl, both under Outboard in the system's OpenSSL: what Rust programs
//! use. It is built once, below the target directory (`tests/rustls`).

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use outboard_engine::Operation;
use outboard_programs::{Launch, NginxOptions};

use crate::post_quantum::{configured, nginx_of, site};

/// What both have.
const GROUPS: [&str; 2] = ["X25519MLKEM768", "SecP256r1MLKEM768"];

/// The program `rustls-peer`.
fn peer() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test
        .ancestors()
        .find(|directory| directory.join("CACHEDIR.TAG").exists())
        .unwrap();
    let directory = target.join("rustls-peer");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rustls/Cargo.toml");
    std::fs::create_dir_all(&directory).unwrap();
    // Two tests that ask at once build it once.
    let lock = File::create(directory.join("lock")).unwrap();
    lock.lock().unwrap();
    let built = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--locked", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&directory)
        .status();
    assert!(built.unwrap().success());
    directory.join("debug/rustls-peer")
}

#[test]
fn a_client_uses_the_groups() {
    if !super::builds_peers() {
        return;
    }
    let Some((stand, certificate)) = site(&["nginx", "curl", "openssl"]) else {
        return;
    };
    let options = NginxOptions {
        openssl: &stand.outboard,
        certificates: &[&certificate],
        files: None,
        core: None,
        settings: "add_header X-Curve $ssl_curve always;",
    };
    let nginx = nginx_of(&stand, options);
    let address = format!("127.0.0.1:{}", nginx.port);
    for (group, number) in GROUPS.into_iter().zip(["0x11ec", "0x11eb"]) {
        let client = Launch::at(&peer()).args(["client", group, &address]);
        let page = client.succeed().unwrap().output;
        for wanted in ["200 OK", &format!("X-Curve: {number}"), group] {
            let found = page.to_lowercase().contains(&wanted.to_lowercase());
            assert!(found, "{group}: no {wanted}\n{page}");
        }
    }
    stand.assert_served(&[Operation::MlKem768Encapsulate]);
    nginx.stop().unwrap();
}

#[test]
fn a_server_uses_the_groups() {
    if !super::builds_peers() {
        return;
    }
    let Some((mut stand, certificate)) = site(&["curl", "openssl"]) else {
        return;
    };
    // The first group of the list has a share, and the other one is asked for (HelloRetryRequest).
    stand.outboard = configured(&stand, "rustls", &GROUPS.join(":"), None);
    for group in GROUPS {
        let mut server = Command::new(peer())
            .args(["server", group])
            .args([&certificate.certificate, &certificate.key])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(server.stdout.take().unwrap());
        let mut port = String::new();
        said.read_line(&mut port).unwrap();
        let url = format!("https://127.0.0.1:{}/", port.trim());
        let page = certificate.fetch(&stand.outboard, &url);
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert!(server.wait().unwrap().success(), "{rest}");
        assert_eq!(page.unwrap(), "ok\n", "{group}");
        let rest = rest.to_lowercase();
        assert!(rest.contains(&group.to_lowercase()), "{rest}");
    }
    stand.assert_served(&[Operation::MlKem768Keygen, Operation::MlKem768Decapsulate]);
}
