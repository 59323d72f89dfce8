//! Sponges that share the eight states: each lane absorbs and squeezes on its own, all permute together.
//!
//! [`run`] works off a list of jobs. A lane whose job is done takes the next one, so that a long hash in one
//! lane has many short ones beside it. What a job gives may add further jobs: the seed of the noise is such a result.
//!
//! Constant time in what is absorbed and squeezed. The number of permutations depends on lengths, and on the answers of
//! [`Jobs::squeezed`], which may therefore depend on public bytes alone.

use super::{State, WORDS, permute};
use crate::LANES;
use crate::vector::{Bits, Digit, Kernel, Mask, Row, Vector};

/// The longest block, SHAKE128's 168 bytes, and some to read beyond it.
pub(crate) type Block = [u8; 256];

/// Each lane's block: what goes in, and what comes out.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Aligned(Block);

/// Eight words of each block are turned at once, and so often.
const TURNS: usize = 3;
const _: () = assert!(64 * TURNS >= 168 && 8 * TURNS < WORDS);

/// What distinguishes the functions of FIPS 202.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// Bytes of a block.
    pub(crate) rate: usize,
    /// The bits that end the message, with the first bit of the padding: a byte.
    suffix: usize,
}

pub(crate) const SHA3_256: Function = Function {
    rate: 136,
    suffix: 0x06,
};
pub(crate) const SHA3_512: Function = Function {
    rate: 72,
    suffix: 0x06,
};
pub(crate) const SHAKE128: Function = Function {
    rate: 168,
    suffix: 0x1f,
};
pub(crate) const SHAKE256: Function = Function {
    rate: 136,
    suffix: 0x1f,
};

/// A message to absorb, and what its output is for.
///
/// All of it is whole words: the compiler copies what lies between smaller fields by loads that have to wait for two stores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a, Use> {
    function: Function,
    message: [&'a [u8]; 2],
    /// Ends the message: as many bytes as `tail_length` says, the lowest first.
    tail: u64,
    tail_length: usize,
    purpose: Use,
}

impl<'a, Use> Job<'a, Use> {
    /// A message of two parts.
    pub(crate) fn new(function: Function, message: [&'a [u8]; 2], purpose: Use) -> Self {
        Job {
            function,
            message,
            tail: 0,
            tail_length: 0,
            purpose,
        }
    }

    /// The same with one byte more.
    pub(crate) fn and_byte(self, byte: u8) -> Self {
        Job {
            tail: u64::from(byte),
            tail_length: 1,
            ..self
        }
    }

    /// The same with two bytes more.
    pub(crate) fn and_bytes(self, tail: [u8; 2]) -> Self {
        Job {
            tail: u64::from(u16::from_le_bytes(tail)),
            tail_length: 2,
            ..self
        }
    }

    /// Block `number` of the padded message, and zeros after it. Whether it is the last.
    #[inline(always)]
    fn block(&self, number: usize, block: &mut Block) -> bool {
        const SEED: usize = 32;
        // Lengths that the compiler knows take no call: most jobs have a seed and no more than two bytes.
        *block.first_chunk_mut::<{ 64 * TURNS }>().expect("shorter") = [0; 64 * TURNS];
        let filled = if number == 0
            && self.message[1].is_empty()
            && let Ok(seed) = <&[u8; SEED]>::try_from(self.message[0])
        {
            *block.first_chunk_mut().expect("shorter") = *seed;
            block[SEED..SEED + 8].copy_from_slice(&self.tail.to_le_bytes());
            SEED + self.tail_length
        } else {
            self.copy(number, block)
        };
        let rate = self.function.rate;
        let last = filled < rate;
        if last {
            block[filled] = self.function.suffix as u8;
            block[rate - 1] |= 0x80;
        }
        last
    }

    /// Block `number` of the message, as far as it goes. How many bytes.
    #[inline(never)]
    fn copy(&self, number: usize, block: &mut Block) -> usize {
        let from = number * self.function.rate;
        let tail = &self.tail.to_le_bytes()[..self.tail_length];
        let mut filled = 0;
        // Where the part begins, counted from the message's first byte.
        let mut start = 0_usize;
        for part in [self.message[0], self.message[1], tail] {
            let skipped = from.saturating_sub(start).min(part.len());
            let taken = &part[skipped..];
            let taken = &taken[..taken.len().min(self.function.rate - filled)];
            block[filled..filled + taken.len()].copy_from_slice(taken);
            filled += taken.len();
            start += part.len();
        }
        filled
    }
}

/// Gives jobs and takes their output.
pub(crate) trait Jobs<'a> {
    type Use: Copy;

