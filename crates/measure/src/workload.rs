//! What is measured: the EVP calls that a real program makes for one operation.
//!
//! Contexts are used again or made anew as programs do: a server keeps its key, but makes an
//! `EVP_MD_CTX` for every signature; a connection keeps its cipher context and gives it an IV per
//! record.

mod agreement;
mod bulk;
mod decryption;
mod key_schedule;
mod lattice;
mod loading;
mod pass_through;
mod record;
mod signature;
mod table;

use outboard_libcrypto::{Context, Key};
use outboard_operation::Operation;

use crate::{Contender, KeyKind, Keys, Result};

pub(crate) use bulk::{ASSOCIATED, Iv};
pub(crate) use key_schedule::{Hash, Kind as Derivation};
pub(crate) use lattice::Act;
pub(crate) use signature::MESSAGE;

/// The sizes in bytes at which an operation is measured whose cost grows with its input.
pub const BULK_SIZES: &[usize] = &[16, 64, 256, 1024, 8192, 16384];

/// Something to measure, apart from where.
pub struct Workload {
    /// Its name: an operation's, or one of its own.
    pub name: String,
    /// The operation that it is, for those that Outboard decides about.
    pub operation: Option<Operation>,
    /// Bytes of input, for those whose cost grows with it; else 0.
    pub size: usize,
    prepare: Box<Prepare>,
}

type Prepare = dyn Fn(&Context, &Keys) -> Result<Prepared>;

/// A workload on one side, ready to run.
pub struct Prepared {
    /// The provider whose implementation serves it, where OpenSSL tells.
    pub served_by: Option<String>,
    run: Box<Contender<'static>>,
}

impl Workload {
    /// The workloads of an operation: one, or one for each of [`BULK_SIZES`].
    pub fn of(operation: Operation) -> Vec<Self> {
        let sizes = if operation.is_bulk() {
            BULK_SIZES
        } else {
            &[0]
        };
        sizes
            .iter()
            .map(|&size| Self::of_size(operation, size))
            .collect()
    }

    /// Every operation at every size that OpenSSL has, too.
    pub fn operations() -> Vec<Self> {
        Operation::compared().flat_map(Self::of).collect()
    }

    /// The table of `openssl speed`: ciphers and digests by the length of a message, then everything
    /// that needs a key. `sizes` are in bytes.
    pub fn table(sizes: &[usize]) -> Vec<Self> {
        table::all(sizes)
    }

    /// A few that stand for all, to run on two stock contexts: they must draw.
    pub fn control() -> Vec<Self> {
        vec![
            Self::of_size(Operation::Rsa2048Sign, 0),
            Self::of_size(Operation::P256Sign, 0),
            Self::of_size(Operation::Aes128GcmSeal, 16),
            Self::of_size(Operation::Aes128GcmSeal, 16384),
        ]
    }

    /// What Outboard leaves to stock and must not slow down.
    pub fn pass_through() -> Vec<Self> {
        pass_through::all()
    }

    /// Reading keys, and using a key that was just read.
    pub fn loading() -> Vec<Self> {
        loading::all()
    }

    /// Records as TLS 1.2, TLS 1.3 and OpenSSH seal them.
    pub fn records() -> Vec<Self> {
        record::all()
    }

    /// The extractions of TLS 1.3's key schedule, which go with its expansions.
    pub fn extractions() -> Vec<Self> {
        let hashes = [("sha256", Hash::Sha256), ("sha384", Hash::Sha384)];
        let each = hashes.into_iter().map(|(name, hash)| {
            Self::new(format!("tls13-extract-{name}"), 0, move |context, _| {
                key_schedule::derive(context, Derivation::Tls13Extract, hash)
            })
        });
        each.collect()
    }

    /// Gets it ready in `context`.
    pub fn prepare(&self, context: &Context, keys: &Keys) -> Result<Prepared> {
        (self.prepare)(context, keys)
    }

