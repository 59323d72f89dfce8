//! The openssl command under valgrind: no access that is wrong, no memory of ours that is lost.
//!
//! valgrind knows no AVX-512 and tells programs so: they take the paths of a processor without it.

use std::time::Duration;

use outboard_programs::{Certificate, Launch, Offer};

use crate::stand::{Stand, installed, is_stock_alone};

/// What valgrind says where it loses track of an error's place, or of a leak's.
const OURS: [&str; 2] = ["outboard", "OSSL_provider_init"];

/// Exit status by which valgrind tells of errors.
const FOUND: i32 = 99;

fn check(stand: &Stand, arguments: &[&str]) {
    let finished = Launch::new("valgrind")
        .unwrap()
        .with(&stand.outboard)
        .directory(stand.workplace.path())
        .args([
            "--quiet",
            "--leak-check=full",
            "--show-leak-kinds=definite,indirect",
        ])
        .args(["--errors-for-leak-kinds=none", "--num-callers=40"])
        .arg(format!("--error-exitcode={FOUND}"))
        .arg("openssl")
        .args(arguments)
        .limit(Duration::from_secs(300))
        .finish()
        .unwrap();
    let told = &finished.errors;
    if told.contains("Unrecognised instruction") || told.contains("unhandled instruction") {
        eprintln!("passed over: valgrind does not know this processor's instructions");
        return;
    }
    assert!(
        finished.status.success(),
        "{arguments:?}: {}\n{told}",
        finished.status
    );
    // Each record is a paragraph. The command itself leaves a few things to the end of the process.
    for record in told.split("== \n").filter(|record| record.contains("lost")) {
        assert!(
            !OURS.iter().any(|ours| record.contains(ours)),
            "{arguments:?}:\n{record}"
        );
    }
}

fn check_all(stand: &Stand) {
    let certificate = |name: &str, new_key: &str| {
        Certificate::generate(&stand.workplace, &stand.stock, name, new_key).unwrap();
    };
    certificate("rsa", "rsa:2048");
    certificate("ec", "ec -pkeyopt ec_paramgen_curve:P-384");
    stand.workplace.write("message", "message").unwrap();
    check(stand, &["list", "-providers"]);
    check(
        stand,
        &["genpkey", "-algorithm", "X25519", "-out", "x25519.key"],
    );
    check(
        stand,
        &["pkey", "-in", "x25519.key", "-pubout", "-out", "x25519.pub"],
    );
    check(
        stand,
        &[
            "pkeyutl",
            "-derive",
            "-inkey",
            "x25519.key",
            "-peerkey",
            "x25519.pub",
        ],
    );
    check(
        stand,
        &["genpkey", "-algorithm", "ED25519", "-out", "ed25519.key"],
    );
    check(
        stand,
        &[
            "pkeyutl",
            "-sign",
            "-rawin",
            "-inkey",
            "ed25519.key",
            "-in",
            "message",
            "-out",
            "signature",
        ],
    );
    for key in ["rsa.key", "ec.key"] {
        check(
            stand,
            &[
                "dgst",
                "-sha256",
                "-sign",
                key,
                "-out",
                "signature",
                "message",
            ],
        );
        check(
            stand,
            &[
                "dgst",
                "-sha256",
                "-prverify",
                key,
                "-signature",
                "signature",
                "message",
            ],
        );
    }
    let encrypt = [
        "cms",
        "-encrypt",
        "-binary",
        "-aes-256-gcm",
        "-in",
        "message",
        "-outform",
        "DER",
    ];
    check(
        stand,
        &[&encrypt[..], &["-out", "encrypted", "-recip", "rsa.crt"]].concat(),
    );
    let decrypt = [
        "cms",
        "-decrypt",
        "-binary",
        "-inform",
        "DER",
        "-in",
        "encrypted",
    ];
    check(
        stand,
        &[&decrypt[..], &["-recip", "rsa.crt", "-inkey", "rsa.key"]].concat(),
    );
}

#[test]
fn no_error_and_no_leak() {
    if installed(&["valgrind", "openssl"]) {
        check_all(&Stand::new());
    }
}

#[test]
fn no_error_and_no_leak_where_all_is_passed_on() {
    if installed(&["valgrind", "openssl"]) && !is_stock_alone() {
        check_all(&Stand::offering(Offer::None));
    }
}
