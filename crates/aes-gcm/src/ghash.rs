//! GHASH's products (SP 800-38D, 6.4) by carry-less multiplication.
//!
//! A block is a polynomial over GF(2) whose first bit is the lowest coefficient. Read as an integer of reversed bytes, its bits are in
//! reverse order, and so are a product's, moved by one. So H is kept times x, and then the product of two such numbers of
//! 128 bits, reduced from below, is the product of the polynomials (Gueron and Kounavis, 2010).
//!
//! A sum of products is reduced once. Of two blocks at once, each product takes three multiplications of 64 bits: of both low halves, of
//! both high halves, and of the sums of both, less the two (Karatsuba).

use core::arch::x86_64::*;

use crate::block::Block;

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
    let polynomial = _mm_set_epi64x(0, 0xc2 << 56);
    let fold = |low: __m128i, next: __m128i| {
        let times = _mm_clmulepi64_si128::<0x00>(low, polynomial);
        let swapped = _mm_shuffle_epi32::<0b01_00_11_10>(low);
        _mm_xor_si128(next, _mm_xor_si128(swapped, times))
    };
    fold(fold(low, middle), high)
}

/// Both halves of each place added.
#[inline]
#[target_feature(enable = "avx2")]
fn folded(x: __m256i) -> __m128i {
    _mm_xor_si128(_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x))
}

/// A sum, and one product of two blocks at once more: as the key has the powers and their halves.
#[inline]
#[target_feature(enable = "vpclmulqdq,avx2")]
pub(crate) fn with_product(
    sums: Sums<__m256i>,
    pair: __m256i,
    [powers, halves]: [__m256i; 2],
) -> Sums<__m256i> {
    let mixed = _mm256_xor_si256(pair, _mm256_shuffle_epi32::<0b01_00_11_10>(pair));
    [
        _mm256_xor_si256(sums[0], _mm256_clmulepi64_epi128::<0x00>(pair, powers)),
        _mm256_xor_si256(sums[1], _mm256_clmulepi64_epi128::<0x00>(mixed, halves)),
        _mm256_xor_si256(sums[2], _mm256_clmulepi64_epi128::<0x11>(pair, powers)),
    ]
}

/// The sum as a block.
#[inline]
#[target_feature(enable = "pclmulqdq,avx2")]
pub(crate) fn reduced_pairs([low, middle, high]: Sums<__m256i>) -> __m128i {
    let middle = _mm256_xor_si256(middle, _mm256_xor_si256(low, high));
    reduced([folded(low), folded(middle), folded(high)])
}

/// Two blocks, with their bytes in reverse order.
///
/// # Safety
/// They can be read.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn two_reversed(blocks: *const u8) -> __m256i {
    // SAFETY: by the caller's word.
    let pair = unsafe { _mm256_loadu_si256(blocks.cast()) };
    _mm256_shuffle_epi8(pair, _mm256_broadcastsi128_si256(reversal()))
}