    /// The next job, if there is one that can begin.
    fn next(&mut self) -> Option<Job<'a, Self::Use>>;

    /// Takes block `number` of a job's output. Whether it needs another. Beyond the function's rate lies the state's inner part:
    /// nothing of it may be used.
    fn squeezed(&mut self, purpose: Self::Use, number: usize, block: &Block) -> bool;
}

/// As many lanes as a permutation of half as many states serves.
const HALF: usize = LANES / 2;

/// What a lane is at.
#[derive(Clone, Copy)]
enum At {
    /// The number of the next block to absorb.
    Absorbing(usize),
    /// The number of the next block to come out.
    Squeezing(usize),
}

/// Works off all jobs. What it used stays on the stack, for [`crate::wipe`].
#[inline(always)]
pub(crate) fn run<'a, V: Vector, J: Jobs<'a>>(jobs: &mut J) {
    run_in::<V, J>(jobs, if V::in_halves() { HALF } else { LANES });
}

/// The same, in the first so many lanes.
#[inline(always)]
fn run_in<'a, V: Vector, J: Jobs<'a>>(jobs: &mut J, width: usize) {
    let mut state: State = [Digit::ZERO; WORDS];
    let mut blocks = [Aligned([0; size_of::<Block>()]); LANES];
    let mut lanes: [Option<(Job<'a, J::Use>, At)>; LANES] = [None; LANES];
    let lanes = &mut lanes[..width];
    loop {
        let (mut new, mut absorbing, mut squeezing) = (0, 0, 0);
        for (lane, at) in lanes.iter_mut().enumerate() {
            let bit: Mask = 1 << lane;
            if at.is_none()
                && let Some(job) = jobs.next()
            {
                new |= bit;
                *at = Some((job, At::Absorbing(0)));
            }
            let Some((job, stage)) = at else { continue };
            if let At::Absorbing(number) = *stage {
                absorbing |= bit;
                *stage = if job.block(number, &mut blocks[lane].0) {
                    At::Squeezing(0)
                } else {
                    At::Absorbing(number + 1)
                };
            }
            if let At::Squeezing(_) = stage {
                squeezing |= bit;
            }
        }
        let busy = absorbing | squeezing;
        if busy == 0 {
            break;
        }
        let step = Step {
            state: &mut state,
            blocks: &mut blocks,
            new,
            absorbing,
            squeezing,
        };
        if busy >> HALF == 0 {
            V::call(Half(step));
        } else {
            V::call(step);
        }
        for (lane, at) in lanes.iter_mut().enumerate() {
            let Some((job, At::Squeezing(number))) = at else {
                continue;
            };
            let block = *number;
            *number += 1;
            if !jobs.squeezed(job.purpose, block, &blocks[lane].0) {
                *at = None;
            }
        }
    }
}

/// What goes into the states, a permutation, and what comes out.
struct Step<'a> {
    state: &'a mut State,
    blocks: &'a mut [Aligned; LANES],
    /// Lanes whose state begins with zeros.
    new: Mask,
    /// Lanes whose block goes in.
    absorbing: Mask,
    /// Lanes whose block comes out. The others' blocks are lost, if there is any such lane.
    squeezing: Mask,
}

impl Kernel for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        self.step::<V>();
    }
}

/// The same for lanes 0 to 3. The others' states come to nothing.
struct Half<'a>(Step<'a>);

impl Kernel for Half<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        self.0.step::<V::Half>();
    }
}

impl Step<'_> {
    #[inline(always)]
    fn step<B: Bits>(self) {
        if self.absorbing != 0 {
            for turn in 0..TURNS {
                let mut rows: [&Row; LANES] = [&[0; 64]; LANES];
                for (row, block) in rows.iter_mut().zip(self.blocks.iter()) {
                    *row = &block.0.as_chunks().0[turn];
                }
                let words = B::load_turned(rows);
                for (word, taken) in self.state[8 * turn..].iter_mut().zip(words) {
                    let before = B::load(word).only(!self.new);
                    before.xor(taken.only(self.absorbing)).store(word);
                }
            }
            for word in &mut self.state[8 * TURNS..] {
                B::load(word).only(!self.new).store(word);
            }
        }
        permute::<B>(self.state);
        if self.squeezing != 0 {
            for turn in 0..TURNS {
                let mut words = [B::splat(0); LANES];
                for (to, word) in words.iter_mut().zip(&self.state[8 * turn..]) {
                    *to = B::load(word);
                }
                let rows = self.blocks.each_mut();
                B::store_turned(
                    words,
                    rows.map(|block| &mut block.0.as_chunks_mut().0[turn]),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests;
