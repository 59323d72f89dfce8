//! ML-KEM's keys: ML-KEM-512, ML-KEM-768, ML-KEM-1024.

use outboard_engine::Path;
use outboard_engine::kem::{self, SECRET, Seed, Set};
use outboard_provider_abi::{Reason, Result};

use super::context::{Encapsulating, Randomness, Secret};
use super::format::Object;
use super::lattice::{self, Content, Kind, Numbers, equal};
use crate::outboard::{Shared, refuse};

/// A key of one of the sets.
pub(crate) type Key = lattice::Key<kem::Key>;

impl Content for kem::Key {
    type Set = Set;
    type Seed = Seed;

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

    fn path(shared: &Shared, set: Set) -> Path {
        shared.path(set.keygen())
    }

    fn seed_of(bytes: &[u8]) -> Option<Box<Seed>> {
        let mut seed = Box::new(Seed::new([0; kem::SEED]));
        seed.len().eq(&bytes.len()).then(|| {
            seed.copy_from_slice(bytes);
            seed
        })
    }

    fn generate(set: Set, path: Path) -> outboard_engine::Result<Self> {
        kem::generate(set, path)
    }

    fn seeded(set: Set, path: Path, seed: Box<Seed>) -> outboard_engine::Result<Self> {
        kem::seeded(set, path, seed)
    }

    fn private(set: Set, bytes: &[u8]) -> outboard_engine::Result<Self> {
        Self::private(set, bytes)
    }

    fn public(set: Set, bytes: &[u8]) -> outboard_engine::Result<Self> {
        Self::public(set, bytes)
    }

    fn public_bytes(&self) -> &[u8] {
        self.public_bytes()
    }

    fn private_bytes(&self) -> Option<&[u8]> {
        self.private_bytes()
    }

    fn seed(&self) -> Option<&[u8]> {
        self.seed().map(|seed| &seed[..])
    }

    /// What one half encapsulates, the other one opens.
    fn is_pair(&self, private: &Self) -> bool {
        self.encapsulate(Path::Scalar)
            .is_ok_and(|(ciphertext, secret)| {
                let opened = private.decapsulate(Path::Scalar, &ciphertext);
                opened.is_ok_and(|opened| equal(&opened, &secret))
            })
    }
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
            Some(randomness) => key.encapsulate_by(path, randomness),
            None => key.encapsulate(path),
        }
        .map_err(refuse)
    }

    fn decapsulate(&self, ciphertext: &[u8]) -> Result<Secret> {
        let path = self.shared().path(self.set().decapsulation());
        let key = self.content().ok_or(Reason::InvalidKey)?;
        key.decapsulate(path, ciphertext).map_err(refuse)
    }
}
