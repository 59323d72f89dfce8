//! No secret stays in a program's memory: neither of key derivations, nor keys that were freed.
//!
//! `leftovers/scan.c` does one operation after another and looks for their secrets in all that it can write to.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::path::Path;
use std::process::Command;

use outboard_engine::ledger::Snapshot;
use outboard_engine::{Operation, Path as Route};
use outboard_measure::{Configurations, Library, Offer};
use outboard_programs::Workplace;

#[test]
fn no_secret_stays_behind() {
    let place = Workplace::new().unwrap();
    let program = place.join("scan");
    let built = Command::new("cc")
        .args(["-O1", "-Wall", "-Werror", "-o"])
        .arg(&program)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/leftovers/scan.c"
        ))
        .arg("-l:libcrypto.so.3")
        .status();
    assert!(built.unwrap().success());
    let configurations = Configurations::new(&common::module(), &Offer::All).unwrap();
    let found = |configuration: &Path, more: &[&str]| {
        let scan = Command::new(&program)
            .args(more)
            .env("OPENSSL_CONF", configuration)
            .output()
            .unwrap();
        let text = String::from_utf8(scan.stdout).unwrap();
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        assert_eq!(lines.last().map(String::as_str), Some("done"), "{text}");
        assert!(lines[0].starts_with("test: what was planted"), "{text}");
        lines[1..lines.len() - 1].to_vec()
    };
    let stock = found(&configurations.stock(), &[]);
    let more: Vec<_> = found(&configurations.outboard(), &[])
        .into_iter()
        .filter(|line| !stock.contains(line))
        .collect();
    assert!(more.is_empty(), "{more:#?}");

    let total = Snapshot::read(&configurations.ledger()).unwrap().total();
    for operation in [
        Operation::Tls13KdfSha256,
        Operation::HkdfSha256,
        Operation::Tls1PrfSha256,
        Operation::X25519Derive,
        Operation::Ed25519Sign,
        Operation::P256Derive,
        Operation::P384Sign,
        Operation::P521Sign,
        Operation::Rsa2048Sign,
    ] {
        let counted =
            [Route::Scalar, Route::Wide].map(|path| total.work(operation, path).operations);
        assert!(counted.iter().sum::<u64>() >= 1, "{operation:?}");
    }

    if library_has_post_quantum() {
        return;
    }
    let configurations = Configurations::new(&common::module(), &Offer::PostQuantum).unwrap();
    let more: Vec<_> = found(&configurations.outboard(), &["post-quantum"])
        .into_iter()
        .filter(|line| !stock.contains(line))
        .collect();
    assert!(more.is_empty(), "{more:#?}");
}

fn library_has_post_quantum() -> bool {
    let library = Library::open(Library::SYSTEM).unwrap();
    library.version_numbers() >= (3, 5, 0)
}
