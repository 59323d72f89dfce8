//! One operation at each interface through which it can be called: what an interface costs.
//!
//! ```text
//! kernel    AWS-LC's function itself
//! engine    the same work through outboard-engine
//! outboard  OpenSSL's EVP calls, served by the provider
//! stock     the same EVP calls, served by OpenSSL
//! ```

mod kernel;
mod lattice;

use inout::InOutBuf;
use outboard_engine::scalar::aes_gcm::{AesGcm, TAG_LENGTH};
use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::scalar::rsa::{Numbers, PrivateNumbers, SaltLength, Scheme};
use outboard_engine::scalar::{ec, ed25519, rsa};
use outboard_libcrypto::Key;
use outboard_operation::Operation;

use crate::workload::{ASSOCIATED, Iv, MESSAGE};
use crate::{Contender, KeyKind, Keys, Result, Sides, Workload};

/// An interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// AWS-LC's own function.
    Kernel,
    /// The engine.
    Engine,
    /// EVP, with Outboard.
    Outboard,
    /// EVP, without.
    Stock,
}

impl Layer {
    /// A name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Engine => "engine",
            Self::Outboard => "EVP, Outboard",
            Self::Stock => "EVP, stock",
        }
    }
}

/// One operation at one interface, ready for a contest.
pub struct Caller {
    /// The interface.
    pub layer: Layer,
    /// Does the work.
    pub contender: Box<Contender<'static>>,
    /// The provider that serves it, for the interfaces that tell.
    pub served_by: Option<String>,
}

/// The operations that can be called at every interface.
pub const OPERATIONS: &[Operation] = &[
    Operation::Aes128GcmSeal,
    Operation::Aes256GcmSeal,
    Operation::Rsa2048Sign,
    Operation::P384Sign,
    Operation::Ed25519Sign,
];

/// The operation on so many bytes at every interface, in the order of [`Layer`]: the same work with the same keys.
///
/// # Errors
/// If a side or a key cannot be set up.
///
/// # Panics
/// If it is not one of [`OPERATIONS`].
pub fn callers(
    operation: Operation,
    size: usize,
    sides: &Sides,
    keys: &Keys,
) -> Result<[Caller; 4]> {
    let direct = match operation {
        Operation::Aes128GcmSeal => [kernel::seal(&CIPHER_KEY[..16], size)?, seal(16, size)?],
        Operation::Aes256GcmSeal => [kernel::seal(&CIPHER_KEY, size)?, seal(32, size)?],
        Operation::Rsa2048Sign => {
            let key = keys.private(keys.maker(), KeyKind::Rsa(2048))?;
            let key = RsaNumbers::of(&key)?;
            [kernel::rsa_sign(&key.numbers())?, rsa_sign(&key.numbers())?]
        }
        Operation::P384Sign => {
            let key = ec::Key::generate(ec::Curve::P384)?;
            [kernel::p384_sign(&key.number()?)?, p384_sign(key)]
        }
        Operation::Ed25519Sign => [kernel::ed25519_sign(&CIPHER_KEY), ed25519_sign()],
        other => panic!("{} cannot be called at every interface", other.name()),
    };
    let workload = Workload::of_size(operation, size);
    let through = |context| -> Result<_> {
        let prepared = workload.prepare(context, keys)?;
        let served_by = prepared.served_by.clone();
        Ok((prepared.into_contender(), served_by))
    };
    let (outboard, stock) = (through(&sides.outboard)?, through(&sides.stock)?);
    let [kernel, engine] = direct.map(|contender| (contender, None));
    let callers = [
        (Layer::Kernel, kernel),
        (Layer::Engine, engine),
        (Layer::Outboard, outboard),
        (Layer::Stock, stock),
    ];
    Ok(callers.map(|(layer, (contender, served_by))| Caller {
        layer,
        contender,
        served_by,
    }))
}

/// A post-quantum operation by AWS-LC's own functions.
///
/// # Errors
/// If a key cannot be made.
///
/// # Panics
/// If it is no post-quantum operation.
pub fn kernel_of(operation: Operation) -> Result<Box<Contender<'static>>> {
    kernel::post_quantum(operation)
}

