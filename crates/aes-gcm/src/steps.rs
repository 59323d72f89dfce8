//! Sixteen blocks a step: the rounds of AES (VAES) and the products of GHASH (VPCLMULQDQ) on as many blocks at once as a register has.
//!
//! # Products
//! A step adds the products of sixteen blocks, and reduces once. In all steps but the last, each place of a register has a hash of its
//! own, of every second or fourth block; all places multiply by the same power. The last step multiplies by the power that a block's
//! distance from the end asks for, and adds the places. With four blocks in a register:
//!
//! ```text
//! place 0   (b_0·H^4 + b_4)·H^4 + …  b_n-4   times H^4  ┐
//! place 1   (b_1·H^4 + b_5)·H^4 + …  b_n-3   times H^3  ├ added: the hash
//! place 2   (b_2·H^4 + b_6)·H^4 + …  b_n-2   times H^2  │
//! place 3   (b_3·H^4 + b_7)·H^4 + …  b_n-1   times H    ┘
//! ```
//!
//! # Order
//! What is hashed is the ciphertext. So a step that opens hashes its own input, and one that seals hashes what the step before made:
//! in both, products and rounds do not wait for each other.

use crate::block::{BLOCK, Block};
use crate::ghash::{Sums, reduced_at_places, reduced_sum, with_product};
use crate::kernel::{Bytes, Key, STEP};
use crate::vector::Vector;

/// How many rounds come between two products in the order of the program: the processor looks ahead, but not as far as a step is long.
const ROUNDS_BETWEEN: usize = 2;

/// Where a message is, and where it goes: to the same place, or to another.
pub(crate) type Places = (*const u8, *mut u8);

/// Hashes whole steps, one at least.
#[inline(always)]
pub(crate) fn hash<V: Vector>(key: &Key, hash: &mut Block, steps: &[[Bytes; STEP]]) {
    let Some((last, others)) = steps.split_last() else {
        return;
    };
    let mut hashes = V::first(reversed(*hash));
    for step in others {
        // SAFETY: a step's blocks.
        hashes = unsafe { hash_at_places(key, hashes, step.as_ptr().cast()) };
    }
    // SAFETY: as above.
    *hash = reversed(unsafe { hash_last(key, hashes, last.as_ptr().cast()) });
}

/// Encrypts or decrypts whole steps, one at least, and hashes the ciphertext.
///
/// # Safety
/// `steps` steps can be read at the first place, and written at the second.
#[inline(always)]
pub(crate) unsafe fn crypt<V: Vector, const REGISTERS: usize, const SEALS: bool>(
    key: &Key,
    counter: &mut Block,
    hash: &mut Block,
    (mut input, mut output): Places,
    steps: usize,
) {
    const BYTES: usize = BLOCK * STEP;
    let mut counters = V::everywhere(*counter).add(V::places());
    let mut hashes = V::first(reversed(*hash));
    // SAFETY: by the caller's word. Where both places are one, what is hashed is read before it is overwritten.
    unsafe {
        if SEALS {
            add_stream::<V, REGISTERS>(key, &mut counters, (input, output));
            (input, output) = (input.add(BYTES), output.add(BYTES));
        }
        for _ in 1..steps {
            let hashed = if SEALS { output.sub(BYTES) } else { input };
            hashes = step::<V, REGISTERS>(key, &mut counters, hashes, hashed, (input, output));
            (input, output) = (input.add(BYTES), output.add(BYTES));
        }
        let hashed = if SEALS { output.sub(BYTES) } else { input };
        *hash = reversed(hash_last(key, hashes, hashed));
        if !SEALS {
            add_stream::<V, REGISTERS>(key, &mut counters, (input, output));
        }
    }
    *counter = counters.block();
}

/// One step, and the hash of a step's blocks: the last step's output where it seals, its own input where it opens.
///
/// # Safety
/// A step can be read at `hashed` and at the first place, and written at the second.
#[inline(always)]
unsafe fn step<V: Vector, const REGISTERS: usize>(
    key: &Key,
    counters: &mut V,
    hashes: V,
    hashed: *const u8,
    places: Places,
) -> V {
    if !V::HAS_ROOM {
        let key = reread(key);
        // SAFETY: by the caller's word.
        return unsafe {
            let hashes = hash_at_places(key, hashes, hashed);
            add_stream::<V, REGISTERS>(key, counters, places);
            hashes
        };
    }
    let mut stream = first_round::<V, REGISTERS>(key, counters);
    let mut sums = [V::zero(); 3];
    let mut rounds = 1;
    // The last register first: the others need not wait for the hash.
    for i in (0..REGISTERS).rev() {
        for _ in 0..ROUNDS_BETWEEN {
            round(key, rounds, &mut stream);
            rounds += 1;
        }
        // SAFETY: by the caller's word.
        sums = unsafe { with_register(key, sums, hashes, hashed, i) };
    }
    let hashes = reduced_at_places(sums);
    while rounds < key.rounds() {
        round(key, rounds, &mut stream);
        rounds += 1;
    }
    // SAFETY: by the caller's word.
    unsafe { last_round(key, stream, places) };
    hashes
}

