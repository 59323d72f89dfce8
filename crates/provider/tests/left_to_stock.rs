//! What the engine leaves to stock stands in the ledger, with the reason.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use outboard_engine::Operation;
use outboard_engine::ledger::{Reason, Snapshot};
use outboard_libcrypto::{DigestSigner, DigestVerifier, Key, Params};
use outboard_measure::Sides;

#[test]
fn the_ledger_tells_why_a_message_was_left_to_stock() {
    // One for all: a process has one ledger.
    let sides = common::sides();
    no_engine_for_that(&sides);
    too_long_for_ed25519(&sides);
}

fn no_engine_for_that(sides: &Sides) {
    let bits = Params::new().unsigned(c"bits", 2048);
    let key = Key::generate(&sides.outboard, "RSA", &bits).unwrap();
    let pss = Params::new().text(c"pad-mode", "pss");
    let cases = [
        // A digest that the engine does not compute, for the message and for the mask.
        ("MD5", Params::new(), Reason::Digest),
        (
            "SHA256",
            pss.text(c"mgf1-digest", "SHA512-224"),
            Reason::Parameter,
        ),
    ];
    for (digest, params, reason) in cases {
        let message = b"message";
        let mut signer = DigestSigner::new(&key, Some(digest), &params).unwrap();
        assert_eq!(signer.provider_name().as_deref(), Some("outboard"));
        let signature = signer.sign(message).unwrap();
        let mut verifier = DigestVerifier::new(&key, Some(digest), &params).unwrap();
        assert!(verifier.verify(&signature, message).unwrap());

        let snapshot = Snapshot::read(&sides.configurations().ledger()).unwrap();
        for operation in [Operation::Rsa2048Sign, Operation::Rsa2048Verify] {
            assert_eq!(snapshot.total().fallbacks(operation, reason), 1, "{digest}");
        }
    }
}

/// OpenSSL hashes it faster.
fn too_long_for_ed25519(sides: &Sides) {
    let key = Key::generate(&sides.outboard, "ED25519", &Params::new()).unwrap();
    let left = || {
        let snapshot = Snapshot::read(&sides.configurations().ledger()).unwrap();
        let total = snapshot.total();
        total.fallbacks(Operation::Ed25519Sign, Reason::Size)
    };
    for (length, expected) in [(1 << 14, 0), ((1 << 14) + 1, 1)] {
        let message = vec![7; length];
        let mut signer = DigestSigner::new(&key, None, &Params::new()).unwrap();
        let signature = signer.sign(&message).unwrap();
        let mut verifier = DigestVerifier::new(&key, None, &Params::new()).unwrap();
        assert!(verifier.verify(&signature, &message).unwrap());
        assert_eq!(left(), expected, "{length}");
    }
}
