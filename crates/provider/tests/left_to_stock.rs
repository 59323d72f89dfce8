//! What the engine leaves to stock stands in the ledger, with the reason.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use outboard_engine::Operation;
use outboard_engine::ledger::{Reason, Snapshot};
use outboard_libcrypto::{DigestSigner, DigestVerifier, Key, Params};

#[test]
fn the_ledger_tells_why_a_message_was_left_to_stock() {
    let sides = common::sides();
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
