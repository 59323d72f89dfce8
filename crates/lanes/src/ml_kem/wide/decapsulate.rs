//! ML-KEM.Decaps_internal (FIPS 203, algorithm 18), after the check of the key (section 7.3).

use super::encryption::{decode_all, decrypt, encrypt, first_half};
use crate::Error;
use crate::keccak::sponge;
use crate::ml_kem::hashes::Hashes;
use crate::ml_kem::ring::ZERO;
use crate::ml_kem::{BYTES, Expanded, MOST, Set};
use crate::vector::shorts::{ShortKernel, Shorts};
use crate::vector::{Vector, opaque, told};
use core::cell::OnceCell;

pub(super) struct Decapsulate<'a> {
    pub(super) set: Set,
    pub(super) key: &'a [u8],
    pub(super) ciphertext: &'a [u8],
    /// The public half, if it was expanded before.
    pub(super) expanded: Option<&'a Expanded>,
    pub(super) secret: &'a mut [u8],
}

impl ShortKernel for Decapsulate<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) -> Result<(), Error> {
        let set = self.set;
        let (private, rest) = self.key.split_at(set.vector_bytes());
        let (public, rest) = rest.split_at(set.encapsulation_key_bytes());
        let (hash, z) = rest.split_at(BYTES);
        let mut message = [0; BYTES];
        decrypt::<V, S>(set, private, self.ciphertext, &mut message);

        let (rows, rho) = public.split_at(set.vector_bytes());
        let rho = first_half(rho);
        let seed = OnceCell::new();
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_g(&message, hash);
        hashes.want_j(z, self.ciphertext);
        hashes.want_noise(2 * set.rank() + 1);
        if self.expanded.is_none() {
            hashes.want_h(public);
            hashes.want_matrix(&rho, true);
        }
        sponge::run::<V, _>(&mut hashes);

        // Whether this differs, the error tells the caller.
        let right = self.expanded.map_or(&hashes.h, |expanded| &expanded.hash);
        if told(difference(right, hash)) != 0 {
            return Err(Error::InvalidDecapsulationKey);
        }
        let mut vector = [ZERO; MOST];
        let public = match self.expanded {
            Some(expanded) => expanded.matrix_and_vector(),
            None => {
                // What is not below q is the same number modulo q.
                decode_all::<S>(rows, &mut vector);
                (&hashes.matrix[..], &vector[..])
            }
        };
        let mut again = [0; Set::MlKem1024.ciphertext_bytes()];
        let again = &mut again[..set.ciphertext_bytes()];
        encrypt::<V, S>(set, public, &hashes, &message, again);
        let rejected = difference(again, self.ciphertext);
        // All ones where they differ.
        let rejected = (opaque(rejected | rejected.wrapping_neg()) >> 63).wrapping_neg() as u8;
        let accepted = &hashes.g[..BYTES];
        for (to, (k, j)) in self.secret.iter_mut().zip(accepted.iter().zip(&hashes.j)) {
            *to = k ^ (k ^ j) & rejected;
        }
        Ok(())
    }
}

/// 0 if both are equal.
#[inline(always)]
fn difference(a: &[u8], b: &[u8]) -> u64 {
    let different = a.iter().zip(b).fold(0, |any, (a, b)| any | a ^ b);
    opaque(u64::from(different))
}
