//! A key, at work: which kernel the processor gets, what the kernels need of the key, and what must be cleared after them.

use crate::block::{BLOCK, Block};
use crate::clean::{DEEP, Plain, SHALLOW, clear, clear_upper_registers, wipe};
use crate::expansion::expand;
use crate::ghash::{multiplied, product, reduced, reversal};
use crate::rest;
use crate::steps::{self, Places};
use crate::vector::{Four, Two, Vector};
use core::arch::x86_64::*;
use inout::InOutBuf;

/// Blocks of a step.
pub(crate) const STEP: usize = 16;
/// The fewest steps that are worth the wide kernel: with one, it takes 2 to 8 % longer (Zen 4).
const FEWEST_WIDE: usize = 2;
/// The most rounds, and one key more.
pub(crate) const MOST_KEYS: usize = 15;

/// A block in memory.
pub(crate) type Bytes = [u8; BLOCK];

/// Blocks in memory.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Powers([Block; STEP]);

/// An expanded key. Wiped when dropped. All bytes 0 are one without a key.
pub(crate) struct Key {
    /// Whether the kernel of 512 bits serves it.
    is_wide: bool,
    rounds: usize,
    keys: [Block; MOST_KEYS],
    /// How many powers of H are known: 2, 4, 8 or 16. A key for one short message needs no more than 2.
    known: usize,
    /// H^16 to H^1, times x.
    powers: Powers,
    /// The sums of their halves, in both halves.
    sums: Powers,
}

// SAFETY: blocks.
unsafe impl Plain for Powers {}

impl Drop for Key {
    fn drop(&mut self) {
        wipe(&mut self.keys);
        self.forget_powers();
    }
}

/// Whether the processor has what this needs.
pub(crate) fn available() -> bool {
    use outboard_processor::Feature as F;
    outboard_processor::has_all(&[F::Aes, F::Pclmulqdq, F::Avx2, F::Vaes, F::Vpclmulqdq])
}

/// Whether it has vector registers beyond those of AVX2.
pub(crate) fn has_upper_registers() -> bool {
    outboard_processor::has_all(&[outboard_processor::Feature::Avx512f])
}

/// Whether it also has what the kernel of 512 bits needs.
pub(crate) fn available_wide() -> bool {
    use outboard_processor::Feature as F;
    available() && outboard_processor::has_all(&[F::Avx512f, F::Avx512dq, F::Avx512bw, F::Avx512vl])
}

impl Key {
    /// Chooses the kernel. The choice stays when the key changes.
    pub(crate) fn choose(&mut self, wide: bool) {
        assert!(!wide || available_wide(), "the caller has asked");
        self.is_wide = wide;
    }

    /// Takes a key of 16, 24 or 32 bytes.
    pub(crate) fn set(&mut self, key: &[u8]) -> Option<()> {
        assert!(available(), "the caller has asked");
        if !matches!(key.len(), 16 | 24 | 32) {
            return None;
        }
        self.forget(key.len());
        // SAFETY: the processor has the features, as just checked; below, a key was set, so it has.
        unsafe { learn(key, self) };
        clear::<DEEP>();
        Some(())
    }

    /// Wipes the powers that are known.
    fn forget_powers(&mut self) {
        for powers in [&mut self.powers.0, &mut self.sums.0] {
            powers[STEP - self.known..].iter_mut().for_each(wipe);
        }
    }

    /// Wipes what a key of that length will not overwrite.
    fn forget(&mut self, length: usize) {
        self.forget_powers();
        if self.rounds > 0 && self.length() != length {
            wipe(&mut self.keys);
        }
    }

    pub(crate) fn copy_to(&self, out: &mut Self) {
        out.is_wide = self.is_wide;
        out.rounds = self.rounds;
        out.keys = self.keys;
        out.known = self.known;
        out.powers = self.powers;
        out.sums = self.sums;
    }

    /// What must not be left anywhere.
    #[cfg(test)]
    pub(crate) fn secrets(&self) -> Vec<Bytes> {
        let all = self
            .powers
            .0
            .into_iter()
            .chain(self.sums.0)
            .chain(self.keys);
        let all = all.filter(|block| !block.is_zero());
        all.map(|mut block| *block.bytes()).collect()
    }

