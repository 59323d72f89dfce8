//! Sixteen bytes, which go to a register and to memory at once: a processor waits where what it loads was stored in parts.
//! So nothing here is a call, which would pass blocks through memory.

use core::arch::x86_64::*;
use core::ops::{BitXor, BitXorAssign};

/// Instructions that every x86-64 processor has.
macro_rules! sse2 {
    ($instructions:expr) => {
        // SAFETY: it has SSE2.
        unsafe { $instructions }
    };
}

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;

/// A block, in the order of its bytes unless said otherwise.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Block(pub(crate) __m128i);

impl Block {
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Self(sse2!(_mm_setzero_si128()))
    }

    #[inline(always)]
    pub(crate) fn new(bytes: &[u8; BLOCK]) -> Self {
        // SAFETY: 16 readable bytes.
        Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    pub(crate) fn from_integer(integer: u128) -> Self {
        let [low, high] = [integer, integer >> 64].map(|half| half as i64);
        Self(sse2!(_mm_set_epi64x(high, low)))
    }

    #[inline(always)]
    pub(crate) fn integer(self) -> u128 {
        let half = |x| u128::from(sse2!(_mm_cvtsi128_si64(x)).cast_unsigned());
        half(self.0) | half(sse2!(_mm_unpackhi_epi64(self.0, self.0))) << 64
    }

    /// The first bytes, up to 16, and zeros after them.
    #[inline(always)]
    pub(crate) fn part(bytes: &[u8]) -> Self {
        if let Some(block) = bytes.first_chunk() {
            return Self::new(block);
        }
        /// The first and the last so many bytes, which overlap.
        macro_rules! ends {
            ($number:ty) => {{
                let [first, last] = [bytes.first_chunk(), bytes.last_chunk()]
                    .map(|end| end.map_or(0, |end| u128::from(<$number>::from_le_bytes(*end))));
                first | last << (8 * (bytes.len() - size_of::<$number>()))
            }};
        }
        Self::from_integer(match bytes.len() {
            0 => 0,
            1 => bytes[0].into(),
            2..4 => ends!(u16),
            4..8 => ends!(u32),
            8.. => ends!(u64),
        })
    }

    /// Writes its first bytes, up to 16.
    #[inline(always)]
    pub(crate) fn write(self, out: &mut [u8]) {
        if let Some(block) = out.first_chunk_mut() {
            return self.store(block);
        }
        let integer = self.integer();
        macro_rules! ends {
            ($number:ty) => {{
                let last = integer >> (8 * (out.len() - size_of::<$number>()));
                if let Some(end) = out.first_chunk_mut() {
                    *end = (integer as $number).to_le_bytes();
                }
                if let Some(end) = out.last_chunk_mut() {
                    *end = (last as $number).to_le_bytes();
                }
            }};
        }
        match out.len() {
            0 => {}
            1 => out[0] = integer as u8,
            2..4 => ends!(u16),
            4..8 => ends!(u32),
            8.. => ends!(u64),
        }
    }

    #[inline(always)]
    pub(crate) fn store(self, to: &mut [u8; BLOCK]) {
        // SAFETY: 16 writable bytes.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), self.0) }
    }

    /// Its bytes, one by one.
    #[inline(always)]
    pub(crate) fn bytes(&mut self) -> &mut [u8; BLOCK] {
        // SAFETY: as large, and any bytes are a value of both.
        unsafe { &mut *(&raw mut self.0).cast() }
    }

    /// Its first `length` bytes, up to 16, and zeros after them.
    #[inline(always)]
    pub(crate) fn first(self, length: usize) -> Self {
        /// From 16 − `length` on, so many ones and then zeros.
        const ONES: [u8; 2 * BLOCK] = {
            let mut ones = [0; 2 * BLOCK];
            let mut i = 0;
            while i < BLOCK {
                ones[i] = 0xff;
                i += 1;
            }
            ones
        };
        let ones = Self::part(&ONES[BLOCK - length..]);
        Self(sse2!(_mm_and_si128(self.0, ones.0)))
    }

    /// The first 32 bits counted up.
    #[inline(always)]
    pub(crate) fn counted(self, by: i32) -> Self {
        Self(sse2!(_mm_add_epi32(self.0, _mm_setr_epi32(by, 0, 0, 0))))
    }

    /// Whether all bits are 0: it takes as long wherever one is not.
    #[inline(always)]
    pub(crate) fn is_zero(self) -> bool {
        let equal = sse2!(_mm_movemask_epi8(_mm_cmpeq_epi8(self.0, Self::zero().0)));
        core::hint::black_box(equal) == 0xffff
    }
}

impl BitXor for Block {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(sse2!(_mm_xor_si128(self.0, other.0)))
    }
}

impl BitXorAssign for Block {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_first_bytes() {
        let bytes: [u8; 20] = core::array::from_fn(|i| i as u8 + 1);
        let whole = Block::new(bytes.first_chunk().expect("16 bytes"));
        for length in 0..=BLOCK {
            let mut expected = [0; BLOCK];
            expected[..length].copy_from_slice(&bytes[..length]);
            assert_eq!(*Block::part(&bytes[..length]).bytes(), expected);
            assert_eq!(*whole.first(length).bytes(), expected);

            let mut out = [0xee; 20];
            whole.write(&mut out[..length]);
            assert_eq!(out[..length], bytes[..length]);
            assert!(out[length..].iter().all(|byte| *byte == 0xee));
        }
        assert!(Block::zero().is_zero());
        for bit in 0..128 {
            assert!(!Block::from_integer(1 << bit).is_zero());
        }
    }
}