/// The same by the engine, on path `scalar`.
///
/// # Errors
/// If a key cannot be made.
///
/// # Panics
/// If it is no post-quantum operation.
pub fn engine_of(operation: Operation) -> Result<Box<Contender<'static>>> {
    lattice::contender(operation)
}

const CIPHER_KEY: [u8; 32] = [0x42; 32];

/// So many times.
fn repeat(mut once: impl FnMut() -> Result<()> + 'static) -> Box<Contender<'static>> {
    Box::new(move |iterations| {
        for _ in 0..iterations {
            once()?;
        }
        Ok(())
    })
}

fn seal(key_length: usize, size: usize) -> Result<Box<Contender<'static>>> {
    let mut cipher = AesGcm::new(&CIPHER_KEY[..key_length], true)?;
    let mut iv = Iv::default();
    let mut text = vec![0x61; size];
    let mut tag = [0; TAG_LENGTH];
    Ok(repeat(move || {
        cipher.start(iv.next(), true)?;
        cipher.associate(&ASSOCIATED)?;
        cipher.update(InOutBuf::from(&mut text[..]))?;
        Ok(cipher.seal(&mut tag)?)
    }))
}

fn rsa_sign(numbers: &Numbers<'_>) -> Result<Box<Contender<'static>>> {
    let key = rsa::Key::new(numbers)?;
    let scheme = Scheme::Pss {
        mgf1: Digest::Sha256,
        salt: SaltLength::Digest,
    };
    let mut signature = vec![0; key.length()];
    Ok(repeat(move || {
        let mut hasher = Hasher::new(Digest::Sha256)?;
        hasher.update(&MESSAGE)?;
        key.sign(scheme, Digest::Sha256, &hasher.finish()?, &mut signature)?;
        Ok(())
    }))
}

fn p384_sign(key: ec::Key) -> Box<Contender<'static>> {
    let mut signature = vec![0; key.curve().max_signature_length()];
    repeat(move || {
        let mut hasher = Hasher::new(Digest::Sha384)?;
        hasher.update(&MESSAGE)?;
        key.sign(&hasher.finish()?, &mut signature)?;
        Ok(())
    })
}

fn ed25519_sign() -> Box<Contender<'static>> {
    let key = ed25519::Private::from_seed(&CIPHER_KEY);
    let mut signature = [0; ed25519::SIGNATURE_LENGTH];
    repeat(move || Ok(key.sign(&MESSAGE, &mut signature)?))
}

/// An RSA key as numbers, most significant byte first.
pub(crate) struct RsaNumbers([zeroize::Zeroizing<Vec<u8>>; 8]);

impl RsaNumbers {
    pub(crate) fn of(key: &Key) -> Result<Self> {
        let number = |name| key.number(name);
        Ok(Self([
            number(c"n")?,
            number(c"e")?,
            number(c"d")?,
            number(c"rsa-factor1")?,
            number(c"rsa-factor2")?,
            number(c"rsa-exponent1")?,
            number(c"rsa-exponent2")?,
            number(c"rsa-coefficient1")?,
        ]))
    }

    pub(crate) fn numbers(&self) -> Numbers<'_> {
        let [n, e, d, p, q, dp, dq, qinv] = &self.0;
        Numbers {
            n,
            e,
            private: Some(PrivateNumbers {
                d,
                p,
                q,
                dp,
                dq,
                qinv,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_libcrypto::Library;

    #[test]
    fn every_interface_does_every_operation() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let sides = Sides::stock_twice(&library).unwrap();
        let keys = Keys::new(&sides.stock);
        for &operation in OPERATIONS {
            let size = if operation.is_bulk() { 100 } else { 0 };
            let mut callers = callers(operation, size, &sides, &keys).unwrap();
            for caller in &mut callers {
                (caller.contender)(2).unwrap_or_else(|error| {
                    panic!("{} at {:?}: {error}", operation.name(), caller.layer)
                });
            }
        }
    }

    #[test]
    fn the_kernel_does_every_post_quantum_operation() {
        let all = Operation::ALL.iter().copied();
        for operation in all.filter(|operation| operation.is_post_quantum()) {
            let mut contender = kernel_of(operation).unwrap();
            contender(2).unwrap_or_else(|error| panic!("{}: {error}", operation.name()));
        }
    }
}
