//! ML-DSA (FIPS 204): ML-DSA-44, ML-DSA-65 and ML-DSA-87, one operation across the lanes ([`wide`]).
//!
//! ```text
//! ml_dsa.rs       what a caller needs: Set, KeyPair, Expanded
//! wide.rs         key generation, signing, verification; with a key that was expanded before, or not
//! wide/           the same on vectors, one file for each
//! hashes.rs       the hashes, the matrix and the secrets, as jobs that share eight Keccak states (keccak/sponge.rs)
//! sample.rs       polynomials from random bytes
//! bytes.rs        polynomials from and to bytes
//! encoding.rs     keys, signatures and hints
//! round.rs        numbers in two parts, and hints
//! ntt.rs          the number-theoretic transform, and its tables
//! ring.rs         polynomials: sums, products
//! numbers.rs      numbers modulo 8380417 in 32 bits, 16 in a register, and what they may reach
//! ```
//!
//! What is signed is μ, 64 bytes: the caller hashes the message (FIPS 204, algorithm 7, line 6).
//!
//! # What is checked
//! A public key: its length. A private key: its length, and that the coefficients of s1 and s2 are within ±η. Whether its parts belong
//! together is not checked. A signature: its length, the norm of z, and the encoding of its hints.
//!
//! # Constant time
//! No branch and no address depends on a seed, a private key or on what masks a signature, but for what may be told:
//!
//! * The matrix comes from the public seed ρ.
//! * Which candidates are no coefficient of s1 or s2, when these are sampled: they say nothing about the others.
//! * Whether an attempt to sign is rejected: one decision for the norms of z and r0 of the whole attempt; then what follows from
//!   t0, which signatures tell anyway (FIPS 204, section 6.1). Never which coefficient was too large.
//! * The challenge of an attempt, a rejected one included: it is a hash of μ and of w1, which nobody can guess. (Section 5.5 of
//!   Dilithium's submission to NIST.)

mod bytes;
mod encoding;
mod hashes;
mod ntt;
mod numbers;
mod ring;
mod round;
mod sample;
pub mod wide;

#[cfg(test)]
mod tests;

use crate::kept::Kept;
use round::Rounding;
use zeroize::Zeroizing;

/// The modulus.
const Q: i32 = 8_380_417;

/// Coefficients of a polynomial.
const N: usize = 256;

/// The most rows of a matrix: k.
const MOST_ROWS: usize = 8;

/// The most columns of a matrix: l.
const MOST_COLUMNS: usize = 7;

/// Bytes of a seed, and of the randomness of a signature.
pub const BYTES: usize = 32;

/// Bytes of μ, and of most hashes.
pub const MU: usize = 64;

/// A parameter set (FIPS 204, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
}

impl Set {
    /// All three.
    pub const ALL: [Set; 3] = [Set::MlDsa44, Set::MlDsa65, Set::MlDsa87];

    /// Rows of the matrix: k.
    const fn rows(self) -> usize {
        match self {
            Set::MlDsa44 => 4,
            Set::MlDsa65 => 6,
            Set::MlDsa87 => 8,
        }
    }

    /// Columns of the matrix: l.
    const fn columns(self) -> usize {
        match self {
            Set::MlDsa44 => 4,
            Set::MlDsa65 => 5,
            Set::MlDsa87 => 7,
        }
    }

    /// The largest coefficient of a secret: η.
    const fn width(self) -> i32 {
        match self {
            Set::MlDsa44 | Set::MlDsa87 => 2,
            Set::MlDsa65 => 4,
        }
    }

    /// Bits of a coefficient of a secret.
    const fn secret_bits(self) -> usize {
        match self {
            Set::MlDsa44 | Set::MlDsa87 => 3,
            Set::MlDsa65 => 4,
        }
    }

    /// How many coefficients of a challenge are not 0: τ.
    const fn weight(self) -> usize {
        match self {
            Set::MlDsa44 => 39,
            Set::MlDsa65 => 49,
            Set::MlDsa87 => 60,
        }
    }

