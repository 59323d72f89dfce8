//! GHASH's products (SP 800-38D, 6.4) by carry-less multiplication.
//!
//! A block is a polynomial over GF(2) whose first bit is the lowest coefficient. Read as an integer of reversed bytes, its bits are in
//! reverse order, and so are a product's, moved by one. So H is kept times x, and then the product of two such numbers of
//! 128 bits, reduced from below, is the product of the polynomials (Gueron and Kounavis, 2010).
//!
//! A sum of products is reduced once. Of several blocks at once, each product takes three multiplications of 64 bits: of both low
//! halves, of both high halves, and of the sums of both, less the two (Karatsuba).

use core::arch::x86_64::*;

use crate::block::Block;
use crate::vector::Vector;

impl Block {
    /// The bytes in reverse order.
    #[inline]
    #[target_feature(enable = "ssse3")]
    pub(crate) fn reversed(self) -> Self {
        Self(_mm_shuffle_epi8(self.0, reversal()))
    }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn reversal() -> __m128i {
    _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
}

/// What the sum of products is reduced by: x^127 + x^126 + x^121, in the order of the bits.
#[inline]
#[target_feature(enable = "sse2")]
fn polynomial() -> Block {
    Block(_mm_set_epi64x(0, 0xc2 << 56))
}

/// The sum of products: low, middle and high.
pub(crate) type Sums<V> = [V; 3];

#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(crate) fn product(a: __m128i, b: Block) -> __m128i {
    reduced(multiplied(a, b))
}

#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(crate) fn multiplied(a: __m128i, Block(b): Block) -> Sums<__m128i> {
    [
        _mm_clmulepi64_si128::<0x00>(a, b),
        _mm_xor_si128(
            _mm_clmulepi64_si128::<0x01>(a, b),
            _mm_clmulepi64_si128::<0x10>(a, b),
        ),
        _mm_clmulepi64_si128::<0x11>(a, b),
    ]
}

/// Modulo x^128 + x^127 + x^126 + x^121 + 1, from below: 64 bits a step.
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(crate) fn reduced([low, middle, high]: Sums<__m128i>) -> __m128i {
    let fold = |low: __m128i, next: __m128i| {
        let times = _mm_clmulepi64_si128::<0x00>(low, polynomial().0);
        let swapped = _mm_shuffle_epi32::<0b01_00_11_10>(low);
        _mm_xor_si128(next, _mm_xor_si128(swapped, times))
    };
    fold(fold(low, middle), high)
}

/// A sum, and the products of as many more blocks: with powers and their halves' sums, as the key has them.
#[inline(always)]
pub(crate) fn with_product<V: Vector>(
    sums: Sums<V>,
    blocks: V,
    [powers, halves]: [V; 2],
) -> Sums<V> {
    let mixed = blocks.xor(blocks.swapped());
    [
        sums[0].xor(blocks.low(powers)),
        sums[1].xor(mixed.low(halves)),
        sums[2].xor(blocks.high(powers)),
    ]
}

/// Each place's sum, reduced.
#[inline(always)]
pub(crate) fn reduced_at_places<V: Vector>([low, middle, high]: Sums<V>) -> V {
    // SAFETY: every processor has it.
    let polynomial = V::everywhere(unsafe { polynomial() });
    let middle = middle.xor3(low, high);
    let middle = middle.xor3(low.swapped(), low.low(polynomial));
    high.xor3(middle.swapped(), middle.low(polynomial))
}

/// The sum of all places, reduced.
#[inline(always)]
pub(crate) fn reduced_sum<V: Vector>([low, middle, high]: Sums<V>) -> Block {
    let middle = middle.xor3(low, high);
    // SAFETY: the processor has it: see `Vector`.
    Block(unsafe { reduced([low.sum().0, middle.sum().0, high.sum().0]) })
}