    /// An operation on so many bytes (0 where that means nothing).
    pub fn of_size(operation: Operation, size: usize) -> Self {
        let (kind, work) = nature(operation);
        let prepare: Box<Prepare> = match work {
            Work::Sign => Box::new(move |context, keys| signature::sign(context, keys, kind)),
            Work::Verify => Box::new(move |context, keys| signature::verify(context, keys, kind)),
            Work::Generate => Box::new(move |context, _| agreement::generate(context, kind)),
            Work::Derive => Box::new(move |context, keys| agreement::derive(context, keys, kind)),
            Work::Decrypt => {
                Box::new(move |context, keys| decryption::decrypt(context, keys, kind))
            }
            Work::Lattice(kind, act) => {
                Box::new(move |context, _| lattice::prepare(context, kind, act))
            }
            Work::Schedule(what, hash) => {
                Box::new(move |context, _| key_schedule::derive(context, what, hash))
            }
            Work::Seal(cipher) => Box::new(move |context, _| bulk::seal(context, cipher, size)),
            Work::Open(cipher) => Box::new(move |context, _| bulk::open(context, cipher, size)),
        };
        Self {
            name: operation.name().into(),
            operation: Some(operation),
            size,
            prepare,
        }
    }

    fn new(
        name: impl Into<String>,
        size: usize,
        prepare: impl Fn(&Context, &Keys) -> Result<Prepared> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            operation: None,
            size,
            prepare: Box::new(prepare),
        }
    }
}

impl Prepared {
    fn new(served_by: Option<String>, mut once: impl FnMut() -> Result<()> + 'static) -> Self {
        let run = Box::new(move |iterations| {
            for _ in 0..iterations {
                once()?;
            }
            Ok(())
        });
        Self { served_by, run }
    }

    /// Signs as [`Workload`]s do, with the key of that PEM text.
    ///
    /// # Errors
    /// If the key cannot be read, or not be used.
    pub fn signing(context: &Context, pem: &[u8], kind: KeyKind) -> Result<Self> {
        signature::sign_with(Key::from_pem(context, pem, None)?, kind)
    }

    /// For a contest.
    pub fn contender(&mut self) -> &mut Contender<'static> {
        &mut self.run
    }

    /// For a contest that outlives this.
    pub fn into_contender(self) -> Box<Contender<'static>> {
        self.run
    }
}

