//! A program that holds a libcrypto of its own and exports nothing of it (static programs, PyCA's wheels, Node.js):
//! what we do not do ourselves could not be handed back to that libcrypto, so ciphers alone are offered.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use outboard_engine::ledger::Snapshot;
use outboard_engine::{Operation, Path as Route};
use outboard_measure::{Configurations, Offer};
use outboard_openssl_versions::Version;
use outboard_programs::Workplace;

/// What the program is asked for, in this order: each answer is the same whenever it is asked.
const COMMANDS: [&str; 12] = [
    "dgst -md5 -sign rsa.pem data",
    "dgst -sha256 -sign rsa.pem data",
    "dgst -sha3-256 -sign rsa.pem data",
    "dgst -sha256 -sigopt rsa_padding_mode:x931 -sign rsa.pem data",
    "pkeyutl -sign -inkey small.pem -in data",
    "pkeyutl -sign -rawin -inkey ed25519.pem -in data",
    "pkeyutl -derive -inkey ec.pem -peerkey ec.pub",
    "req -x509 -new -md5 -key rsa.pem -subj /CN=x -set_serial 1 -not_before 20250101000000Z -not_after 20350101000000Z",
    "req -x509 -new -sha512 -key ed25519.pem -subj /CN=x -set_serial 1 -not_before 20250101000000Z -not_after 20350101000000Z",
    "pkey -in ec.pem -text",
    "rsa -in rsa.pem -check -noout",
    "dgst -sha256 -sign missing.pem data",
];

#[test]
fn only_ciphers_are_offered_where_libcrypto_cannot_be_reached() {
    for version in Version::ALL {
        let program = version.installation().unwrap().sealed;
        let configurations = Configurations::new(&common::module(), &Offer::All).unwrap();
        let place = Workplace::new().unwrap();
        let run = |configuration: &Path, command: &str| -> Output {
            let words = command.split_whitespace();
            let started = Command::new(&program)
                .args(words)
                .current_dir(place.path())
                .env("OPENSSL_CONF", configuration)
                .output();
            started.unwrap()
        };
        let stock = |command: &str| {
            let output = run(&configurations.stock(), command);
            assert!(output.status.success(), "{command}: {output:?}");
        };
        place.write("data", "twenty-five bytes of data").unwrap();
        stock("genrsa -out rsa.pem 2048");
        stock("genrsa -out small.pem 1024");
        stock("genpkey -algorithm ED25519 -out ed25519.pem");
        stock("genpkey -algorithm EC -pkeyopt group:P-256 -out ec.pem");
        stock("pkey -in ec.pem -pubout -out ec.pub");

        let outboard = |command: &str| run(&configurations.outboard(), command);
        for command in COMMANDS {
            let (with, without) = (outboard(command), run(&configurations.stock(), command));
            assert_eq!(with.status, without.status, "{command}");
            assert_eq!(with.stdout, without.stdout, "{command}");
            assert_eq!(said(&with), said(&without), "{command}");
        }

        let listed = |what: &str| {
            let output = outboard(what);
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines()
                .filter(|line| line.contains("@ outboard"))
                .count()
        };
        assert_eq!(listed("list -cipher-algorithms"), 3);
        for kind in [
            "key-managers",
            "signature-algorithms",
            "key-exchange-algorithms",
            "encoders",
            "asymcipher-algorithms",
        ] {
            assert_eq!(listed(&format!("list -{kind}")), 0, "{kind}");
        }

        // And the ciphers work: a message that is encrypted is decrypted.
        stock("req -x509 -new -key rsa.pem -subj /CN=x -out rsa.crt");
        let sealed =
            outboard("cms -encrypt -aes-128-gcm -in data -out sealed -outform DER rsa.crt");
        assert!(sealed.status.success(), "{sealed:?}");
        let opened = outboard("cms -decrypt -inform DER -in sealed -inkey rsa.pem");
        assert_eq!(opened.stdout, b"twenty-five bytes of data");
        let total = Snapshot::read(&configurations.ledger()).unwrap().total();
        assert_eq!(
            total
                .work(Operation::Aes128GcmSeal, Route::Scalar)
                .operations,
            1
        );
        assert_eq!(
            total
                .work(Operation::Aes128GcmOpen, Route::Scalar)
                .operations,
            1
        );
    }
}

/// What was printed to the error stream, without a process's own numbers.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text
        .lines()
        .map(|line| line.split_once(':').map_or(line, |(_, rest)| rest));
    lines.collect::<Vec<_>>().join("\n")
}
