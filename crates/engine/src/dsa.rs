//! ML-DSA (FIPS 204), the pure variant: keys, signatures; each operation is counted.
//!
//! ```text
//! generate    seed ───────────────────▶ key: seed, private half, public half
//! sign        message, context ───────▶ signature, which was verified before it is released
//! verify      message, context, signature ──▶ whether it is one
//! ```
//!
//! A message may come in parts, and be of any length ([`Message`]). Path `scalar` is AWS-LC, path `wide` is one operation across the
//! lanes (`dsa/wide.rs`). What the lanes do not do, path `scalar` does. Keys: `lattice.rs`.

mod wide;

use crate::error::{Error, Result};
use crate::lattice::{self, counted, on_wide};
use crate::scalar::ml_dsa::Key as Scalar;
use crate::scalar::{SecretBytes, randomise};
use crate::{Operation, Path};

pub use crate::lattice::has_lanes;

pub use crate::scalar::ml_dsa::{MAX_CONTEXT, MU, Message, Mu, SEED, Set};

/// A key: the public half, and the private one where it is known.
pub type Key = lattice::Key<Scalar>;

impl Set {
    /// Every set.
    pub const ALL: [Set; 3] = [Set::MlDsa44, Set::MlDsa65, Set::MlDsa87];

    /// Making a key, as the ledger calls it.
    pub const fn keygen(self) -> Operation {
        match self {
            Self::MlDsa44 => Operation::MlDsa44Keygen,
            Self::MlDsa65 => Operation::MlDsa65Keygen,
            Self::MlDsa87 => Operation::MlDsa87Keygen,
        }
    }

    /// Signing, as the ledger calls it.
    pub const fn signing(self) -> Operation {
        match self {
            Self::MlDsa44 => Operation::MlDsa44Sign,
            Self::MlDsa65 => Operation::MlDsa65Sign,
            Self::MlDsa87 => Operation::MlDsa87Sign,
        }
    }

