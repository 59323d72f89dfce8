//! ML-KEM.KeyGen_internal (FIPS 203, algorithms 13 and 16).

use super::encryption::first_half;
use crate::keccak::sponge;
use crate::ml_kem::hashes::Hashes;
use crate::ml_kem::ntt::Transform;
use crate::ml_kem::ring::{self, Dot, Forms, ZERO};
use crate::ml_kem::shorts::{Factor, multiply};
use crate::ml_kem::{BYTES, Expanded, MOST, Set, bytes, sample};
use crate::vector::shorts::{ShortKernel, Shorts};
use crate::vector::{Vector, told};
use core::cell::OnceCell;

pub(super) struct Generate<'a> {
    pub(super) set: Set,
    pub(super) d: &'a [u8; BYTES],
    pub(super) z: &'a [u8; BYTES],
    pub(super) public: &'a mut [u8],
    pub(super) private: &'a mut [u8],
    /// Filled, too, if it is there.
    pub(super) expanded: Option<&'a mut Expanded>,
}

impl ShortKernel for Generate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, S: Shorts>(self) {
        let (set, rank) = (self.set, self.set.rank());
        let (seed, rho) = (OnceCell::new(), OnceCell::new());
        let mut hashes = Hashes::<S>::new(set, &seed);
        hashes.want_g_of_seed(self.d);
        sponge::run::<V, _>(&mut hashes);
        let rho = rho.get_or_init(|| told(first_half(&hashes.g)));
        hashes.want_matrix(rho, false);
        hashes.want_noise(2 * rank);
        sponge::run::<V, _>(&mut hashes);

        let mut secret = Forms::ZERO;
        let mut polynomial = ZERO;
        for i in 0..rank {
            sample::noise::<S>(set.width(), &hashes.noise[i], &mut polynomial);
            S::call(Transform(&mut polynomial));
            secret.set::<S>(i, &polynomial);
            ring::make_canonical::<S>(&mut polynomial);
            bytes::encode::<V, S>(&polynomial, &mut self.private[384 * i..384 * (i + 1)]);
        }
        let (rows, public_seed) = self.public.split_at_mut(set.vector_bytes());
        public_seed.copy_from_slice(rho);
        let mut vector = [ZERO; MOST];
        for (i, (to, sum)) in rows.chunks_exact_mut(384).zip(&mut vector).enumerate() {
            S::call(Dot {
                a: &hashes.matrix[rank * i..rank * (i + 1)],
                b: &secret,
                sum: &mut *sum,
            });
            sample::noise::<S>(set.width(), &hashes.noise[rank + i], &mut polynomial);
            S::call(Transform(&mut polynomial));
            // The product was divided by 2^16. At most 1665 + 2690 / 39, and 2187 of the noise.
            const BACK: Factor<i16> = Factor::new(1 << 16);
            for sum in sum.iter_mut() {
                multiply(S::load(sum), BACK.splat()).store(sum);
            }
            ring::add::<S>(sum, &polynomial);
            ring::make_canonical::<S>(sum);
            bytes::encode::<V, S>(sum, to);
        }

        hashes.want_h(self.public);
        sponge::run::<V, _>(&mut hashes);
        let (_, rest) = self.private.split_at_mut(set.vector_bytes());
        let (public, rest) = rest.split_at_mut(set.encapsulation_key_bytes());
        public.copy_from_slice(self.public);
        rest[..BYTES].copy_from_slice(&hashes.h);
        rest[BYTES..].copy_from_slice(self.z);
        if let Some(expanded) = self.expanded {
            expanded.hash = hashes.h;
            let (matrix, to) = expanded.polynomials.split_at_mut(rank * rank);
            for (at, entry) in matrix.iter_mut().enumerate() {
                *entry = hashes.matrix[rank * (at % rank) + at / rank];
            }
            to.copy_from_slice(&vector[..rank]);
        }
    }
}
