//! Sponges that share the eight states: each lane absorbs and squeezes on its own, all permute together.
//!
//! [`run`] works off a list of jobs. A lane whose job is done takes the next one, so that a long hash in one
//! lane has many short ones beside it. What a job gives may add further jobs: the seed of the noise is such a result.
//!
//! Constant time in what is absorbed and squeezed. The number of permutations depends on lengths, and on the answers of
//! [`Jobs::squeezed`], which may therefore depend on public bytes alone.

use super::{Permute, PermuteHalf, State, WORDS};
use crate::LANES;
use crate::vector::{Digit, Vector};

/// The longest block that is squeezed, SHAKE128's, and some bytes to read beyond it.
pub(crate) type Block = [u8; 168 + 40];

/// What distinguishes the functions of FIPS 202.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// Bytes of a block.
    pub(crate) rate: usize,
    /// The bits that end the message, with the first bit of the padding.
    suffix: u8,
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a, Use> {
    pub(crate) function: Function,
    pub(crate) message: [&'a [u8]; 2],
    /// Ends the message: as many bytes of `tail` as `tail_length` says.
    pub(crate) tail: [u8; 2],
    pub(crate) tail_length: usize,
    pub(crate) purpose: Use,
}

impl<'a, Use> Job<'a, Use> {
    /// A message of two parts.
    pub(crate) fn new(function: Function, message: [&'a [u8]; 2], purpose: Use) -> Self {
        Job {
            function,
            message,
            tail: [0; 2],
            tail_length: 0,
            purpose,
        }
    }

    /// The same with one byte more.
    pub(crate) fn and_byte(self, byte: u8) -> Self {
        Job {
            tail: [byte, 0],
            tail_length: 1,
            ..self
        }
    }

    /// The same with two bytes more.
    pub(crate) fn and_bytes(self, tail: [u8; 2]) -> Self {
        Job {
            tail,
            tail_length: 2,
            ..self
        }
    }

    fn length(&self) -> usize {
        self.message[0].len() + self.message[1].len() + self.tail_length
    }

    /// Block `number` of the padded message. Whether it is the last.
    fn block(&self, number: usize, block: &mut Block) -> bool {
        let from = number * self.function.rate;
        let tail = &self.tail[..self.tail_length];
        let parts = [self.message[0], self.message[1], tail];
        let mut filled = 0;
        // Where the part begins, counted from the block's first byte.
        let mut start = 0_usize;
        for part in parts {
            let skipped = from.saturating_sub(start).min(part.len());
            let taken = &part[skipped..];
            let taken = &taken[..taken.len().min(self.function.rate - filled)];
            if start + part.len() > from {
                block[filled..filled + taken.len()].copy_from_slice(taken);
                filled += taken.len();
            }
            start += part.len();
        }
        block[filled..self.function.rate].fill(0);
        let last = self.length() < from + self.function.rate;
        if last {
            block[filled] = self.function.suffix;
            block[self.function.rate - 1] |= 0x80;
        }
        last
    }
}

/// Gives jobs and takes their output.
pub(crate) trait Jobs<'a> {
    type Use: Copy;

    /// The next job, if there is one that can begin.
    fn next(&mut self) -> Option<Job<'a, Self::Use>>;

    /// Takes block `number` of a job's output. Whether it needs another.
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
    let mut block: Block = [0; 208];
    let mut lanes: [Option<(Job<'a, J::Use>, At)>; LANES] = [None; LANES];
    let lanes = &mut lanes[..width];
    loop {
        for (lane, at) in lanes.iter_mut().enumerate() {
            if at.is_none()
                && let Some(job) = jobs.next()
            {
                state.iter_mut().for_each(|word| word.0[lane] = 0);
                *at = Some((job, At::Absorbing(0)));
            }
            if let Some((job, stage)) = at
                && let At::Absorbing(number) = *stage
            {
                let last = job.block(number, &mut block);
                absorb(&mut state, lane, &block[..job.function.rate]);
                *stage = if last {
                    At::Squeezing(0)
                } else {
                    At::Absorbing(number + 1)
                };
            }
        }
        match lanes.iter().rposition(Option::is_some) {
            None => break,
            Some(last) if last < HALF => V::call(PermuteHalf(&mut state)),
            Some(_) => V::call(Permute(&mut state)),
        }
        for (lane, at) in lanes.iter_mut().enumerate() {
            let Some((job, stage)) = at else { continue };
            let At::Squeezing(number) = *stage else {
                continue;
            };
            squeeze(&state, lane, &mut block[..job.function.rate]);
            *stage = At::Squeezing(number + 1);
            if !jobs.squeezed(job.purpose, number, &block) {
                *at = None;
            }
        }
    }
}

/// Takes a block into one lane's state.
#[inline(always)]
fn absorb(state: &mut State, lane: usize, block: &[u8]) {
    for (word, bytes) in state.iter_mut().zip(block.as_chunks::<8>().0) {
        word.0[lane] ^= u64::from_le_bytes(*bytes);
    }
}

/// The next block of one lane's output.
#[inline(always)]
fn squeeze(state: &State, lane: usize, block: &mut [u8]) {
    for (word, bytes) in state.iter().zip(block.as_chunks_mut::<8>().0) {
        *bytes = word.0[lane].to_le_bytes();
    }
}