pub(crate) enum Work {
    Sign,
    Verify,
    Generate,
    Derive,
    Decrypt,
    /// ML-KEM and ML-DSA, by OpenSSL's name of the parameter set. OpenSSL before 3.5 has none.
    Lattice(&'static str, Act),
    Schedule(Derivation, Hash),
    Seal(&'static str),
    Open(&'static str),
}

/// Which key an operation uses (the ciphers make their own), and what it does with it.
pub(crate) fn nature(operation: Operation) -> (KeyKind, Work) {
    use Derivation::{Hkdf, Tls1Prf, Tls13Expand};
    use Hash::{Sha256, Sha384};
    use KeyKind::{Ed25519, P256, P384, P521, Rsa, X25519};
    use Operation as O;
    use Work::{Decrypt, Derive, Generate, Lattice, Open, Schedule, Seal, Sign, Verify};
    // What stands for the key of a cipher or a key derivation, which needs none from `Keys`.
    let no_key = X25519;
    match operation {
        O::Rsa2048Sign => (Rsa(2048), Sign),
        O::Rsa2048Verify => (Rsa(2048), Verify),
        O::Rsa2048Decrypt => (Rsa(2048), Decrypt),
        O::Rsa3072Sign => (Rsa(3072), Sign),
        O::Rsa3072Verify => (Rsa(3072), Verify),
        O::Rsa3072Decrypt => (Rsa(3072), Decrypt),
        O::Rsa4096Sign => (Rsa(4096), Sign),
        O::Rsa4096Verify => (Rsa(4096), Verify),
        O::Rsa4096Decrypt => (Rsa(4096), Decrypt),
        O::P256Keygen => (P256, Generate),
        O::P256Sign => (P256, Sign),
        O::P256Verify => (P256, Verify),
        O::P256Derive => (P256, Derive),
        O::P384Keygen => (P384, Generate),
        O::P384Sign => (P384, Sign),
        O::P384Verify => (P384, Verify),
        O::P384Derive => (P384, Derive),
        O::P521Keygen => (P521, Generate),
        O::P521Sign => (P521, Sign),
        O::P521Verify => (P521, Verify),
        O::P521Derive => (P521, Derive),
        O::X25519Keygen => (X25519, Generate),
        O::X25519Derive => (X25519, Derive),
        O::Ed25519Keygen => (Ed25519, Generate),
        O::Ed25519Sign => (Ed25519, Sign),
        O::Ed25519Verify => (Ed25519, Verify),
        O::MlKem512Keygen => (no_key, Lattice("ML-KEM-512", Act::Generate)),
        O::MlKem512Encapsulate => (no_key, Lattice("ML-KEM-512", Act::Encapsulate)),
        O::MlKem512Decapsulate => (no_key, Lattice("ML-KEM-512", Act::Decapsulate)),
        O::MlKem768Keygen => (no_key, Lattice("ML-KEM-768", Act::Generate)),
        O::MlKem768Encapsulate => (no_key, Lattice("ML-KEM-768", Act::Encapsulate)),
        O::MlKem768Decapsulate => (no_key, Lattice("ML-KEM-768", Act::Decapsulate)),
        O::MlKem1024Keygen => (no_key, Lattice("ML-KEM-1024", Act::Generate)),
        O::MlKem1024Encapsulate => (no_key, Lattice("ML-KEM-1024", Act::Encapsulate)),
        O::MlKem1024Decapsulate => (no_key, Lattice("ML-KEM-1024", Act::Decapsulate)),
        O::MlDsa44Keygen => (no_key, Lattice("ML-DSA-44", Act::Generate)),
        O::MlDsa44Sign => (no_key, Lattice("ML-DSA-44", Act::Sign)),
        O::MlDsa44Verify => (no_key, Lattice("ML-DSA-44", Act::Verify)),
        O::MlDsa65Keygen => (no_key, Lattice("ML-DSA-65", Act::Generate)),
        O::MlDsa65Sign => (no_key, Lattice("ML-DSA-65", Act::Sign)),
        O::MlDsa65Verify => (no_key, Lattice("ML-DSA-65", Act::Verify)),
        O::MlDsa87Keygen => (no_key, Lattice("ML-DSA-87", Act::Generate)),
        O::MlDsa87Sign => (no_key, Lattice("ML-DSA-87", Act::Sign)),
        O::MlDsa87Verify => (no_key, Lattice("ML-DSA-87", Act::Verify)),
        O::Aes128GcmSeal => (no_key, Seal("AES-128-GCM")),
        O::Aes128GcmOpen => (no_key, Open("AES-128-GCM")),
        O::Aes192GcmSeal => (no_key, Seal("AES-192-GCM")),
        O::Aes192GcmOpen => (no_key, Open("AES-192-GCM")),
        O::Aes256GcmSeal => (no_key, Seal("AES-256-GCM")),
        O::Aes256GcmOpen => (no_key, Open("AES-256-GCM")),
        O::Tls13KdfSha256 => (no_key, Schedule(Tls13Expand, Sha256)),
        O::Tls13KdfSha384 => (no_key, Schedule(Tls13Expand, Sha384)),
        O::Tls1PrfSha256 => (no_key, Schedule(Tls1Prf, Sha256)),
        O::Tls1PrfSha384 => (no_key, Schedule(Tls1Prf, Sha384)),
        O::HkdfSha256 => (no_key, Schedule(Hkdf, Sha256)),
        O::HkdfSha384 => (no_key, Schedule(Hkdf, Sha384)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_libcrypto::Library;

    #[test]
    fn every_workload_runs_on_stock() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let context = Context::new(&library).unwrap();
        let keys = Keys::new(&context);
        let groups = [
            Workload::operations(),
            Workload::control(),
            Workload::pass_through(),
            Workload::loading(),
            Workload::records(),
            Workload::extractions(),
            Workload::table(&[16, 1 << 16]),
        ];
        for workload in groups.into_iter().flatten() {
            let mut prepared = workload.prepare(&context, &keys).unwrap();
            if let Some(provider) = &prepared.served_by {
                assert_eq!(provider, "default", "{}", workload.name);
            }
            prepared.contender()(2)
                .unwrap_or_else(|error| panic!("{} {}: {error}", workload.name, workload.size));
        }
    }
}