    pub(crate) fn length(&self) -> usize {
        4 * (self.rounds - 6)
    }

    /// A block, encrypted.
    #[inline]
    #[target_feature(enable = "aes,avx2")]
    pub(crate) fn encrypt(&self, block: Block) -> Block {
        let round = |i: usize| self.keys[i].0;
        let mut x = _mm_xor_si128(block.0, round(0));
        for i in 1..self.rounds {
            x = _mm_aesenc_si128(x, round(i));
        }
        Block(_mm_aesenclast_si128(x, round(self.rounds)))
    }

    /// `2·PAIRS` counter blocks from this one on, which has its bytes in reverse order, all at once: that takes as long as one.
    #[inline]
    #[target_feature(enable = "vaes,aes,avx2")]
    pub(crate) fn encrypt_counters<const PAIRS: usize>(
        &self,
        counter: Block,
    ) -> [[Block; 2]; PAIRS] {
        let reversal = _mm256_broadcastsi128_si256(reversal());
        let round = |i: usize| _mm256_broadcastsi128_si256(self.keys[i].0);
        let next = _mm256_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0);
        let mut counters = _mm256_add_epi32(_mm256_broadcastsi128_si256(counter.0), next);
        let by = _mm256_setr_epi32(2, 0, 0, 0, 2, 0, 0, 0);
        let mut x = [round(0); PAIRS];
        for x in &mut x {
            *x = _mm256_xor_si256(*x, _mm256_shuffle_epi8(counters, reversal));
            counters = _mm256_add_epi32(counters, by);
        }
        for i in 1..self.rounds {
            for x in &mut x {
                *x = _mm256_aesenc_epi128(*x, round(i));
            }
        }
        x.map(|x| {
            let x = _mm256_aesenclast_epi128(x, round(self.rounds));
            [
                Block(_mm256_castsi256_si128(x)),
                Block(_mm256_extracti128_si256::<1>(x)),
            ]
        })
    }

    /// x·H.
    #[inline]
    #[target_feature(enable = "pclmulqdq,avx2")]
    pub(crate) fn product(&self, x: Block) -> Block {
        Block(product(x.reversed().0, self.powers.0[STEP - 1])).reversed()
    }

    /// Hashes a few blocks: hash·H^n + b_1·H^n + … + b_n·H, reduced once.
    #[inline]
    #[target_feature(enable = "pclmulqdq,avx2")]
    pub(crate) fn products(&self, hash: Block, blocks: &[Block]) -> Block {
        let mut sums = [_mm_setzero_si128(); 3];
        let mut into = hash;
        for (block, power) in blocks.iter().zip(&self.powers.0[STEP - blocks.len()..]) {
            let more = multiplied((*block ^ into).reversed().0, *power);
            sums = [0, 1, 2].map(|i| _mm_xor_si128(sums[i], more[i]));
            into = Block::zero();
        }
        Block(reduced(sums)).reversed()
    }

    /// x·H² + y·H, reduced once.
    #[inline]
    #[target_feature(enable = "pclmulqdq,avx2")]
    pub(crate) fn two_products(&self, x: Block, y: Block) -> Block {
        let [x, y] = [
            multiplied(x.reversed().0, self.powers.0[STEP - 2]),
            multiplied(y.reversed().0, self.powers.0[STEP - 1]),
        ];
        let sums = [0, 1, 2].map(|i| _mm_xor_si128(x[i], y[i]));
        Block(reduced(sums)).reversed()
    }

    #[inline(always)]
    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }

    #[inline(always)]
    pub(crate) fn round_key(&self, i: usize) -> Block {
        debug_assert!(i < MOST_KEYS);
        // SAFETY: a key has so many rounds at most, which its callers count.
        unsafe { *self.keys.as_ptr().add(i) }
    }

    /// That power at each place, and its halves' sum.
    #[inline(always)]
    pub(crate) fn same_powers<V: Vector>(&self, power: usize) -> [V; 2] {
        let at = STEP - power;
        [
            V::everywhere(self.powers.0[at]),
            V::everywhere(self.sums.0[at]),
        ]
    }

    /// That power and the ones below it, as many as there are places, and their halves' sums.
    #[inline(always)]
    pub(crate) fn powers_from<V: Vector>(&self, power: usize) -> [V; 2] {
        assert!((V::BLOCKS..=STEP).contains(&power), "there are so many");
        let at = STEP - power;
        // SAFETY: so many are there, as just checked.
        unsafe {
            [
                V::load(self.powers.0.as_ptr().add(at).cast()),
                V::load(self.sums.0.as_ptr().add(at).cast()),
            ]
        }
    }

    /// H and its halves' sum, and zeros.
    #[inline(always)]
    pub(crate) fn first_power<V: Vector>(&self) -> [V; 2] {
        let at = STEP - 1;
        [V::first(self.powers.0[at]), V::first(self.sums.0[at])]
    }

    /// Learns the powers that so many blocks need.
    #[inline]
    #[target_feature(enable = "pclmulqdq,avx2")]
    pub(crate) fn know(&mut self, blocks: usize) {
        let blocks = blocks.min(STEP);
        if blocks > self.known {
            more_powers(self, blocks);
            clear::<DEEP>();
        }
    }

    /// Whether the wide kernel takes so many steps.
    #[inline]
    fn goes_wide(&self, steps: usize) -> bool {
        self.is_wide && steps >= FEWEST_WIDE
    }

    /// Hashes blocks.
    #[target_feature(enable = "vpclmulqdq,pclmulqdq,avx2")]
    pub(crate) fn hash(&mut self, hash: &mut Block, blocks: &[Bytes]) {
        self.know(blocks.len());
        let (steps, rest) = blocks.as_chunks();
        if self.goes_wide(steps.len()) {
            // SAFETY: the wide kernel was chosen, so the processor has the features.
            unsafe { wide::hash(self, hash, steps) };
            clear_upper_registers();
        } else if !steps.is_empty() {
            // SAFETY: a key was set, so the processor has the features.
            unsafe { narrow::hash(self, hash, steps) };
        }
        if !rest.is_empty() {
            hash_rest(self, hash, rest);
        }
        clear::<DEEP>();
    }

    /// Encrypts or decrypts whole blocks, and hashes the ciphertext. The counter's bytes are in reverse order.
    #[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
    pub(crate) fn crypt(
        &mut self,
        counter: &mut Block,
        hash: &mut Block,
        data: InOutBuf<'_, '_, u8>,
        seals: bool,
    ) {
        let blocks = data.len() / BLOCK;
        self.know(blocks);
        let (steps, rest) = data.split_at(blocks / STEP * STEP * BLOCK);
        let (steps, rest) = (steps.into_raw(), rest.into_raw());
        let (count, more) = (blocks / STEP, blocks % STEP);
        // SAFETY: so many blocks are there. See `hash` for the features.
        unsafe {
            if self.goes_wide(count) {
                if seals {
                    wide::crypt::<true>(self, counter, hash, steps, count);
                } else {
                    wide::crypt::<false>(self, counter, hash, steps, count);
                }
                clear_upper_registers();
            } else if count > 0 {
                if seals {
                    narrow::crypt::<true>(self, counter, hash, steps, count);
                } else {
                    narrow::crypt::<false>(self, counter, hash, steps, count);
                }
            }
            if more > 0 {
                if seals {
                    crypt_rest::<true>(self, counter, hash, rest, more);
                } else {
                    crypt_rest::<false>(self, counter, hash, rest, more);
                }
            }
        }
        clear::<SHALLOW>();
    }
}