/// Each place's hash of a step's more blocks.
///
/// # Safety
/// A step can be read there.
#[inline(always)]
unsafe fn hash_at_places<V: Vector>(key: &Key, hashes: V, blocks: *const u8) -> V {
    let mut sums = [V::zero(); 3];
    for i in 0..STEP / V::BLOCKS {
        // SAFETY: by the caller's word.
        sums = unsafe { with_register(key, sums, hashes, blocks, i) };
    }
    reduced_at_places(sums)
}

/// The products of that register of a step: those of the first one have the hashes in them.
///
/// # Safety
/// A step can be read there.
#[inline(always)]
unsafe fn with_register<V: Vector>(
    key: &Key,
    sums: Sums<V>,
    hashes: V,
    blocks: *const u8,
    i: usize,
) -> Sums<V> {
    // SAFETY: by the caller's word.
    let mut blocks = unsafe { V::load(blocks.add(BLOCK * V::BLOCKS * i)) }.reversed();
    if i == 0 {
        blocks = blocks.xor(hashes);
    }
    with_product(sums, blocks, key.same_powers(STEP - V::BLOCKS * i))
}

/// The hash, after a last step.
///
/// # Safety
/// A step can be read there.
#[inline(always)]
unsafe fn hash_last<V: Vector>(key: &Key, hashes: V, blocks: *const u8) -> Block {
    let mut sums = [V::zero(); 3];
    let mut into = hashes;
    for at in (0..STEP).step_by(V::BLOCKS) {
        // SAFETY: by the caller's word.
        let blocks = unsafe { V::load(blocks.add(BLOCK * at)) }.reversed();
        sums = with_product(sums, blocks.xor(into), key.powers_from(STEP - at));
        into = V::zero();
    }
    reduced_sum(sums)
}

/// Encrypts counter blocks, and adds the data to them.
///
/// # Safety
/// `REGISTERS` registers can be read at the first place, and written at the second.
#[inline(always)]
unsafe fn add_stream<V: Vector, const REGISTERS: usize>(
    key: &Key,
    counters: &mut V,
    places: Places,
) {
    let mut stream = first_round::<V, REGISTERS>(key, counters);
    for i in 1..key.rounds() {
        round(key, i, &mut stream);
    }
    // SAFETY: by the caller's word.
    unsafe { last_round(key, stream, places) };
}

/// Counter blocks, with the first key added.
#[inline(always)]
pub(crate) fn first_round<V: Vector, const REGISTERS: usize>(
    key: &Key,
    counters: &mut V,
) -> [V; REGISTERS] {
    let next = V::everywhere(Block::zero().counted(V::BLOCKS as i32));
    let mut stream = [V::everywhere(key.round_key(0)); REGISTERS];
    for stream in &mut stream {
        *stream = stream.xor(counters.reversed());
        *counters = counters.add(next);
    }
    stream
}

#[inline(always)]
pub(crate) fn round<V: Vector, const REGISTERS: usize>(
    key: &Key,
    i: usize,
    stream: &mut [V; REGISTERS],
) {
    let key = V::everywhere(key.round_key(i));
    for stream in stream {
        *stream = stream.round(key);
    }
}

/// The last round adds its key, and so the data with it.
///
/// # Safety
/// `REGISTERS` registers can be read at the first place, and written at the second.
#[inline(always)]
unsafe fn last_round<V: Vector, const REGISTERS: usize>(
    key: &Key,
    stream: [V; REGISTERS],
    (input, output): Places,
) {
    let last = V::everywhere(key.round_key(key.rounds()));
    for (i, stream) in stream.into_iter().enumerate() {
        let at = BLOCK * V::BLOCKS * i;
        // SAFETY: by the caller's word.
        unsafe {
            let data = V::load(input.add(at)).xor(last);
            stream.last_round(data).store(output.add(at));
        }
    }
}

/// The bytes in reverse order.
#[inline(always)]
pub(crate) fn reversed(block: Block) -> Block {
    // SAFETY: the processor has it: see `Vector`.
    unsafe { block.reversed() }
}

/// The same key, of which the compiler may assume nothing that it has read before. It would load round keys before the loop, and store
/// them to the stack: then each is loaded from there.
#[inline(always)]
fn reread(key: &Key) -> &Key {
    let mut pointer: *const Key = key;
    // SAFETY: a comment, no instruction: the pointer stays what it is.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) pointer, options(readonly, nostack, preserves_flags));
        &*pointer
    }
}
