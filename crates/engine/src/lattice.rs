//! Keys of ML-KEM and of ML-DSA: two halves that are bytes, and a seed that both follow from.
//!
//! The bytes are the key. AWS-LC's form of it was there first, or is made of them when path `scalar` needs it. What path `wide` keeps
//! of the public half: `lattice/expanded.rs`.

mod expanded;
mod wide;

use std::time::Instant;

use once_cell::race::OnceBox;

use crate::card::stack;
use crate::error::{Error, Result};
use crate::scalar::SecretBytes;
use crate::{Operation, Path, ledger};

use expanded::Place;
pub use wide::has_lanes;
pub(crate) use wide::on as on_wide;

/// AWS-LC's form of a key.
pub trait Form: Sized + Send + Sync + 'static {
    /// A parameter set.
    type Set: Copy + PartialEq + Send + Sync + 'static;
    /// What the lanes keep of a public half.
    type Expanded: Send + Sync + 'static;

    /// The length of a seed, in bytes.
    const SEED: usize;

    /// The length of a private half, in bytes.
    fn private_length(set: Self::Set) -> usize;
    /// How much memory an expanded public half takes, in bytes.
    fn expanded_size(set: Self::Set) -> usize;
    /// As much stack as an operation uses at most, in bytes.
    fn stack(set: Self::Set) -> usize;

    /// Of a seed of that length.
    ///
    /// # Errors
    /// [`Error::Resource`]. [`Error::InvalidKey`]: it has another length.
    fn of_seed(set: Self::Set, seed: &[u8]) -> Result<Self>;
    /// Of a private half that comes from elsewhere: that it is whole is checked.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]. [`Error::Randomness`].
    fn of_private(set: Self::Set, bytes: &[u8]) -> Result<Self>;
    /// Of halves that are known to belong together.
    ///
    /// # Errors
    /// [`Error::Resource`]
    fn of_pair(set: Self::Set, public: &[u8], private: &[u8]) -> Result<Self>;
    /// Of a public half that is known to be one.
    ///
    /// # Errors
    /// [`Error::Resource`]
    fn of_public(set: Self::Set, bytes: &[u8]) -> Result<Self>;
    /// Whether that is a public half.
    fn is_public(set: Self::Set, bytes: &[u8]) -> bool;

    /// The public half.
    ///
    /// # Errors
    /// [`Error::Failed`]
    fn public(&self) -> Result<Box<[u8]>>;
    /// The private half, into a place of its length.
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`]
    fn private_into(&self, half: &mut [u8]) -> Result<()>;
}

/// A key: the public half, and the private one where it is known.
pub struct Key<F: Form> {
    set: F::Set,
    public: Box<[u8]>,
    private: Option<SecretBytes>,
    seed: Option<SecretBytes>,
    form: OnceBox<F>,
    expanded: Place<F::Expanded>,
}

impl<F: Form> Key<F> {
    /// The key of a seed, made on path `scalar`.
    pub(crate) fn of_seed(set: F::Set, seed: SecretBytes) -> Result<Self> {
        if seed.len() != F::SEED {
            return Err(Error::InvalidKey);
        }
        let form = F::of_seed(set, &seed)?;
        let mut private = SecretBytes::zeros(F::private_length(set));
        form.private_into(&mut private)?;
        Ok(Self {
            set,
            public: form.public()?,
            private: Some(private),
            seed: Some(seed),
            form: OnceBox::with_value(Box::new(form)),
            expanded: Place::empty(),
        })
    }

    /// A key that the lanes made of its seed, and what they know of it.
    pub(crate) fn of_halves(
        set: F::Set,
        public: Box<[u8]>,
        private: SecretBytes,
        seed: SecretBytes,
        expanded: Option<F::Expanded>,
    ) -> Self {
        Self {
            set,
            public,
            private: Some(private),
            seed: Some(seed),
            form: OnceBox::new(),
            expanded: Place::new(F::expanded_size(set), expanded),
        }
    }

    /// A public half. It is checked: ML-KEM's numbers must be reduced (FIPS 203, 7.2).
    ///
    /// # Errors
    /// [`Error::InvalidKey`]
    pub fn public(set: F::Set, bytes: &[u8]) -> Result<Self> {
        if !F::is_public(set, bytes) {
            return Err(Error::InvalidKey);
        }
        Ok(Self {
            set,
            public: bytes.into(),
            private: None,
            seed: None,
            form: OnceBox::new(),
            expanded: Place::empty(),
        })
    }

    /// A private half, which gives the public one. That it is whole is checked (FIPS 203, 7.3).
    ///
    /// # Errors
    /// [`Error::InvalidKey`]. [`Error::Randomness`].
    pub fn private(set: F::Set, bytes: &[u8]) -> Result<Self> {
        let form = on_own_stack::<F, _>(set, || F::of_private(set, bytes))?;
        Ok(Self {
            set,
            public: form.public()?,
            private: Some(bytes.into()),
            seed: None,
            form: OnceBox::with_value(Box::new(form)),
            expanded: Place::empty(),
        })
    }

    /// The parameter set.
    pub fn set(&self) -> F::Set {
        self.set
    }

    /// The bytes of the public half.
    pub fn public_bytes(&self) -> &[u8] {
        &self.public
    }

    /// The bytes of the private half; none where it is not known.
    pub fn private_bytes(&self) -> Option<&[u8]> {
        self.private.as_deref()
    }

    /// The seed that the key was made of; none where it is not known.
    pub fn seed(&self) -> Option<&[u8]> {
        self.seed.as_deref()
    }

    /// The same key without its private half.
    pub fn to_public(&self) -> Self {
        Self {
            set: self.set,
            public: self.public.clone(),
            private: None,
            seed: None,
            form: OnceBox::new(),
            expanded: Place::empty(),
        }
    }

    /// For path `wide`: what is kept from an earlier operation; the second one makes it.
    pub(crate) fn expanded(
        &self,
        make: impl FnOnce() -> Option<F::Expanded>,
    ) -> Option<&F::Expanded> {
        self.expanded.get(F::expanded_size(self.set), make)
    }

    /// For path `scalar`.
    pub(crate) fn form(&self) -> Result<&F> {
        self.form.get_or_try_init(|| {
            let form = match &self.private {
                Some(private) => F::of_pair(self.set, &self.public, private),
                None => F::of_public(self.set, &self.public),
            };
            form.map(Box::new)
        })
    }
}

/// Runs an operation on path `scalar` and counts it; one that fails, with its reason.
pub(crate) fn counted<F: Form, R>(
    set: F::Set,
    operation: Operation,
    run: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let started = Instant::now();
    let result = on_own_stack::<F, _>(set, run);
    match &result {
        Ok(_) => ledger::record(operation, Path::Scalar, 0, started.elapsed()),
        Err(error) => ledger::fall_back(operation, (*error).into()),
    }
    result
}

/// Runs what needs more stack than a job of OpenSSL's has (32 KiB, without a guard page), and clears what it used.
fn on_own_stack<F: Form, R>(set: F::Set, run: impl FnOnce() -> Result<R>) -> Result<R> {
    let cleared = || outboard_lanes::wiped(F::stack(set), run);
    stack::on_own(cleared).unwrap_or(Err(Error::Resource))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{ml_dsa, ml_kem};

    /// Between what is used and what is cleared: another compiler's frames are somewhat larger.
    const ROOM: usize = 4 << 10;

    /// What is cleared suffices, and is not much more: clearing is a good part of a short operation's time.
    fn is_cleared<F: Form>(name: &str, set: F::Set, runs: &mut [(&str, &mut dyn FnMut())]) {
        let mut most = 0;
        for (what, run) in runs {
            let used = stack::used(run);
            println!("{name} {what:12} {used:7} bytes of stack");
            most = most.max(used);
        }
        let cleared = F::stack(set);
        assert!(most + ROOM <= cleared, "{name}: {most} of {cleared}");
        assert!(cleared <= 2 * most + ROOM, "{name}: {most} of {cleared}");
    }

    #[test]
    fn ml_kem_uses_no_more_stack_than_is_cleared() {
        for set in ml_kem::Set::ALL {
            let seed = [7; ml_kem::SEED];
            let key = ml_kem::Key::from_seed(set, &seed).unwrap();
            let private = key.private_bytes().unwrap();
            let (ciphertext, _) = key.encapsulate_by(&[9; 32]).unwrap();
            let mut changed = ciphertext.clone();
            changed[0] ^= 1;
            is_cleared::<ml_kem::Key>(
                &format!("{set:?}"),
                set,
                &mut [
                    ("generate", &mut || {
                        drop(ml_kem::Key::from_seed(set, &seed).unwrap())
                    }),
                    ("read", &mut || {
                        drop(ml_kem::Key::private(set, &private).unwrap())
                    }),
                    ("encapsulate", &mut || {
                        drop(key.encapsulate_by(&[9; 32]).unwrap())
                    }),
                    ("decapsulate", &mut || {
                        drop(key.decapsulate(&ciphertext).unwrap())
                    }),
                    ("reject", &mut || drop(key.decapsulate(&changed).unwrap())),
                ],
            );
        }
    }

    #[test]
    fn ml_dsa_uses_no_more_stack_than_is_cleared() {
        for set in ml_dsa::Set::ALL {
            let seed = [7; ml_dsa::SEED];
            let key = ml_dsa::Key::from_seed(set, &seed).unwrap();
            let private = key.private_bytes().unwrap();
            let signature = key.sign(&[9; 300], &[]).unwrap();
            is_cleared::<ml_dsa::Key>(
                &format!("{set:?}"),
                set,
                &mut [
                    ("generate", &mut || {
                        drop(ml_dsa::Key::from_seed(set, &seed).unwrap())
                    }),
                    ("read", &mut || {
                        drop(ml_dsa::Key::private(set, &private).unwrap())
                    }),
                    ("sign", &mut || drop(key.sign(&[9; 300], &[]).unwrap())),
                    ("verify", &mut || {
                        assert!(key.verify(&[9; 300], &[], &signature))
                    }),
                ],
            );
        }
    }
}