/// The steps, compiled for a register. Never inline: see `learn`.
macro_rules! kernel {
    ($name:ident, $vector:ty, $registers:literal, $features:literal) => {
        mod $name {
            use super::*;

            #[inline(never)]
            #[target_feature(enable = $features)]
            pub(super) fn hash(key: &Key, hash: &mut Block, steps: &[[Bytes; STEP]]) {
                steps::hash::<$vector>(key, hash, steps);
            }

            /// # Safety
            /// `count` steps can be read at the first place, and written at the second; one at least.
            #[inline(never)]
            #[target_feature(enable = $features)]
            pub(super) unsafe fn crypt<const SEALS: bool>(
                key: &Key,
                counter: &mut Block,
                hash: &mut Block,
                places: Places,
                count: usize,
            ) {
                // SAFETY: by the caller's word.
                unsafe {
                    steps::crypt::<$vector, $registers, SEALS>(key, counter, hash, places, count);
                }
            }
        }
    };
}

kernel! { narrow, Two, 8, "vaes,vpclmulqdq,aes,pclmulqdq,avx2" }
kernel! { wide, Four, 4, "vaes,vpclmulqdq,aes,pclmulqdq,avx2,avx512f,avx512dq,avx512bw,avx512vl" }

/// Never inline: see `learn`.
#[inline(never)]
#[target_feature(enable = "vpclmulqdq,pclmulqdq,avx2")]
fn hash_rest(key: &Key, hash: &mut Block, blocks: &[Bytes]) {
    rest::hash(key, hash, blocks);
}

