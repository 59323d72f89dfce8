//! ML-KEM (FIPS 203): secrets that are encapsulated for a key.

use std::ptr;

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::owned::Owned;
use super::randomness::drawing;
use super::{check, randomise, raw_key};
use crate::error::{Error, Result};
use crate::fork;

/// The length of a seed, in bytes: d, then z (FIPS 203, 7.1).
pub const SEED: usize = 64;
/// The length of a shared secret, in bytes.
pub const SECRET: usize = 32;

/// A shared secret.
pub type Secret = Zeroizing<[u8; SECRET]>;

/// A parameter set (FIPS 203, 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// ML-KEM-512.
    MlKem512,
    /// ML-KEM-768.
    MlKem768,
    /// ML-KEM-1024.
    MlKem1024,
}

impl Set {
    fn nid(self) -> i32 {
        match self {
            Self::MlKem512 => lc::NID_MLKEM512,
            Self::MlKem768 => lc::NID_MLKEM768,
            Self::MlKem1024 => lc::NID_MLKEM1024,
        }
    }

    /// The length of a public half, in bytes.
    pub const fn public_length(self) -> usize {
        match self {
            Self::MlKem512 => 800,
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
        }
    }

    /// The length of a private half, in bytes.
    pub const fn private_length(self) -> usize {
        2 * self.public_length() + 32
    }

    /// The length of a ciphertext, in bytes.
    pub const fn ciphertext_length(self) -> usize {
        match self {
            Self::MlKem512 => 768,
            Self::MlKem768 => 1088,
            Self::MlKem1024 => 1568,
        }
    }

    /// As much stack as an operation uses at most, in bytes, with room to spare: `lattice.rs` has a test that compares.
    pub(crate) const fn stack(self) -> usize {
        let kib = match self {
            Self::MlKem512 => 28,
            Self::MlKem768 => 40,
            Self::MlKem1024 => 48,
        };
        kib << 10
    }

    /// Whether that is a public half: its length, and that its numbers are reduced (7.2).
    pub(crate) fn is_public(self, bytes: &[u8]) -> bool {
        // The last 32 bytes are the seed of the matrix.
        bytes.len() == self.public_length() && are_reduced(&bytes[..bytes.len() - 32])
    }
}

/// The modulus (FIPS 203, 2.4).
const MODULUS: u16 = 3329;

/// Whether all numbers of a half are below the modulus (FIPS 203, 7.2); two numbers take three bytes. Of a private half,
/// too: no number decides a branch.
fn are_reduced(numbers: &[u8]) -> bool {
    let (triples, _) = numbers.as_chunks::<3>();
    let mut beyond = 0;
    for &[low, middle, high] in triples {
        let first = u16::from(low) | u16::from(middle & 0x0f) << 8;
        let second = u16::from(middle >> 4) | u16::from(high) << 4;
        // A difference below zero has the highest bit.
        beyond |= (MODULUS - 1).wrapping_sub(first) | (MODULUS - 1).wrapping_sub(second);
    }
    beyond >> 15 == 0
}

/// A key, either half.
pub struct Key {
    key: Owned<lc::EVP_PKEY>,
    set: Set,
}

impl Key {
    /// The key of a seed.
    ///
    /// # Errors
    /// [`Error::Resource`].
    pub fn from_seed(set: Set, seed: &[u8; SEED]) -> Result<Self> {
        fork::ready();
        let mut key = ptr::null_mut();
        let mut length = SEED;
        // SAFETY: a new context of a known kind, a seed of that length, and a key that it makes.
        let key = unsafe {
            let context = lc::EVP_PKEY_CTX_new_id(lc::EVP_PKEY_KEM, ptr::null_mut());
            let context = Owned::new(context, Error::Resource)?;
            let context = context.as_ptr();
            let answer = lc::EVP_PKEY_CTX_kem_set_params(context, set.nid());
            check(answer, Error::Resource)?;
            check(lc::EVP_PKEY_keygen_init(context), Error::Resource)?;
            let answer = lc::EVP_PKEY_keygen_deterministic(
                context,
                &raw mut key,
                seed.as_ptr(),
                &raw mut length,
            );
            check(answer, Error::Resource)?;
            Owned::new(key, Error::Resource)?
        };
        Ok(Self { key, set })
    }

    /// A private half (FIPS 203's decapsulation key). That it is whole is checked (7.3).
    ///
    /// # Errors
    /// [`Error::InvalidKey`]. [`Error::Randomness`].
    pub fn private(set: Set, bytes: &[u8]) -> Result<Self> {
        if bytes.len() != set.private_length() {
            return Err(Error::InvalidKey);
        }
        // It ends with the public half, that one's hash, and z.
        let end = bytes.len() - 64;
        let (own, public) = bytes[..end].split_at(end - set.public_length());
        if !are_reduced(own) {
            return Err(Error::InvalidKey);
        }
        let _whole = drawing()?;
        let key = Self::pair(set, public, bytes)?;
        // SAFETY: a live key with both halves.
        let answer = unsafe { lc::EVP_PKEY_kem_check_key(key.key.as_ptr()) };
        check(answer, Error::InvalidKey)?;
        Ok(key)
    }

