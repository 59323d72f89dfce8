//! ML-KEM's keys: ML-KEM-512, ML-KEM-768, ML-KEM-1024.

use outboard_engine::Path;
use outboard_engine::kem::{self, SECRET, Set};
use outboard_engine::scalar::SecretBytes;
use outboard_provider_abi::{Reason, Result};
use zeroize::Zeroizing;

use super::context::{Encapsulating, Randomness, Secret};
use super::format::Object;
use super::lattice::{self, Content, Kind, Numbers, equal};
use crate::outboard::{Shared, refuse};

pub(crate) use outboard_engine::scalar::ml_kem::Key as Form;

/// A key of one of the sets.
pub(crate) type Key = lattice::Key<Form>;

impl Content for Form {
    const SETS: [Set; 3] = Set::ALL;
    const KIND: Kind = Kind::Encapsulation;
    const LABELS: [&'static str; 2] = ["dk:", "ek:"];

    fn numbers(set: Set) -> Numbers {
        let (bits, security_bits) = match set {
            Set::MlKem512 => (512, 128),
            Set::MlKem768 => (768, 192),
            Set::MlKem1024 => (1024, 256),
        };
        Numbers {
            bits,
            security_bits,
            max_size: set.ciphertext_length() as u64,
        }
    }

    fn names(set: Set) -> [&'static str; 2] {
        match set {
            Set::MlKem512 => ["ML-KEM-512", "MLKEM512"],
            Set::MlKem768 => ["ML-KEM-768", "MLKEM768"],
            Set::MlKem1024 => ["ML-KEM-1024", "MLKEM1024"],
        }
    }

    fn object(set: Set) -> Object {
        Object::new(4, set as u8 + 1)
    }

    fn make(shared: &Shared, set: Set, seed: SecretBytes) -> outboard_engine::Result<kem::Key> {
        kem::seeded(set, shared.path(set.keygen()), seed)
    }

    /// What one half encapsulates, the other one opens.
    fn is_pair(public: &kem::Key, private: &kem::Key) -> bool {
        let both = public.encapsulate(Path::Scalar);
        both.is_ok_and(|(ciphertext, secret)| {
            let opened = private.decapsulate(Path::Scalar, &ciphertext);
            opened.is_ok_and(|opened| equal(&opened, &secret))
        })
    }
}

/// A new secret for a public half.
pub(super) fn encapsulate(
    shared: &Shared,
    key: &kem::Key,
    path: Path,
) -> Result<(Vec<u8>, Secret)> {
    let mut message = Zeroizing::new(Randomness::default());
    shared.randomise(message.as_mut())?;
    key.encapsulate_by(path, &message).map_err(refuse)
}

impl Encapsulating for Key {
    const TAKES_RANDOMNESS: bool = true;

    fn lengths(&self) -> (usize, usize) {
        (self.set().ciphertext_length(), SECRET)
    }

    fn encapsulate(&self, randomness: Option<&Randomness>) -> Result<(Vec<u8>, Secret)> {
        let path = self.shared().path(self.set().encapsulation());
        let key = self.content().ok_or(Reason::InvalidKey)?;
        match randomness {
            Some(randomness) => key.encapsulate_by(path, randomness).map_err(refuse),
            None => encapsulate(self.shared(), key, path),
        }
    }

    fn decapsulate(&self, ciphertext: &[u8]) -> Result<Secret> {
        let path = self.shared().path(self.set().decapsulation());
        let key = self.content().ok_or(Reason::InvalidKey)?;
        key.decapsulate(path, ciphertext).map_err(refuse)
    }
}
