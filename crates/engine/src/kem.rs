//! ML-KEM (FIPS 203) on its paths: keys, encapsulation, decapsulation; each operation is counted.
//!
//! ```text
//! generate    d, z ──────▶ key: seed, decapsulation key, encapsulation key
//! encapsulate ek, m ─────▶ ciphertext, secret
//! decapsulate dk, c ─────▶ secret
//! ```
//!
//! A path computes these three from bytes. Path `scalar` is AWS-LC, path `wide` is one operation across the lanes
//! (`kem/wide.rs`). What the lanes do not do, path `scalar` does. Keys: `lattice.rs`.

mod wide;

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::lattice::{self, counted, on_wide};
use crate::scalar::ml_kem::Key as Scalar;
use crate::scalar::{SecretBytes, randomise};
use crate::{Operation, Path};

pub use crate::lattice::has_lanes;
pub use crate::scalar::ml_kem::{SECRET, SEED, Set};

/// A shared secret. On the heap: what is moved leaves a copy behind.
pub type Secret = Zeroizing<Vec<u8>>;

/// A key: the public half (FIPS 203's encapsulation key), and the private one (its decapsulation key) where it is known.
pub type Key = lattice::Key<Scalar>;

impl Set {
    /// Every set.
    pub const ALL: [Set; 3] = [Set::MlKem512, Set::MlKem768, Set::MlKem1024];

    /// Making a key, as the ledger calls it.
    pub const fn keygen(self) -> Operation {
        match self {
            Self::MlKem512 => Operation::MlKem512Keygen,
            Self::MlKem768 => Operation::MlKem768Keygen,
            Self::MlKem1024 => Operation::MlKem1024Keygen,
        }
    }

    /// Encapsulation, as the ledger calls it.
    pub const fn encapsulation(self) -> Operation {
        match self {
            Self::MlKem512 => Operation::MlKem512Encapsulate,
            Self::MlKem768 => Operation::MlKem768Encapsulate,
            Self::MlKem1024 => Operation::MlKem1024Encapsulate,
        }
    }

    /// Decapsulation, as the ledger calls it.
    pub const fn decapsulation(self) -> Operation {
        match self {
            Self::MlKem512 => Operation::MlKem512Decapsulate,
            Self::MlKem768 => Operation::MlKem768Decapsulate,
            Self::MlKem1024 => Operation::MlKem1024Decapsulate,
        }
    }
}

impl lattice::Form for Scalar {
    type Set = Set;
    type Expanded = wide::Expanded;

    const SEED: usize = SEED;

    fn private_length(set: Set) -> usize {
        set.private_length()
    }

    fn expanded_size(set: Set) -> usize {
        wide::expanded_size(set)
    }

    fn stack(set: Set) -> usize {
        set.stack()
    }

    fn of_seed(set: Set, seed: &[u8]) -> Result<Self> {
        let seed = seed.try_into().map_err(|_| Error::InvalidKey)?;
        Self::from_seed(set, seed)
    }

    fn of_private(set: Set, bytes: &[u8]) -> Result<Self> {
        Self::private(set, bytes)
    }

    fn of_pair(set: Set, public: &[u8], private: &[u8]) -> Result<Self> {
        Self::pair(set, public, private)
    }

    fn of_public(set: Set, bytes: &[u8]) -> Result<Self> {
        Self::known_public(set, bytes)
    }

    fn is_public(set: Set, bytes: &[u8]) -> bool {
        set.is_public(bytes)
    }

    fn public(&self) -> Result<Box<[u8]>> {
        self.public_bytes().map(Vec::into_boxed_slice)
    }

    fn private_into(&self, half: &mut [u8]) -> Result<()> {
        Self::private_into(self, half)
    }
}

/// Makes a key.
///
/// # Errors
/// [`Error::Randomness`]
pub fn generate(set: Set, path: Path) -> Result<Key> {
    let mut seed = SecretBytes::zeros(SEED);
    randomise(&mut seed)?;
    seeded(set, path, seed)
}

/// The key of a seed: d, then z (FIPS 203, 7.1).
///
/// # Errors
/// [`Error::InvalidKey`]: it has another length. [`Error::Resource`].
pub fn seeded(set: Set, path: Path, seed: SecretBytes) -> Result<Key> {
    if seed.len() != SEED {
        return Err(Error::InvalidKey);
    }
    let across_lanes = || wide::generate(set, &seed);
    if let Some((public, private, expanded)) = on_wide(path, set.keygen(), across_lanes) {
        return Ok(Key::of_halves(set, public, private, seed, expanded));
    }
    counted::<Scalar, _>(set, set.keygen(), || Key::of_seed(set, seed))
}

impl Key {
    /// A new secret, with the ciphertext that tells it to the private half.
    ///
    /// # Errors
    /// [`Error::Randomness`]
    pub fn encapsulate(&self, path: Path) -> Result<(Vec<u8>, Secret)> {
        let mut message = Zeroizing::new([0; SECRET]);
        randomise(&mut *message)?;
        self.encapsulate_by(path, &message)
    }

    /// The same by that randomness (FIPS 203, 6.2), for vectors.
    ///
    /// # Errors
    /// [`Error::Failed`]
    pub fn encapsulate_by(&self, path: Path, message: &[u8; SECRET]) -> Result<(Vec<u8>, Secret)> {
        let (set, operation) = (self.set(), self.set().encapsulation());
        if let Some(both) = on_wide(path, operation, || wide::encapsulate(self, message)) {
            return Ok(both);
        }
        counted::<Scalar, _>(set, operation, || {
            let (ciphertext, secret) = self.form()?.encapsulate_by(message)?;
            Ok((ciphertext, Zeroizing::new(secret.to_vec())))
        })
    }

