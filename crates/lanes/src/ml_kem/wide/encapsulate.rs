//! ML-KEM.Encaps_internal (FIPS 203, algorithm 17), after the check of the key (section 7.2): with a key's bytes, or with a key that
//! was expanded before.

use super::encryption::{decode_all, encrypt, first_half};
use crate::Error;
use crate::keccak::sponge;
use crate::ml_kem::hashes::Hashes;
use crate::ml_kem::ring::{Polynomial, ZERO};
use crate::ml_kem::{BYTES, Expanded, MOST, Set};
use crate::vector::Vector;
use crate::vector::shorts::{ShortKernel, Shorts};
use core::cell::OnceCell;

pub(super) struct Encapsulate<'a> {
    pub(super) set: Set,
    pub(super) key: &'a [u8],
    pub(super) message: &'a [u8; BYTES],
    pub(super) ciphertext: &'a mut [u8],
    pub(super) secret: &'a mut [u8],
}

impl ShortKernel for Encapsulate<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Result<(), Error> {
        let set = self.set;
        let mut vector = [ZERO; MOST];
        let rho = read::<S>(set, self.key, &mut vector)?;
        let (seed, hash) = (OnceCell::new(), OnceCell::new());
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_h(self.key);
        hashes.want_matrix(&rho, true);
        sponge::run::<V, _>(&mut hashes);
        let hash = hash.get_or_init(|| hashes.h);
        hashes.want_g(self.message, hash);
        hashes.want_noise(2 * set.rank() + 1);
        sponge::run::<V, _>(&mut hashes);
        self.secret.copy_from_slice(&hashes.g[..BYTES]);
        let public = (&hashes.matrix[..], &vector[..]);
        encrypt::<V, S>(set, public, &hashes, self.message, self.ciphertext);
        Ok(())
    }
}

/// The numbers of a public key, and ρ.
#[inline(always)]
fn read<S: Shorts>(set: Set, key: &[u8], vector: &mut [Polynomial]) -> Result<[u8; BYTES], Error> {
    let (rows, rho) = key.split_at(set.vector_bytes());
    if !decode_all::<S>(rows, vector) {
        return Err(Error::InvalidEncapsulationKey);
    }
    Ok(first_half(rho))
}

pub(super) struct Expand<'a> {
    /// Of the set's length.
    pub(super) key: &'a [u8],
    pub(super) to: &'a mut Expanded,
}

impl ShortKernel for Expand<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Result<(), Error> {
        let set = self.to.set;
        let mut vector = [ZERO; MOST];
        let rho = read::<S>(set, self.key, &mut vector)?;
        let seed = OnceCell::new();
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_h(self.key);
        hashes.want_matrix(&rho, true);
        sponge::run::<V, _>(&mut hashes);
        let rank = set.rank();
        let (matrix, to) = self.to.polynomials.split_at_mut(rank * rank);
        matrix.copy_from_slice(&hashes.matrix[..rank * rank]);
        to.copy_from_slice(&vector[..rank]);
        self.to.hash = hashes.h;
        Ok(())
    }
}

pub(super) struct EncapsulateExpanded<'a> {
    pub(super) key: &'a Expanded,
    pub(super) message: &'a [u8; BYTES],
    pub(super) ciphertext: &'a mut [u8],
    pub(super) secret: &'a mut [u8],
}

impl ShortKernel for EncapsulateExpanded<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) {
        let set = self.key.set;
        let seed = OnceCell::new();
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_g(self.message, &self.key.hash);
        hashes.want_noise(2 * set.rank() + 1);
        sponge::run::<V, _>(&mut hashes);
        self.secret.copy_from_slice(&hashes.g[..BYTES]);
        let public = self.key.matrix_and_vector();
        encrypt::<V, S>(set, public, &hashes, self.message, self.ciphertext);
    }
}
