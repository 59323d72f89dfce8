//! OpenSSL's own programs in asynchronous mode.

use outboard_engine::Operation;
use outboard_programs::SServerOptions;

use crate::recipes::recipe;
use crate::stand::{Stand, installed, site, until_on_cards};

#[test]
fn s_server_pauses_its_handshakes() {
    let Some((stand, certificate)) = site(&["openssl", "curl"], "rsa:2048") else {
        return;
    };
    let options = SServerOptions {
        openssl: &stand.outboard,
        certificate: &certificate,
        asynchronous: true,
        settings: &[],
    };
    let server = options.start(&stand.workplace).unwrap();
    for _ in 0..3 {
        let page = certificate.fetch(&stand.stock, &server.url("")).unwrap();
        assert!(page.contains("New, TLSv1.3"), "{page}");
    }
    stand.assert_served(&[Operation::Rsa2048Sign]);
}

/// The recipe of docs/servers.md, shortened to a second.
#[test]
fn speed_fills_the_lanes() {
    if !installed(&["openssl"]) {
        return;
    }
    let command = recipe("console", &[("$ ", ""), ("-seconds 10", "-seconds 1")]);
    for line in command
        .lines()
        .filter(|line| line.starts_with("openssl speed"))
    {
        let stand = Stand::new();
        let speed = || {
            let arguments = line.split(' ').skip(1);
            let told = stand.outboard.command().unwrap().args(arguments);
            let output = told.succeed().unwrap().output;
            assert!(
                output.contains("2048 bits") || output.contains("nistp384"),
                "{output}"
            );
        };
        let operation = if line.contains("rsa2048") {
            Operation::Rsa2048Sign
        } else {
            Operation::P384Sign
        };
        until_on_cards(&stand, operation, speed);
    }
}