    /// The largest coefficient of a challenge times a secret: β.
    const fn slack(self) -> i32 {
        self.weight() as i32 * self.width()
    }

    /// Bits of a coefficient of a mask or of z: γ1 is one half of what they can say.
    const fn mask_bits(self) -> usize {
        match self {
            Set::MlDsa44 => 18,
            Set::MlDsa65 | Set::MlDsa87 => 20,
        }
    }

    /// The largest coefficient of a mask: γ1.
    const fn mask(self) -> i32 {
        1 << (self.mask_bits() - 1)
    }

    const fn rounding(self) -> Rounding {
        match self {
            Set::MlDsa44 => Rounding::By88,
            Set::MlDsa65 | Set::MlDsa87 => Rounding::By32,
        }
    }

    /// Bits of a coefficient of w1.
    const fn commitment_bits(self) -> usize {
        match self {
            Set::MlDsa44 => 6,
            Set::MlDsa65 | Set::MlDsa87 => 4,
        }
    }

    /// The most hints: ω.
    const fn hints(self) -> usize {
        match self {
            Set::MlDsa44 => 80,
            Set::MlDsa65 => 55,
            Set::MlDsa87 => 75,
        }
    }

    /// Bytes of the hash that a challenge is made of: λ / 4.
    const fn challenge_bytes(self) -> usize {
        match self {
            Set::MlDsa44 => 32,
            Set::MlDsa65 => 48,
            Set::MlDsa87 => 64,
        }
    }

    /// Bytes of w1.
    const fn commitment_bytes(self) -> usize {
        32 * self.commitment_bits() * self.rows()
    }

    /// Bytes of z.
    const fn response_bytes(self) -> usize {
        32 * self.mask_bits() * self.columns()
    }

    /// Bytes of a public key.
    pub const fn public_key_bytes(self) -> usize {
        BYTES + 320 * self.rows()
    }

    /// Bytes of a private key.
    pub const fn private_key_bytes(self) -> usize {
        let secrets = 32 * self.secret_bits() * (self.rows() + self.columns());
        2 * BYTES + MU + secrets + 32 * round::DROPPED as usize * self.rows()
    }

    /// Bytes of a signature.
    pub const fn signature_bytes(self) -> usize {
        self.challenge_bytes() + self.response_bytes() + self.hints() + self.rows()
    }
}

/// A secret of this crate, wiped when dropped. On the heap, so that moving it leaves no copy behind.
pub type Secret = Zeroizing<Vec<u8>>;

/// A public key, and the private key that belongs to it: in FIPS 204's encoding.
pub struct KeyPair {
    /// pk = ρ, t1.
    pub public_key: Vec<u8>,
    /// sk = ρ, K, tr, s1, s2, t0.
    pub private_key: Secret,
}

/// A public key with what follows from it: the matrix, and its vector, transformed. With these at hand, a verification takes a third of
/// the time, and a signature less ([`wide`]). Nothing of it is secret.
pub struct Expanded {
    set: Set,
    /// ρ.
    seed: [u8; BYTES],
    /// The matrix, row by row; then t1 times 2^d, transformed.
    polynomials: Kept<{ ring::VECTORS }>,
}

impl Expanded {
    /// Without its numbers. None where there is no memory.
    fn unmade(set: Set, key: &[u8]) -> Option<Self> {
        let (rows, columns) = (set.rows(), set.columns());
        Some(Expanded {
            set,
            seed: core::array::from_fn(|i| key[i]),
            polynomials: Kept::zeros(rows * (columns + 1))?,
        })
    }

    /// Bytes that one takes.
    pub const fn size(set: Set) -> usize {
        let polynomials = set.rows() * (set.columns() + 1);
        size_of::<Self>() + polynomials * size_of::<ring::Polynomial>()
    }

    fn matrix_and_vector(&self) -> (&[ring::Polynomial], &[ring::Polynomial]) {
        self.polynomials
            .split_at(self.set.rows() * self.set.columns())
    }
}