    /// Verifying, as the ledger calls it.
    pub const fn verification(self) -> Operation {
        match self {
            Self::MlDsa44 => Operation::MlDsa44Verify,
            Self::MlDsa65 => Operation::MlDsa65Verify,
            Self::MlDsa87 => Operation::MlDsa87Verify,
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

    fn of_pair(set: Set, _: &[u8], private: &[u8]) -> Result<Self> {
        Self::private(set, private)
    }

    fn of_public(set: Set, bytes: &[u8]) -> Result<Self> {
        Self::public(set, bytes)
    }

    fn is_public(set: Set, bytes: &[u8]) -> bool {
        bytes.len() == set.public_length()
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

/// The key of a seed (FIPS 204's ξ).
///
/// # Errors
/// [`Error::InvalidKey`]: it has another length.
pub fn seeded(set: Set, path: Path, seed: SecretBytes) -> Result<Key> {
    if seed.len() != SEED {
        return Err(Error::InvalidKey);
    }
    if let Some((public, private)) = on_wide(path, set.keygen(), || wide::generate(set, &seed)) {
        return Ok(Key::of_halves(set, public, private, seed, None));
    }
    counted::<Scalar, _>(set, set.keygen(), || Key::of_seed(set, seed))
}

impl Key {
    /// Begins a message in a context of at most [`MAX_CONTEXT`] bytes, for [`Key::sign_mu`] or [`Key::verify_mu`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: the context is longer. [`Error::Resource`].
    pub fn begin(&self, context: &[u8]) -> Result<Message> {
        // A private half has the hash of the public one with it.
        match self.private_bytes().and_then(hash_in) {
            Some(hash) => Message::of(hash, context),
            None => self.form()?.begin(context),
        }
    }

    /// Signs a message in a context, as [`Key::sign_mu`].
    ///
    /// # Errors
    /// As [`Key::begin`] and [`Key::sign_mu`].
    pub fn sign(&self, path: Path, message: &[u8], context: &[u8]) -> Result<Vec<u8>> {
        self.sign_by(path, || self.mu(message, context))
    }

    /// Signs what [`Message::finish`] gave, with fresh randomness (hedged). The signature is verified first: a fault in a
    /// computation with the private half could betray it.
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`]. [`Error::Randomness`]. [`Error::Failed`]: the signature is wrong.
    pub fn sign_mu(&self, path: Path, mu: &Mu) -> Result<Vec<u8>> {
        self.sign_by(path, || Ok(*mu))
    }

    fn sign_by(&self, path: Path, mu: impl Fn() -> Result<Mu>) -> Result<Vec<u8>> {
        let set = self.set();
        let across_lanes = || wide::sign(self, &mu().ok()?);
        if let Some(signature) = on_wide(path, set.signing(), across_lanes) {
            return Ok(signature);
        }
        counted::<Scalar, _>(set, set.signing(), || {
            let (mu, form) = (mu()?, self.form()?);
            let signature = form.sign_mu(&mu)?;
            match form.verify_mu(&mu, &signature) {
                true => Ok(signature),
                false => Err(Error::Failed),
            }
        })
    }

    /// Whether that is a signature of the message in that context.
    ///
    /// # Errors
    /// As [`Key::verify_mu`].
    pub fn verify(
        &self,
        path: Path,
        message: &[u8],
        context: &[u8],
        signature: &[u8],
    ) -> Result<bool> {
        self.verify_by(path, || self.mu(message, context), signature)
    }

    /// Whether that is a signature of what [`Message::finish`] gave.
    ///
    /// # Errors
    /// [`Error::Resource`]
    pub fn verify_mu(&self, path: Path, mu: &Mu, signature: &[u8]) -> Result<bool> {
        self.verify_by(path, || Ok(*mu), signature)
    }

    fn verify_by(&self, path: Path, mu: impl Fn() -> Result<Mu>, signature: &[u8]) -> Result<bool> {
        let set = self.set();
        let across_lanes = || wide::verify(self, &mu().ok()?, signature);
        if let Some(valid) = on_wide(path, set.verification(), across_lanes) {
            return Ok(valid);
        }
        counted::<Scalar, _>(set, set.verification(), || {
            Ok(self.form()?.verify_mu(&mu()?, signature))
        })
    }

    fn mu(&self, bytes: &[u8], context: &[u8]) -> Result<Mu> {
        let mut message = self.begin(context)?;
        message.update(bytes)?;
        message.finish()
    }
}

/// The hash of the public half, which follows ρ and K in a private one.
fn hash_in(private: &[u8]) -> Option<&[u8; MU]> {
    private.get(2 * SEED..)?.first_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [Path; 2] = [Path::Scalar, Path::Wide];

    #[test]
    fn what_one_half_signs_the_other_verifies_in_the_same_context_alone() {
        for (set, path) in Set::ALL
            .into_iter()
            .flat_map(|set| PATHS.map(|path| (set, path)))
        {
            let key = generate(set, path).expect("there is randomness");
            let public = key.to_public();
            let signature = key.sign(path, b"message", b"context").expect("it works");
            assert_eq!(signature.len(), set.signature_length());
            let verify = |message: &[u8], context: &[u8], signature: &[u8]| {
                public.verify(path, message, context, signature)
            };
            assert_eq!(verify(b"message", b"context", &signature), Ok(true));
            assert_eq!(verify(b"message", b"", &signature), Ok(false));
            assert_eq!(verify(b"other", b"context", &signature), Ok(false));
            assert_eq!(verify(b"message", b"context", &signature[1..]), Ok(false));
            let mut changed = signature.clone();
            changed[99] ^= 1;
            assert_eq!(verify(b"message", b"context", &changed), Ok(false));
            assert_eq!(public.sign(path, b"message", b""), Err(Error::NoPrivateKey));
            let mut parts = key.begin(b"context").expect("it is short");
            parts.update(b"mess").expect("it works");
            let copy = parts.duplicate().expect("there is memory");
            for mut parts in [parts, copy] {
                parts.update(b"age").expect("it works");
                let mu = parts.finish().expect("it works");
                assert_eq!(public.verify_mu(path, &mu, &signature), Ok(true));
                let again = key.sign_mu(path, &mu).expect("it works");
                assert_eq!(verify(b"message", b"context", &again), Ok(true));
            }
            let long = [0; MAX_CONTEXT + 1];
            assert_eq!(key.sign(path, b"message", &long), Err(Error::InvalidInput));
            let verified = key.verify(path, b"message", &long, &signature);
            assert_eq!(verified, Err(Error::InvalidInput));
        }
    }

    /// Where there are no lanes, path `wide` is path `scalar`; with the feature `emulated-lanes` they are there.
    #[test]
    fn each_path_takes_what_the_other_makes() {
        assert!(has_lanes() || !cfg!(feature = "emulated-lanes"));
        for set in Set::ALL {
            let mut seed = SecretBytes::zeros(SEED);
            randomise(&mut seed).expect("there is randomness");
            let keys = PATHS.map(|path| seeded(set, path, seed.clone()).expect("a key"));
            let [one, other] = &keys;
            assert_eq!(one.public_bytes(), other.public_bytes());
            assert!(one.private_bytes() == other.private_bytes() && one.seed() == other.seed());
            // The hash that a private half has is that of the public one.
            let mu = one.mu(b"message", b"context");
            assert_eq!(mu, one.to_public().mu(b"message", b"context"));
            let mu = mu.expect("it is short");
            for (key, path) in keys.iter().zip(PATHS).chain(keys.iter().rev().zip(PATHS)) {
                let signature = key.sign_mu(path, &mu).expect("it works");
                for path in PATHS {
                    assert_eq!(one.to_public().verify_mu(path, &mu, &signature), Ok(true));
                    let other = one.verify_mu(path, &[0; MU], &signature);
                    assert_eq!(other, Ok(false));
                }
            }
        }
    }

    #[test]
    fn a_private_half_is_checked_and_gives_the_public_one() {
        for set in Set::ALL {
            let key = generate(set, Path::Scalar).expect("there is randomness");
            let whole = key.private_bytes().expect("both halves");
            let again = Key::private(set, whole).expect("it is whole");
            assert_eq!(again.public_bytes(), key.public_bytes());
            assert!(Key::private(set, &whole[1..]).is_err());
            // The hash of the public half follows rho and K.
            let mut bytes = whole.to_vec();
            bytes[64] ^= 1;
            assert!(Key::private(set, &bytes).is_err());
            assert!(Key::public(set, &key.public_bytes()[1..]).is_err());
        }
    }
}
