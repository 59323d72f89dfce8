//! ML-DSA's keys: ML-DSA-44, ML-DSA-65, ML-DSA-87.

use outboard_engine::Path;
use outboard_engine::dsa::{self, Seed, Set};

use super::format::Object;
use super::lattice::{self, Content, Kind, Numbers};
use crate::outboard::Shared;

/// A key of one of the sets.
pub(crate) type Key = lattice::Key<dsa::Key>;

impl Content for dsa::Key {
    type Set = Set;
    type Seed = Seed;

    const SETS: [Set; 3] = Set::ALL;
    const KIND: Kind = Kind::Signature;
    const LABELS: [&'static str; 2] = ["priv:", "pub:"];

    fn numbers(set: Set) -> Numbers {
        Numbers {
            bits: 8 * set.public_length() as u64,
            security_bits: match set {
                Set::MlDsa44 => 128,
                Set::MlDsa65 => 192,
                Set::MlDsa87 => 256,
            },
            max_size: set.signature_length() as u64,
        }
    }

    fn names(set: Set) -> [&'static str; 2] {
        match set {
            Set::MlDsa44 => ["ML-DSA-44", "MLDSA44"],
            Set::MlDsa65 => ["ML-DSA-65", "MLDSA65"],
            Set::MlDsa87 => ["ML-DSA-87", "MLDSA87"],
        }
    }

    fn object(set: Set) -> Object {
        Object::new(3, set as u8 + 17)
    }

    fn path(_: &Shared, _: Set) -> Path {
        Path::Scalar
    }

    fn seed_of(bytes: &[u8]) -> Option<Box<Seed>> {
        let mut seed = Box::new(Seed::new([0; dsa::SEED]));
        seed.len().eq(&bytes.len()).then(|| {
            seed.copy_from_slice(bytes);
            seed
        })
    }

    fn generate(set: Set, _: Path) -> outboard_engine::Result<Self> {
        dsa::generate(set)
    }

    fn seeded(set: Set, _: Path, seed: Box<Seed>) -> outboard_engine::Result<Self> {
        dsa::seeded(set, seed)
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

    /// What one half signs, the other one verifies.
    fn is_pair(&self, private: &Self) -> bool {
        const MESSAGE: &[u8] = b"pair";
        let signature = private.sign(MESSAGE, &[]);
        signature.is_ok_and(|signature| self.verify(MESSAGE, &[], &signature) == Ok(true))
    }
}
