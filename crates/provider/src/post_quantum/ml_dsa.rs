//! ML-DSA's keys: ML-DSA-44, ML-DSA-65, ML-DSA-87.

use outboard_engine::Path;
use outboard_engine::dsa::{self, Set};
use outboard_engine::scalar::SecretBytes;

use super::format::Object;
use super::lattice::{self, Content, Kind, Numbers};
use crate::outboard::Shared;

pub(crate) use outboard_engine::scalar::ml_dsa::Key as Form;

/// A key of one of the sets.
pub(crate) type Key = lattice::Key<Form>;

impl Content for Form {
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

    fn make(shared: &Shared, set: Set, seed: SecretBytes) -> outboard_engine::Result<dsa::Key> {
        dsa::seeded(set, shared.path(set.keygen()), seed)
    }

    /// What one half signs, the other one verifies.
    fn is_pair(public: &dsa::Key, private: &dsa::Key) -> bool {
        const MESSAGE: &[u8] = b"pair";
        const PATH: Path = Path::Scalar;
        let signature = private.sign(PATH, MESSAGE, &[]);
        signature.is_ok_and(|signature| public.verify(PATH, MESSAGE, &[], &signature) == Ok(true))
    }
}