    /// Halves that are known to belong together.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]: they have another length.
    pub(crate) fn pair(set: Set, public: &[u8], private: &[u8]) -> Result<Self> {
        fork::ready();
        // SAFETY: reads as many bytes as there are.
        let key = unsafe {
            let key = lc::EVP_PKEY_kem_new_raw_key(
                set.nid(),
                public.as_ptr(),
                public.len(),
                private.as_ptr(),
                private.len(),
            );
            Owned::new(key, Error::InvalidKey)?
        };
        Ok(Self { key, set })
    }

    /// A public half (FIPS 203's encapsulation key). That its numbers are reduced is checked (7.2).
    ///
    /// # Errors
    /// [`Error::InvalidKey`]
    pub fn public(set: Set, bytes: &[u8]) -> Result<Self> {
        match set.is_public(bytes) {
            true => Self::known_public(set, bytes),
            false => Err(Error::InvalidKey),
        }
    }

    /// What is known to be a public half.
    pub(crate) fn known_public(set: Set, bytes: &[u8]) -> Result<Self> {
        fork::ready();
        // SAFETY: reads as many bytes as there are.
        let key = unsafe {
            let key = lc::EVP_PKEY_kem_new_raw_public_key(set.nid(), bytes.as_ptr(), bytes.len());
            Owned::new(key, Error::InvalidKey)?
        };
        Ok(Self { key, set })
    }

    /// The parameter set.
    pub fn set(&self) -> Set {
        self.set
    }

    /// The bytes of the public half.
    pub fn public_bytes(&self) -> Result<Vec<u8>> {
        raw_key::public(&self.key, self.set.public_length())
    }

    /// The bytes of the private half.
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`]
    pub fn private_bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        raw_key::private(&self.key, self.set.private_length())
    }

    /// The same, into a place of that length.
    pub(crate) fn private_into(&self, half: &mut [u8]) -> Result<()> {
        raw_key::private_into(&self.key, half)
    }

    /// A new secret, with the ciphertext that tells it to the private half.
    ///
    /// # Errors
    /// [`Error::Randomness`]
    pub fn encapsulate(&self) -> Result<(Vec<u8>, Secret)> {
        let mut message = Zeroizing::new([0; SECRET]);
        randomise(&mut *message)?;
        self.encapsulate_by(&message)
    }

    /// The same by that randomness (FIPS 203, 6.2), for vectors.
    ///
    /// # Errors
    /// [`Error::Failed`]
    pub fn encapsulate_by(&self, message: &[u8; SECRET]) -> Result<(Vec<u8>, Secret)> {
        let mut ciphertext = vec![0; self.set.ciphertext_length()];
        let mut secret = Secret::default();
        let (mut written, mut length, mut given) = (ciphertext.len(), SECRET, SECRET);
        let context = self.context()?;
        // SAFETY: a live context; as much room and randomness as is said.
        let answer = unsafe {
            lc::EVP_PKEY_encapsulate_deterministic(
                context.as_ptr(),
                ciphertext.as_mut_ptr(),
                &raw mut written,
                secret.as_mut_ptr(),
                &raw mut length,
                message.as_ptr(),
                &raw mut given,
            )
        };
        check(answer, Error::Failed)?;
        Ok((ciphertext, secret))
    }

    /// The secret of a ciphertext; of one that nobody made for this key, another secret.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: it is not as long as a ciphertext. [`Error::NoPrivateKey`].
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<Secret> {
        if ciphertext.len() != self.set.ciphertext_length() {
            return Err(Error::InvalidInput);
        }
        let mut secret = Secret::default();
        let mut length = SECRET;
        let context = self.context()?;
        // SAFETY: a live context; as much room as is said; reads as many bytes as there are.
        let answer = unsafe {
            lc::EVP_PKEY_decapsulate(
                context.as_ptr(),
                secret.as_mut_ptr(),
                &raw mut length,
                ciphertext.as_ptr(),
                ciphertext.len(),
            )
        };
        check(answer, Error::NoPrivateKey)?;
        Ok(secret)
    }

    fn context(&self) -> Result<Owned<lc::EVP_PKEY_CTX>> {
        fork::ready();
        // SAFETY: a live key.
        unsafe {
            let context = lc::EVP_PKEY_CTX_new(self.key.as_ptr(), ptr::null_mut());
            Owned::new(context, Error::Resource)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same key with a number that is larger by the modulus: AWS-LC takes it, and other libraries do not.
    #[test]
    fn numbers_of_a_private_half_are_reduced() {
        for set in [Set::MlKem512, Set::MlKem768, Set::MlKem1024] {
            let key = Key::from_seed(set, &[7; SEED]).expect("a seed");
            let mut bytes = key.private_bytes().expect("it has one");
            assert!(Key::private(set, &bytes).is_ok());
            let (triples, _) = bytes.as_chunks_mut::<3>();
            let small = triples.iter_mut().find_map(|[low, middle, _]| {
                let number = u16::from(*low) | u16::from(*middle & 0x0f) << 8;
                (number + MODULUS < 1 << 12).then_some((number + MODULUS, low, middle))
            });
            let (larger, low, middle) = small.expect("one number in four is so small");
            [*low, *middle] = [larger as u8, *middle & 0xf0 | (larger >> 8) as u8];
            assert!(Key::private(set, &bytes).is_err());
        }
    }
}