    /// The secret of a ciphertext; of one that nobody made for this key, another secret that only the key's owner knows
    /// (implicit rejection).
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: it is not as long as a ciphertext.
    /// [`Error::NoPrivateKey`].
    pub fn decapsulate(&self, path: Path, ciphertext: &[u8]) -> Result<Secret> {
        if self.private_bytes().is_none() {
            return Err(Error::NoPrivateKey);
        }
        if ciphertext.len() != self.set().ciphertext_length() {
            return Err(Error::InvalidInput);
        }
        let (set, operation) = (self.set(), self.set().decapsulation());
        if let Some(secret) = on_wide(path, operation, || wide::decapsulate(self, ciphertext)) {
            return Ok(secret);
        }
        counted::<Scalar, _>(set, operation, || {
            let secret = self.form()?.decapsulate(ciphertext)?;
            Ok(Zeroizing::new(secret.to_vec()))
        })
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_have_one_secret_and_a_changed_ciphertext_gives_another() {
        for set in Set::ALL {
            let key = generate(set, Path::Scalar).expect("there is randomness");
            let public = key.to_public();
            let (mut ciphertext, secret) = public.encapsulate(Path::Scalar).expect("it works");
            let decapsulate = |bytes: &[u8]| key.decapsulate(Path::Scalar, bytes);
            assert_eq!(decapsulate(&ciphertext).as_ref(), Ok(&secret));
            ciphertext[7] ^= 1;
            let rejected = decapsulate(&ciphertext).expect("implicit rejection");
            assert_ne!(rejected, secret);
            assert_eq!(decapsulate(&ciphertext), Ok(rejected));
            assert_eq!(decapsulate(&ciphertext[1..]), Err(Error::InvalidInput));
            let without = public.decapsulate(Path::Scalar, &ciphertext);
            assert_eq!(without, Err(Error::NoPrivateKey));
        }
    }

    /// Where there are no lanes, path `wide` is path `scalar`; with the feature `emulated-lanes` they are there.
    #[test]
    fn both_paths_compute_the_same() {
        assert!(has_lanes() || !cfg!(feature = "emulated-lanes"));
        const PATHS: [Path; 2] = [Path::Scalar, Path::Wide];
        for set in Set::ALL {
            for round in 0..3 {
                let mut seed = SecretBytes::zeros(SEED);
                randomise(&mut seed).expect("there is randomness");
                let keys = PATHS.map(|path| seeded(set, path, seed.clone()).expect("a key"));
                let [one, other] = &keys;
                assert_eq!(one.public_bytes(), other.public_bytes());
                assert!(one.private_bytes() == other.private_bytes() && one.seed() == other.seed());
                let message = [round; SECRET];
                let [both, again] =
                    PATHS.map(|path| one.encapsulate_by(path, &message).expect("it works"));
                assert_eq!(both, again);
                let (mut ciphertext, secret) = both;
                let decapsulate = |ciphertext: &[u8]| {
                    // Each key on each path: a key of the lanes must work on path `scalar`.
                    let secrets = keys
                        .iter()
                        .flat_map(|key| PATHS.map(|path| key.decapsulate(path, ciphertext)));
                    let secrets: Vec<_> = secrets.map(|one| one.expect("a secret")).collect();
                    assert!(secrets.iter().all(|one| *one == secrets[0]));
                    secrets[0].clone()
                };
                assert_eq!(decapsulate(&ciphertext), secret);
                ciphertext[usize::from(round)] ^= 1;
                assert_ne!(decapsulate(&ciphertext), secret);
            }
            let key = generate(set, Path::Wide).expect("there is randomness");
            for path in PATHS {
                let (ciphertext, secret) = key.to_public().encapsulate(path).expect("it works");
                assert_eq!(key.decapsulate(path, &ciphertext), Ok(secret));
                assert_eq!(key.decapsulate(path, &[]), Err(Error::InvalidInput));
                let public = key.to_public();
                let without = public.decapsulate(path, &ciphertext);
                assert_eq!(without, Err(Error::NoPrivateKey));
            }
        }
    }

    #[test]
    fn a_public_half_with_a_number_that_is_not_reduced_is_refused() {
        for set in Set::ALL {
            let key = generate(set, Path::Scalar).expect("there is randomness");
            let whole = key.public_bytes();
            let last = whole.len() - 32;
            for (at, value) in [(0, [0x01, 0x0d]), (last - 2, [0x10, 0xd0])] {
                let mut bytes = whole.to_vec();
                bytes[at..at + 2].copy_from_slice(&value);
                assert!(Key::public(set, &bytes).is_err(), "{set:?} {at}");
            }
            let mut bytes = whole.to_vec();
            // 3328 is the largest.
            bytes[..2].copy_from_slice(&[0x00, 0x0d]);
            bytes[2] = 0;
            assert!(Key::public(set, &bytes).is_ok(), "{set:?}");
            assert!(Key::public(set, &bytes[1..]).is_err());
        }
    }

    #[test]
    fn a_private_half_with_another_hash_is_refused() {
        for set in Set::ALL {
            let key = generate(set, Path::Scalar).expect("there is randomness");
            let whole = key.private_bytes().expect("both halves");
            assert!(Key::private(set, whole).is_ok());
            let mut bytes = whole.to_vec();
            let hash = bytes.len() - 64;
            bytes[hash] ^= 1;
            assert!(Key::private(set, &bytes).is_err());
        }
    }
}
