//! ML-KEM (FIPS 203): ML-KEM-512, ML-KEM-768 and ML-KEM-1024, one operation across the lanes ([`wide`]).
//!
//! ```text
//! ml_kem.rs       what a caller needs: Set, KeyPair, Expanded, Encapsulation
//! wide.rs         key generation, encapsulation, decapsulation; with a key that was expanded before, or not
//! wide/           the same on vectors, one file for each, and the encryption that they share
//! hashes.rs       the hashes, the matrix and the noise, as jobs that share eight Keccak states (keccak/sponge.rs)
//! sample.rs       polynomials from random bytes
//! bytes.rs        polynomials from and to bytes, compressed and not
//! ntt.rs          the number-theoretic transform, and its tables
//! ring.rs         polynomials: sums, products
//! shorts.rs       numbers modulo 3329 in 16 bits, 32 in a register, and what they may reach
//! ```
//!
//! # What is checked
//! A public key: its length, and that it encodes numbers below q (FIPS 203, section 7.2). A private key: its length, and the hash of
//! the public key in it (section 7.3). A ciphertext: its length. A ciphertext that nobody encapsulated gives a secret that nobody
//! else can know, in the same time (implicit rejection).
//!
//! # Constant time
//! No branch and no address depends on a seed, a private key or a shared secret. The matrix comes from the public seed ρ, and how many
//! blocks that takes depends on ρ. The saved states of the public matrix lie beside secret ones in the same registers: all is wiped.

mod bytes;
mod hashes;
mod ntt;
mod ring;
mod sample;
mod shorts;
pub mod wide;

#[cfg(test)]
mod tests;

use crate::kept::Kept;
use zeroize::Zeroizing;

/// The modulus.
const Q: i16 = 3329;

/// Coefficients of a polynomial.
const N: usize = 256;

/// The largest rank k of a parameter set.
const MOST: usize = 4;

/// Bytes of a seed, a hash, a message or a shared secret.
pub const BYTES: usize = 32;

/// A parameter set (FIPS 203, section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// ML-KEM-512.
    MlKem512,
    /// ML-KEM-768.
    MlKem768,
    /// ML-KEM-1024.
    MlKem1024,
}

impl Set {
    /// All three.
    pub const ALL: [Set; 3] = [Set::MlKem512, Set::MlKem768, Set::MlKem1024];

    /// Polynomials in a vector: k.
    const fn rank(self) -> usize {
        match self {
            Set::MlKem512 => 2,
            Set::MlKem768 => 3,
            Set::MlKem1024 => 4,
        }
    }

    /// The width of the secrets' noise: η1. (η2 is 2.)
    const fn width(self) -> usize {
        match self {
            Set::MlKem512 => 3,
            Set::MlKem768 | Set::MlKem1024 => 2,
        }
    }

    /// Bits of a compressed coefficient of u, and of v.
    const fn bits(self) -> (usize, usize) {
        match self {
            Set::MlKem512 | Set::MlKem768 => (10, 4),
            Set::MlKem1024 => (11, 5),
        }
    }

    /// Bytes of a public key.
    pub const fn encapsulation_key_bytes(self) -> usize {
        self.vector_bytes() + BYTES
    }

    /// Bytes of a private key.
    pub const fn decapsulation_key_bytes(self) -> usize {
        2 * self.vector_bytes() + 3 * BYTES
    }

    /// Bytes of a ciphertext.
    pub const fn ciphertext_bytes(self) -> usize {
        let (u, v) = self.bits();
        32 * (u * self.rank() + v)
    }

    /// Bytes of a vector of polynomials, 12 bits a coefficient.
    const fn vector_bytes(self) -> usize {
        384 * self.rank()
    }
}

/// A secret of this crate, wiped when dropped. On the heap, so that moving it leaves no copy behind.
pub type Secret = Zeroizing<Vec<u8>>;

/// A public key, and the private key that belongs to it: in FIPS 203's encoding.
pub struct KeyPair {
    /// ek.
    pub encapsulation_key: Vec<u8>,
    /// dk = s, ek, H(ek), z.
    pub decapsulation_key: Secret,
    /// What the next operations with this key need not do again. None where there is no memory for it.
    pub expanded: Option<Expanded>,
}

/// A public key with what follows from it: its numbers, the matrix, and its hash. With these at hand, an encapsulation takes half of
/// the time, a decapsulation two thirds ([`wide`]). Nothing of it is secret.
pub struct Expanded {
    set: Set,
    hash: [u8; BYTES],
    /// The transposed matrix, row by row; then the key's vector.
    polynomials: Kept<{ ring::VECTORS }>,
}

impl Expanded {
    /// Without its numbers. None where there is no memory.
    fn unmade(set: Set) -> Option<Self> {
        let rank = set.rank();
        Some(Expanded {
            set,
            hash: [0; BYTES],
            polynomials: Kept::zeros(rank * (rank + 1))?,
        })
    }

    /// Bytes that one takes.
    pub const fn size(set: Set) -> usize {
        let rank = set.rank();
        size_of::<Self>() + rank * (rank + 1) * size_of::<ring::Polynomial>()
    }

    fn matrix_and_vector(&self) -> (&[ring::Polynomial], &[ring::Polynomial]) {
        let rank = self.set.rank();
        self.polynomials.split_at(rank * rank)
    }
}

/// What an encapsulation gives.
pub struct Encapsulation {
    /// For the owner of the private key.
    pub ciphertext: Vec<u8>,
    /// What both share: 32 bytes.
    pub secret: Secret,
}
