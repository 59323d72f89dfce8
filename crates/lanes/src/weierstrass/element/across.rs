//! Numbers that meet across the lanes: for one operation that has its numbers in all of them.
//!
//! Bounds are those of all lanes together.

use super::{Element, Sum};
use crate::vector::unroll;
use crate::vector::{Digit, Mask, Vector};
use crate::weierstrass::modulus::Modulus;

impl<V: Vector, M: Modulus<N>, const N: usize> Element<V, M, N> {
    /// Each lane: the number of the lane that `from` names.
    #[inline(always)]
    pub(crate) fn permute(self, from: V) -> Self {
        let mut out = self.0;
        unroll!(I < N => { out[I] = self.0[I].permute(from); });
        Element(out, self.1)
    }
}

impl<V: Vector, M: Modulus<N>, const N: usize> Sum<V, M, N> {
    /// Each lane: the number of the lane that `from` names.
    #[inline(always)]
    pub(crate) fn permute(self, from: &Digit) -> Self {
        let from = V::load(from);
        let mut out = self.0;
        unroll!(I < N => { out[I] = self.0[I].permute(from); });
        Sum(out, self.1)
    }

    /// The number of the lane plus that of its neighbour: lanes 0 and 1 get the sum of both, and so on.
    #[inline(always)]
    pub(crate) fn add_neighbours(self) -> Self {
        let mut out = self.0;
        unroll!(I < N => { out[I] = self.0[I].permute_halves::<0b10_11_00_01>(); });
        self + Sum(out, self.1)
    }

    /// In the lanes of the mask, the sum.
    #[inline(always)]
    pub(crate) fn add_where(self, mask: Mask, other: Self) -> Self {
        self.blend(mask, self + other)
    }

    /// In the lanes of the mask, the difference.
    #[inline(always)]
    pub(crate) fn sub_where(self, mask: Mask, other: Self) -> Self {
        self.blend(mask, self - other)
    }

    /// Each lane times a number of its own, which is between -9 and 9.
    #[inline(always)]
    pub(crate) fn times(self, numbers: &Digit) -> Self {
        let numbers = V::load(numbers);
        let mut out = self.0;
        unroll!(I < N => { out[I] = self.0[I].mul_low(numbers); });
        let zero = Self::zero().1;
        Sum(out, zero.plus(9, self.1).or(zero.plus(-9, self.1)))
    }
}
