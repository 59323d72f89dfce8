//! Sixteen blocks a step: the rounds of AES on two blocks at once (VAES), and GHASH as one sum of sixteen products (VPCLMULQDQ).
//!
//! A step adds the products of sixteen blocks with H^16 to H, and reduces once:
//!
//! ```text
//! hash = (hash + b_0)·H^16 + b_1·H^15 + … + b_15·H
//! ```
//!
//! # Order
//! What is hashed is the ciphertext, at once. The processor does this and the next step's rounds at the same time.

use crate::block::{BLOCK, Block};
use crate::clean::{DEEP, Plain, SHALLOW, clear, wipe};
use crate::expansion::expand;
use crate::ghash::{
    multiplied, product, reduced, reduced_pairs, reversal, two_reversed, with_product,
};
use core::arch::x86_64::*;
use inout::InOutBuf;

/// Blocks of a step.
const STEP: usize = 16;
/// The most rounds, and one key more.
pub(crate) const MOST_KEYS: usize = 15;

/// A block in memory.
type Bytes = [u8; BLOCK];

/// The same round key twice.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Twice(pub(crate) [Block; 2]);

/// Blocks in memory.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Powers([Block; STEP]);

/// An expanded key. Wiped when dropped. All bytes 0 are one without a key.
pub(crate) struct Key {
    rounds: usize,
    keys: [Twice; MOST_KEYS],
    /// How many powers of H are known: 2, 4, 8 or 16. A key for one short message needs no more than 2.
    known: usize,
    /// H^16 to H^1, times x.
    powers: Powers,
    /// The sums of their halves, in both halves.
    sums: Powers,
}

// SAFETY: blocks.
unsafe impl Plain for Powers {}
// SAFETY: as above.
unsafe impl Plain for Twice {}

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

