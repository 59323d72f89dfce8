//! Registers of two blocks and of four: what the steps are written in, once for both.
//!
//! Everything generic over [`Vector`] is `#[inline(always)]`, and ends in a function that enables the instructions (`kernel.rs`). What is
//! not inlined would be compiled without them, slow, with each vector passed through memory. A closure is such a function.

use crate::block::Block;
use crate::ghash::reversal;
use core::arch::x86_64::*;

/// Blocks in a register, at places of their own.
///
/// Invariant: it is in use only below a function that enables its instructions, on a processor that has them.
pub(crate) trait Vector: Copy {
    /// How many blocks.
    const BLOCKS: usize;
    /// Whether there are enough registers to make products between the rounds, and to keep round keys and powers at hand.
    const HAS_ROOM: bool;

    /// From any address.
    ///
    /// # Safety
    /// `BLOCKS` blocks can be read there.
    unsafe fn load(from: *const u8) -> Self;
    /// To any address.
    ///
    /// # Safety
    /// `BLOCKS` blocks can be written there.
    unsafe fn store(self, to: *mut u8);

    /// A block at the first place, and zeros.
    fn first(block: Block) -> Self;
    /// A block at each place.
    fn everywhere(block: Block) -> Self;
    /// What makes each place's counter of the first one's: 0, 1, and so on.
    fn places() -> Self;
    /// The block at the first place.
    fn block(self) -> Block;
    /// The sum of all blocks.
    fn sum(self) -> Block;

    fn xor(self, other: Self) -> Self;
    /// Three, added.
    fn xor3(self, b: Self, c: Self) -> Self;
    /// 32 bits each.
    fn add(self, other: Self) -> Self;
    /// Each block's bytes in reverse order.
    fn reversed(self) -> Self;
    /// Each block's halves in reverse order.
    fn swapped(self) -> Self;
    fn round(self, key: Self) -> Self;
    fn last_round(self, key: Self) -> Self;
    /// The products of the low halves.
    fn low(self, other: Self) -> Self;
    /// The products of the high halves.
    fn high(self, other: Self) -> Self;

    #[inline(always)]
    fn zero() -> Self {
        Self::first(Block::zero())
    }
}

/// Wraps an intrinsic that has no precondition but the processor's features.
macro_rules! instruction {
    ($e:expr) => {
        // SAFETY: the processor has it, by the trait's invariant.
        unsafe { $e }
    };
}

macro_rules! vector {
    (
        $(#[$about:meta])* $name:ident($register:ty), $blocks:literal, $has_room:literal;
        $store:ident, $first:ident, $everywhere:ident, $block:ident, $xor:ident, $add:ident,
        $shuffle:ident, $swap:ident, $round:ident, $last_round:ident, $multiply:ident;
        $($rest:tt)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name($register);

        impl Vector for $name {
            const BLOCKS: usize = $blocks;
            const HAS_ROOM: bool = $has_room;

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                /// At any address. (The intrinsic would copy it to the stack in a build that checks pointers.)
                #[repr(C, packed)]
                struct Anywhere($register);
                // SAFETY: by the caller's word; any bytes are a value.
                Self(unsafe { (*from.cast::<Anywhere>()).0 })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: by the caller's word.
                unsafe { $store(to.cast(), self.0) }
            }

            #[inline(always)]
            fn first(block: Block) -> Self {
                Self(instruction!($first(block.0)))
            }

            #[inline(always)]
            fn everywhere(block: Block) -> Self {
                Self(instruction!($everywhere(block.0)))
            }

            #[inline(always)]
            fn block(self) -> Block {
                Block(instruction!($block(self.0)))
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                Self(instruction!($xor(self.0, other.0)))
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self(instruction!($add(self.0, other.0)))
            }

            #[inline(always)]
            fn reversed(self) -> Self {
                Self(instruction!($shuffle(self.0, $everywhere(reversal()))))
            }

            #[inline(always)]
            fn swapped(self) -> Self {
                Self(instruction!($swap::<0b01_00_11_10>(self.0)))
            }

            #[inline(always)]
            fn round(self, key: Self) -> Self {
                Self(instruction!($round(self.0, key.0)))
            }

            #[inline(always)]
            fn last_round(self, key: Self) -> Self {
                Self(instruction!($last_round(self.0, key.0)))
            }

            #[inline(always)]
            fn low(self, other: Self) -> Self {
                Self(instruction!($multiply::<0x00>(self.0, other.0)))
            }

            #[inline(always)]
            fn high(self, other: Self) -> Self {
                Self(instruction!($multiply::<0x11>(self.0, other.0)))
            }

            $($rest)*
        }
    };
}

vector! {
    /// In 256 bits.
    Two(__m256i), 2, false;
    _mm256_storeu_si256, _mm256_zextsi128_si256, _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_xor_si256,
    _mm256_add_epi32, _mm256_shuffle_epi8, _mm256_shuffle_epi32, _mm256_aesenc_epi128, _mm256_aesenclast_epi128,
    _mm256_clmulepi64_epi128;

    #[inline(always)]
    fn places() -> Self {
        Self(instruction!(_mm256_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0)))
    }

    #[inline(always)]
    fn sum(self) -> Block {
        let second = Block(instruction!(_mm256_extracti128_si256::<1>(self.0)));
        self.block() ^ second
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }
}

vector! {
    /// In 512 bits: AVX-512, which also has twice as many registers.
    Four(__m512i), 4, true;
    _mm512_storeu_si512, _mm512_zextsi128_si512, _mm512_broadcast_i32x4, _mm512_castsi512_si128, _mm512_xor_si512,
    _mm512_add_epi32, _mm512_shuffle_epi8, _mm512_shuffle_epi32, _mm512_aesenc_epi128, _mm512_aesenclast_epi128,
    _mm512_clmulepi64_epi128;

    #[inline(always)]
    fn places() -> Self {
        Self(instruction!(_mm512_setr_epi32(
            0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0
        )))
    }

    #[inline(always)]
    fn sum(self) -> Block {
        let [low, high] = instruction!([
            _mm512_castsi512_si256(self.0),
            _mm512_extracti64x4_epi64::<1>(self.0)
        ]);
        Two(low).xor(Two(high)).sum()
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        Self(instruction!(_mm512_ternarylogic_epi64::<0x96>(self.0, b.0, c.0)))
    }
}
