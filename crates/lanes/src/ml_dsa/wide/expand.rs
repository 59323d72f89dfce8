//! ExpandA, and what a verification does to a public key first (FIPS 204, algorithms 32 and 8).

use crate::Error;
use crate::ml_dsa::encoding::decode_high;
use crate::ml_dsa::hashes::{Hashes, Sampled};
use crate::ml_dsa::ntt::Transform;
use crate::ml_dsa::round::DROPPED;
use crate::ml_dsa::{BYTES, Expanded, Set};
use crate::vector::Vector;
use crate::vector::words::{WordKernel, Words};

pub(super) struct Expand<'a> {
    pub(super) set: Set,
    /// Of the set's length.
    pub(super) key: &'a [u8],
}

impl WordKernel for Expand<'_> {
    type Output = Result<Expanded, Error>;

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> Result<Expanded, Error> {
        let mut expanded = Expanded::unmade(self.set, self.key).ok_or(Error::Memory)?;
        expand::<V, W>(Hashes::new(self.set), self.key, &mut expanded);
        Ok(expanded)
    }
}

/// Makes the numbers of a public key of the set's length, and does what else is to be hashed beside them.
#[inline(always)]
pub(super) fn expand<'a, V: Vector, W: Words>(
    mut hashes: Hashes<'a, W>,
    key: &[u8],
    to: &'a mut Expanded,
) {
    let (rows, columns) = (to.set.rows(), to.set.columns());
    let (matrix, highs) = to.polynomials.split_at_mut(rows * columns);
    hashes.sampled = Some(Sampled::new(&to.seed, matrix, None));
    hashes.run::<V>();
    for (bytes, high) in key[BYTES..].chunks_exact(320).zip(highs) {
        decode_high::<W>(bytes, high);
        for number in &mut *high {
            W::load(number).shl::<DROPPED>().store(number);
        }
        W::call(Transform(high));
    }
}