/// Never inline: see `learn`.
///
/// # Safety
/// `blocks` blocks, fewer than a step, can be read at the first place, and written at the second.
#[inline(never)]
#[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
unsafe fn crypt_rest<const SEALS: bool>(
    key: &Key,
    counter: &mut Block,
    hash: &mut Block,
    places: Places,
    blocks: usize,
) {
    // SAFETY: by the caller's word.
    unsafe {
        if blocks <= STEP / 2 {
            rest::crypt::<{ STEP / 4 }, SEALS>(key, counter, hash, places, blocks);
        } else {
            rest::crypt::<{ STEP / 2 }, SEALS>(key, counter, hash, places, blocks);
        }
    }
}

/// Takes a key. Never inline: what it leaves on the stack is cleared by its caller.
#[inline(never)]
#[target_feature(enable = "aes,pclmulqdq,avx2")]
fn learn(bytes: &[u8], key: &mut Key) {
    key.rounds = expand(bytes, &mut key.keys);
    first_powers(key);
}

/// H and H^2, times x.
#[target_feature(enable = "aes,pclmulqdq,avx2")]
fn first_powers(key: &mut Key) {
    let h = times_x(key.encrypt(Block::zero()).reversed());
    set_power(key, 1, h);
    set_power(key, 2, Block(product(h.0, h)));
    key.known = 2;
}

/// Times x, reduced: without a branch, and in vector registers alone, which are cleared.
#[inline]
#[target_feature(enable = "avx2")]
fn times_x(Block(h): Block) -> Block {
    let doubled = _mm_slli_epi64::<1>(h);
    let carried = _mm_slli_si128::<8>(_mm_srli_epi64::<63>(h));
    // All ones if the highest bit is 1.
    let is_over = _mm_shuffle_epi32::<0b11_11_11_11>(_mm_srai_epi32::<31>(h));
    let polynomial = _mm_set_epi64x((0xc2_u64 << 56).cast_signed(), 1);
    let reduction = _mm_and_si128(is_over, polynomial);
    Block(_mm_xor_si128(_mm_or_si128(doubled, carried), reduction))
}

/// Up to H^`most`, or the power of two above: from those that are known, twice as many. All are stored as they are made, and loaded
/// from there.
#[inline(never)]
#[target_feature(enable = "pclmulqdq,avx2")]
fn more_powers(key: &mut Key, most: usize) {
    while key.known < most {
        for i in 1..=key.known {
            let [a, b] = [key.known, i].map(|power| key.powers.0[STEP - power]);
            set_power(key, key.known + i, Block(product(a.0, b)));
        }
        key.known *= 2;
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn set_power(key: &mut Key, power: usize, value: Block) {
    let at = STEP - power;
    key.powers.0[at] = value;
    key.sums.0[at] = value ^ Block(_mm_shuffle_epi32::<0b01_00_11_10>(value.0));
}
