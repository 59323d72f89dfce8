//! A program whose sandbox refuses randomness lives, and its own libcrypto does the work, if it can.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use outboard_engine::Operation;
use outboard_engine::ledger::{Reason, Snapshot};
use outboard_libcrypto::{
    Cipher, CipherContext, Context, DigestSigner, DigestVerifier, Direction, Error, Key, Params,
};
use outboard_programs::{child, sandbox};

const MESSAGE: &[u8] = b"a message";

/// Keys from before the sandbox.
struct Keys<'a> {
    context: &'a Context,
    rsa: Key,
    p256: Key,
}

impl<'a> Keys<'a> {
    fn new(context: &'a Context) -> Self {
        let rsa = Params::new().unsigned(c"bits", 2048);
        Self {
            context,
            rsa: Key::generate(context, "RSA", &rsa).unwrap(),
            p256: Self::curve(context, "P-256").unwrap(),
        }
    }

    /// Whether each thing that needs randomness can be done, with these keys and with new ones.
    fn abilities(&self) -> [bool; 7] {
        let (context, plain) = (self.context, Params::new());
        let pss = Params::new().text(c"pad-mode", "pss");
        [
            signs(&self.rsa, Some("SHA256"), &plain),
            signs(&self.rsa, Some("SHA256"), &pss),
            signs(&self.p256, Some("SHA256"), &plain),
            Self::curve(context, "P-384").and_then(|key| signs(&key, Some("SHA384"), &plain)),
            Key::generate(context, "ED25519", &plain).and_then(|key| signs(&key, None, &plain)),
            Key::generate(context, "X25519", &plain).map(drop),
            seals_with_random_vectors(context),
        ]
        .map(|result| result.is_ok())
    }

    fn curve(context: &Context, name: &str) -> Result<Key, Error> {
        Key::generate(context, "EC", &Params::new().text(c"group", name))
    }
}

fn signs(key: &Key, digest: Option<&str>, params: &Params) -> Result<(), Error> {
    let signature = DigestSigner::new(key, digest, params)?.sign(MESSAGE)?;
    assert!(DigestVerifier::new(key, digest, params)?.verify(&signature, MESSAGE)?);
    Ok(())
}

/// As TLS 1.2 wants them.
fn seals_with_random_vectors(context: &Context) -> Result<(), Error> {
    let cipher = Cipher::fetch(context, "AES-128-GCM", None)?;
    let sealed = || {
        let mut seal = CipherContext::new(&cipher, Direction::Encrypt)?;
        seal.start(Some(&[7; 16]), None)?;
        let mut data = *b"sixteen bytes...";
        seal.update_in_place(&mut data)?;
        Ok(data)
    };
    assert_ne!(sealed()?, sealed()?);
    Ok(())
}

#[test]
fn a_confined_program_lives() {
    let sides = common::sides();
    let (stock, ours) = (Keys::new(&sides.stock), Keys::new(&sides.outboard));
    // As a parent does before it forks.
    assert_eq!(ours.abilities(), [true; 7]);

    // OpenSSL knows no other source on a kernel that has this one: it fails, and so do we, with its words.
    assert!(child::ends_well(|| {
        sandbox::refuse(libc::SYS_getrandom).unwrap();
        ours.abilities() == stock.abilities()
    }));

    // Unless it cannot tell the kernel's age: then it takes the device.
    assert!(child::ends_well(|| {
        for call in [libc::SYS_getrandom, libc::SYS_uname, libc::SYS_shmget] {
            sandbox::refuse(call).unwrap();
        }
        assert_eq!(stock.abilities(), [true; 7]);
        ours.abilities() == [true; 7]
    }));

    let ledger = sides.configurations().ledger();
    let total = Snapshot::read(&ledger).unwrap().total();
    // In each of the two children.
    for (operation, times) in [
        (Operation::Rsa2048Sign, 4),
        (Operation::P256Sign, 2),
        (Operation::P384Keygen, 2),
        (Operation::Ed25519Keygen, 2),
        (Operation::X25519Keygen, 2),
    ] {
        let counted = total.fallbacks(operation, Reason::Randomness);
        assert_eq!(counted, times, "{}", operation.name());
    }
}