impl Key {
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
        out.rounds = self.rounds;
        out.keys = self.keys;
        out.known = self.known;
        out.powers = self.powers;
        out.sums = self.sums;
    }

    /// What must not be left anywhere.
    #[cfg(test)]
    pub(crate) fn secrets(&self) -> Vec<Bytes> {
        let keys = self.keys.iter().map(|twice| twice.0[0]);
        let all = self.powers.0.into_iter().chain(self.sums.0).chain(keys);
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
        let round = |i: usize| self.keys[i].0[0].0;
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
        let round = |i: usize| both(&self.keys[i].0);
        let mut counters = two_counters(counter);
        let mut x = [round(0); PAIRS];
        for x in &mut x {
            *x = _mm256_xor_si256(*x, _mm256_shuffle_epi8(counters, reversal));
            counters = _mm256_add_epi32(counters, counts(2));
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

    /// The powers at that place and the next one, and their halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn pair(&self, at: usize) -> [__m256i; 2] {
        assert!(at < STEP - 1, "there is a next one");
        // SAFETY: both are there, as just checked.
        [&self.powers, &self.sums].map(|of| both(unsafe { &*of.0.as_ptr().add(at).cast() }))
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

    /// Hashes blocks.
    #[target_feature(enable = "vpclmulqdq,pclmulqdq,avx2")]
    pub(crate) fn hash(&mut self, hash: &mut Block, blocks: &[Bytes]) {
        self.know(blocks.len());
        hash_all(self, hash, blocks);
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
        let is_step = !steps.is_empty();
        if is_step {
            let places = steps.into_raw();
            // SAFETY: so many blocks are there, here and below.
            unsafe {
                if seals {
                    crypt_steps::<true>(self, counter, hash, places, blocks / STEP);
                } else {
                    crypt_steps::<false>(self, counter, hash, places, blocks / STEP);
                }
            }
        }
        if !rest.is_empty() {
            let places = rest.into_raw();
            // SAFETY: see above.
            unsafe {
                if seals {
                    crypt_some::<true>(self, counter, hash, places, blocks % STEP);
                } else {
                    crypt_some::<false>(self, counter, hash, places, blocks % STEP);
                }
            }
        }
        if is_step {
            clear::<DEEP>();
        } else {
            clear::<SHALLOW>();
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
    let h = key.encrypt(Block::zero()).reversed().integer();
    // Times x, reduced: without a branch.
    let h = h << 1 ^ (0xc2 << 120 | 1) & 0_u128.wrapping_sub(h >> 127);
    let h = Block::from_integer(h);
    set_power(key, 1, h);
    set_power(key, 2, Block(product(h.0, h)));
    key.known = 2;
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

/// Two blocks that lie one after the other, at any address: the heap aligns to 16 bytes for less. (The intrinsic would copy them to the
/// stack in a build that checks pointers.)
#[inline]
#[target_feature(enable = "avx2")]
fn both(blocks: &[Block; 2]) -> __m256i {
    #[repr(C, packed)]
    struct Pair(__m256i);
    // SAFETY: as large, at any address, and any bytes are a value.
    unsafe { (*blocks.as_ptr().cast::<Pair>()).0 }
}

/// This counter block and the next one, with their bytes in reverse order.
#[inline]
#[target_feature(enable = "avx2")]
fn two_counters(counter: Block) -> __m256i {
    let next = _mm256_setr_epi32(0, 0, 0, 0, 1, 0, 0, 0);
    _mm256_add_epi32(_mm256_broadcastsi128_si256(counter.0), next)
}

/// What moves two counter blocks on.
#[inline]
#[target_feature(enable = "avx2")]
fn counts(by: i32) -> __m256i {
    _mm256_setr_epi32(by, 0, 0, 0, by, 0, 0, 0)
}

/// The hash of a step's more blocks.
///
/// # Safety
/// So many blocks can be read.
#[inline]
#[target_feature(enable = "vpclmulqdq,pclmulqdq,avx2")]
unsafe fn hash_step(key: &Key, hash: __m128i, blocks: *const u8) -> __m128i {
    let mut sums = [_mm256_setzero_si256(); 3];
    let mut into = _mm256_zextsi128_si256(hash);
    for i in 0..STEP / 2 {
        // SAFETY: by the caller's word.
        let pair = unsafe { two_reversed(blocks.add(2 * BLOCK * i)) };
        let pair = _mm256_xor_si256(pair, into);
        into = _mm256_setzero_si256();
        sums = with_product(sums, pair, key.pair(2 * i));
    }
    reduced_pairs(sums)
}

/// The hash of fewer more blocks.
///
/// # Safety
/// So many blocks can be read.
#[inline]
#[target_feature(enable = "vpclmulqdq,pclmulqdq,avx2")]
unsafe fn hash_some(key: &Key, hash: __m128i, blocks: *const u8, count: usize) -> __m128i {
    let mut sums = [_mm256_setzero_si256(); 3];
    let mut into = _mm256_zextsi128_si256(hash);
    let first = STEP - count;
    for i in 0..count / 2 {
        // SAFETY: by the caller's word.
        let pair = unsafe { two_reversed(blocks.add(2 * BLOCK * i)) };
        sums = with_product(sums, _mm256_xor_si256(pair, into), key.pair(first + 2 * i));
        into = _mm256_setzero_si256();
    }
    if count % 2 == 1 {
        let alone = |block: Block| _mm256_zextsi128_si256(block.0);
        // SAFETY: by the caller's word.
        let block = Block::new(unsafe { &*blocks.add(BLOCK * (count - 1)).cast() }).reversed();
        let powers = [&key.powers, &key.sums].map(|of| alone(of.0[STEP - 1]));
        sums = with_product(sums, _mm256_xor_si256(alone(block), into), powers);
    }
    reduced_pairs(sums)
}

/// Encrypts `2·PAIRS` counter blocks, and adds the data to them.
///
/// # Safety
/// So many blocks can be read, and written.
#[inline]
#[target_feature(enable = "vaes,avx2")]
unsafe fn add_stream<const PAIRS: usize>(
    key: &Key,
    counters: &mut __m256i,
    input: *const u8,
    output: *mut u8,
) {
    let reversal = _mm256_broadcastsi128_si256(reversal());
    let round = |i: usize| both(&key.keys[i].0);
    let first = round(0);
    let mut x = [first; PAIRS];
    for x in &mut x {
        *x = _mm256_xor_si256(*x, _mm256_shuffle_epi8(*counters, reversal));
        *counters = _mm256_add_epi32(*counters, counts(2));
    }
    for i in 1..key.rounds {
        let key = round(i);
        for x in &mut x {
            *x = _mm256_aesenc_epi128(*x, key);
        }
    }
    let last = round(key.rounds);
    for (i, x) in x.iter().enumerate() {
        // The last round adds its key, and so the data with it.
        // SAFETY: by the caller's word.
        unsafe {
            let data = _mm256_xor_si256(_mm256_loadu_si256(input.add(32 * i).cast()), last);
            _mm256_storeu_si256(
                output.add(32 * i).cast(),
                _mm256_aesenclast_epi128(*x, data),
            );
        }
    }
}

/// Copies blocks: two at once, as they are loaded next.
///
/// # Safety
/// So many blocks can be read, and written.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn copy(from: *const u8, to: *mut u8, blocks: usize) {
    // SAFETY: by the caller's word.
    unsafe {
        for i in 0..blocks / 2 {
            let pair = _mm256_loadu_si256(from.add(2 * BLOCK * i).cast());
            _mm256_storeu_si256(to.add(2 * BLOCK * i).cast(), pair);
        }
        if blocks % 2 == 1 {
            let at = BLOCK * (blocks - 1);
            Block::new(&*from.add(at).cast()).store(&mut *to.add(at).cast());
        }
    }
}

/// Never inline: see `learn`.
#[inline(never)]
#[target_feature(enable = "vpclmulqdq,pclmulqdq,avx2")]
fn hash_all(key: &Key, hash: &mut Block, blocks: &[Bytes]) {
    let mut sum = hash.reversed().0;
    let (steps, rest) = blocks.as_chunks::<STEP>();
    for step in steps {
        // SAFETY: a step's blocks.
        sum = unsafe { hash_step(key, sum, step.as_ptr().cast()) };
    }
    if !rest.is_empty() {
        // SAFETY: so many blocks.
        sum = unsafe { hash_some(key, sum, rest.as_ptr().cast(), rest.len()) };
    }
    *hash = Block(sum).reversed();
}

/// Encrypts or decrypts whole steps, and hashes the ciphertext. Never inline: see `learn`.
///
/// # Safety
/// So many steps can be read, and written: from one place to another, or both are one.
#[inline(never)]
#[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
unsafe fn crypt_steps<const SEALS: bool>(
    key: &Key,
    counter: &mut Block,
    hash: &mut Block,
    (mut input, mut output): (*const u8, *mut u8),
    steps: usize,
) {
    let mut sum = hash.reversed().0;
    let mut counters = two_counters(*counter);
    for _ in 0..steps {
        // SAFETY: by the caller's word. Where input and output are one, a step hashes what it decrypts before it overwrites it.
        unsafe {
            if !SEALS {
                sum = hash_step(key, sum, input);
            }
            add_stream::<{ STEP / 2 }>(key, &mut counters, input, output);
            if SEALS {
                sum = hash_step(key, sum, output);
            }
            (input, output) = (input.add(BLOCK * STEP), output.add(BLOCK * STEP));
        }
    }
    *counter = Block(_mm256_castsi256_si128(counters));
    *hash = Block(sum).reversed();
}

/// The same of fewer blocks than a step has. Never inline: see `learn`.
///
/// # Safety
/// So many blocks can be read, and written.
#[inline(never)]
#[target_feature(enable = "vaes,vpclmulqdq,aes,pclmulqdq,avx2")]
unsafe fn crypt_some<const SEALS: bool>(
    key: &Key,
    counter: &mut Block,
    hash: &mut Block,
    (input, output): (*const u8, *mut u8),
    blocks: usize,
) {
    let mut sum = hash.reversed().0;
    let mut counters = two_counters(*counter);
    // All at once, in a place that has room for it: more than are needed take as long.
    let mut place = [0; BLOCK * STEP];
    let place = place.as_mut_ptr();
    // SAFETY: by the caller's word; and a step has room in the place.
    unsafe {
        copy(input, place, blocks);
        if !SEALS {
            sum = hash_some(key, sum, place, blocks);
        }
        if blocks <= STEP / 2 {
            add_stream::<{ STEP / 4 }>(key, &mut counters, place, place);
        } else {
            add_stream::<{ STEP / 2 }>(key, &mut counters, place, place);
        }
        if SEALS {
            sum = hash_some(key, sum, place, blocks);
        }
        copy(place, output, blocks);
    }
    *counter = counter.counted(blocks as i32);
    *hash = Block(sum).reversed();
}
