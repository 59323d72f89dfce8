//! Eight private-key operations that are handed over together, on one thread, by everyone who can.
//!
//! ```text
//! stock      one after another through EVP, as a program does it
//! AWS-LC     one after another on the engine's scalar path
//! lanes      all eight at once, as a card's worker does it
//! crypto_mb  all eight at once by Intel's library, where someone named it
//! ```
//!
//! What a card that is always full could do at best. The lanes and AWS-LC check every result of RSA with the
//! public key and make ECDSA's nonces; crypto_mb does the bare operation and is given the nonces.

use std::sync::Arc;

use outboard_crypto_mb::{Curve, Library as CryptoMb, RsaKey};
use outboard_engine::card::{self, DEPTH, Request};
use outboard_engine::scalar::rsa;
use outboard_libcrypto::Context;
use outboard_operation::Operation;

use crate::layers::RsaNumbers;
use crate::workload::MESSAGE;
use crate::{Contender, Error, KeyKind, Keys, Result, Workload, lanes};

/// Operations with a private key that all of them do.
pub const OPERATIONS: &[Operation] = &[
    Operation::Rsa2048Sign,
    Operation::Rsa3072Sign,
    Operation::Rsa4096Sign,
    Operation::P256Sign,
    Operation::P384Sign,
    Operation::P256Derive,
    Operation::P384Derive,
    Operation::X25519Derive,
    Operation::Ed25519Sign,
];

/// How many operations are handed over together: what one iteration of each contender does.
pub const EIGHT: usize = DEPTH;

/// Someone who does eight operations, ready for a contest.
pub struct Doer {
    /// Its name: "stock", "AWS-LC", "lanes", "crypto_mb".
    pub name: &'static str,
    /// Does them, so many times.
    pub contender: Box<Contender<'static>>,
}

/// Whether this processor has the lanes: without, nothing can be done together.
pub fn are_possible() -> bool {
    card::are_there()
}

/// Stock, AWS-LC, the lanes, and crypto_mb if it is given, in this order.
///
/// # Errors
/// If a key or a side cannot be set up.
///
/// # Panics
/// If it is not one of [`OPERATIONS`].
pub fn doers(
    operation: Operation,
    stock: &Context,
    keys: &Keys,
    crypto_mb: Option<CryptoMb>,
) -> Result<Vec<Doer>> {
    let mut one = Workload::of_size(operation, 0)
        .prepare(stock, keys)?
        .into_contender();
    let batch = Arc::new(lanes::batch(stock, keys, operation)?);
    let requests = Arc::clone(&batch);
    let mut doers = vec![
        doer("stock", move || one(EIGHT as u64)),
        doer("AWS-LC", move || {
            for request in requests.iter() {
                request.run_scalar()?;
            }
            Ok(())
        }),
        doer("lanes", move || {
            match Request::run_in_lanes(&batch).iter().all(Option::is_some) {
                true => Ok(()),
                false => Err(Error::Lanes(operation)),
            }
        }),
    ];
    if let Some(library) = crypto_mb {
        let mut batch = by_crypto_mb(library, operation, stock, keys)?;
        doers.push(doer("crypto_mb", move || Ok(batch(EIGHT)?)));
    }
    Ok(doers)
}

fn doer(name: &'static str, mut once: impl FnMut() -> Result<()> + 'static) -> Doer {
    let contender = move |iterations| {
        for _ in 0..iterations {
            once()?;
        }
        Ok(())
    };
    Doer {
        name,
        contender: Box::new(contender),
    }
}

fn by_crypto_mb(
    library: CryptoMb,
    operation: Operation,
    context: &Context,
    keys: &Keys,
) -> Result<outboard_crypto_mb::Batch> {
    let rsa = |bits| -> Result<_> {
        let numbers = RsaNumbers::of(&keys.private(context, KeyKind::Rsa(bits))?)?;
        let key = Arc::new(card::rsa::Key::new(rsa::Key::new(&numbers.numbers())?));
        let block = key.encode_unnamed(&[7; 32])?;
        let signed = Request::rsa(operation, key, block.clone()).run_scalar()?;
        Ok(library.rsa([numbers.crt(); EIGHT], &block, &signed)?)
    };
    Ok(match operation {
        Operation::Rsa2048Sign => rsa(2048)?,
        Operation::Rsa3072Sign => rsa(3072)?,
        Operation::Rsa4096Sign => rsa(4096)?,
        Operation::P256Sign => library.ecdsa(Curve::P256)?,
        Operation::P384Sign => library.ecdsa(Curve::P384)?,
        Operation::P256Derive => library.ecdh(Curve::P256)?,
        Operation::P384Derive => library.ecdh(Curve::P384)?,
        Operation::X25519Derive => library.x25519()?,
        Operation::Ed25519Sign => library.ed25519_sign(MESSAGE.len())?,
        other => panic!("{} is not done together", other.name()),
    })
}

impl RsaNumbers {
    fn crt(&self) -> RsaKey<'_> {
        let numbers = self.numbers();
        let private = numbers.private.expect("a private key's numbers");
        RsaKey {
            p: private.p,
            q: private.q,
            dp: private.dp,
            dq: private.dq,
            qinv: private.qinv,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_libcrypto::Library;

    #[test]
    fn everyone_does_every_operation() {
        if !are_possible() {
            return;
        }
        let library = Library::open(Library::SYSTEM).unwrap();
        let context = Context::new(&library).unwrap();
        let keys = Keys::new(&context);
        for &operation in OPERATIONS {
            let mut doers = doers(operation, &context, &keys, None).unwrap();
            let names: Vec<&str> = doers.iter().map(|doer| doer.name).collect();
            assert_eq!(names, ["stock", "AWS-LC", "lanes"]);
            for doer in &mut doers {
                (doer.contender)(1).unwrap_or_else(|error| {
                    panic!("{} by {}: {error}", operation.name(), doer.name)
                });
            }
        }
    }
}
