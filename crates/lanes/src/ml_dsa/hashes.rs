//! What an operation hashes, as jobs that share eight Keccak states.
//!
//! The order of the jobs: what others wait for first, a digest and a challenge; then masks, as soon as their seed is there; then
//! secrets; then the matrix, which fills the lanes that are left.

use super::bytes::decode;
use super::ring::Polynomial;
use super::sample::{Ball, Sampler};
use super::{BYTES, MOST_COLUMNS, MU, Set};
use crate::LANES;
use crate::keccak::sponge::{self, Block, Job, Jobs, SHAKE128, SHAKE256};
use crate::vector::words::Words;
use crate::vector::{Vector, told};
use core::cell::OnceCell;
use core::marker::PhantomData;

/// The longest digest: key generation's.
pub(super) const LONGEST: usize = 128;

/// Blocks of SHAKE256 that make a mask.
const MASK_BLOCKS: usize = 5;

/// What a job's output is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    Digest,
    Ball,
    Mask(usize),
    /// A secret polynomial, and the sampler that makes it.
    Secret(usize, usize),
    /// An entry of the matrix, and the sampler that makes it.
    Entry(usize, usize),
}

/// The jobs, and where to put what comes of them. Each is done if it is there.
pub(super) struct Hashes<'a, W> {
    pub(super) set: Set,
    pub(super) digest: Option<Digest<'a>>,
    pub(super) challenge: Option<Challenge<'a>>,
    pub(super) masks: Option<Masks<'a>>,
    pub(super) sampled: Option<Sampled<'a>>,
    pub(super) words: PhantomData<W>,
}

/// A hash by SHAKE256: of at most 128 bytes.
pub(super) struct Digest<'a> {
    /// What is hashed; nothing once it has begun.
    pub(super) job: Option<Job<'a, Use>>,
    /// Becomes a digest of at most 64 bytes, for which others wait.
    pub(super) short: &'a OnceCell<[u8; MU]>,
    /// Whether this may be told: a challenge.
    pub(super) is_public: bool,
    /// All of it.
    pub(super) long: [u8; LONGEST],
}

impl<'a> Digest<'a> {
    pub(super) fn new(message: [&'a [u8]; 2], short: &'a OnceCell<[u8; MU]>) -> Self {
        Digest {
            job: Some(Job::new(SHAKE256, message, Use::Digest)),
            short,
            is_public: false,
            long: [0; LONGEST],
        }
    }
}

/// A polynomial to be made of a challenge's bytes, as soon as they are there.
pub(super) struct Challenge<'a> {
    pub(super) bytes: &'a OnceCell<[u8; MU]>,
    pub(super) has_begun: bool,
    pub(super) ball: &'a mut Ball,
}

impl<'a> Challenge<'a> {
    pub(super) fn new(bytes: &'a OnceCell<[u8; MU]>, ball: &'a mut Ball) -> Self {
        Challenge {
            bytes,
            has_begun: false,
            ball,
        }
    }
}

/// ExpandMask: a vector of masks, as soon as their seed is there.
pub(super) struct Masks<'a> {
    seed: &'a OnceCell<[u8; MU]>,
    /// The number of the first: κ.
    first: u16,
    begun: usize,
    bytes: [[u8; 136 * MASK_BLOCKS]; MOST_COLUMNS],
    to: &'a mut [Polynomial],
}

impl<'a> Masks<'a> {
    pub(super) fn new(seed: &'a OnceCell<[u8; MU]>, first: u16, to: &'a mut [Polynomial]) -> Self {
        Masks {
            seed,
            first,
            begun: 0,
            bytes: [[0; 136 * MASK_BLOCKS]; MOST_COLUMNS],
            to,
        }
    }
}

/// ExpandA, and ExpandS if there is a seed for it.
pub(super) struct Sampled<'a> {
    matrix_seed: &'a [u8; BYTES],
    /// Row by row.
    matrix: &'a mut [Polynomial],
    entries: usize,
    /// The seed of the secrets, and where to put these: s1, then s2.
    secrets: Option<(&'a [u8; MU], &'a mut [Polynomial])>,
    secrets_begun: usize,
    samplers: [Sampler; LANES],
    /// Which samplers nothing uses: a job has one, so there are enough.
    free: u8,
}

impl<'a> Sampled<'a> {
    pub(super) fn new(
        matrix_seed: &'a [u8; BYTES],
        matrix: &'a mut [Polynomial],
        secrets: Option<(&'a [u8; MU], &'a mut [Polynomial])>,
    ) -> Self {
        Sampled {
            matrix_seed,
            matrix,
            entries: 0,
            secrets,
            secrets_begun: 0,
            samplers: [Sampler::NEW; LANES],
            free: 0xff,
        }
    }

    fn sampler(&mut self) -> usize {
        let number = self.free.trailing_zeros() as usize;
        self.free &= self.free - 1;
        self.samplers[number] = Sampler::NEW;
        number
    }

    fn next(&mut self, set: Set) -> Option<Job<'a, Use>> {
        if let Some((seed, to)) = &self.secrets
            && self.secrets_begun < to.len()
        {
            let (seed, number) = (*seed, self.secrets_begun);
            self.secrets_begun += 1;
            let purpose = Use::Secret(number, self.sampler());
            let job = Job::new(SHAKE256, [seed, &[]], purpose);
            return Some(job.and_bytes((number as u16).to_le_bytes()));
        }
        let number = self.entries;
        if number == self.matrix.len() {
            return None;
        }
        self.entries += 1;
        let (row, column) = (number / set.columns(), number % set.columns());
        let purpose = Use::Entry(number, self.sampler());
        let job = Job::new(SHAKE128, [self.matrix_seed, &[]], purpose);
        Some(job.and_bytes([column as u8, row as u8]))
    }
}

impl<'a, W: Words> Hashes<'a, W> {
    pub(super) fn new(set: Set) -> Self {
        Hashes {
            set,
            digest: None,
            challenge: None,
            masks: None,
            sampled: None,
            words: PhantomData,
        }
    }

    /// Does all jobs.
    #[inline(always)]
    pub(super) fn run<V: Vector>(&mut self) {
        sponge::run::<V, _>(self);
    }
}

impl<'a, W: Words> Jobs<'a> for Hashes<'a, W> {
    type Use = Use;

    #[inline(always)]
    fn next(&mut self) -> Option<Job<'a, Use>> {
        if let Some(digest) = &mut self.digest
            && let Some(job) = digest.job.take()
        {
            return Some(job);
        }
        if let Some(challenge) = &mut self.challenge
            && !challenge.has_begun
            && let Some(bytes) = challenge.bytes.get()
        {
            challenge.has_begun = true;
            let bytes = &bytes[..self.set.challenge_bytes()];
            return Some(Job::new(SHAKE256, [bytes, &[]], Use::Ball));
        }
        if let Some(masks) = &mut self.masks
            && masks.begun < masks.to.len()
            && let Some(seed) = masks.seed.get()
        {
            let number = masks.begun;
            masks.begun += 1;
            let job = Job::new(SHAKE256, [seed, &[]], Use::Mask(number));
            return Some(job.and_bytes((masks.first + number as u16).to_le_bytes()));
        }
        self.sampled.as_mut()?.next(self.set)
    }

    #[inline(always)]
    fn squeezed(&mut self, purpose: Use, number: usize, block: &Block) -> bool {
        const GIVEN: &str = "the job is there";
        match purpose {
            Use::Digest => {
                let digest = self.digest.as_mut().expect(GIVEN);
                digest.long.copy_from_slice(&block[..LONGEST]);
                let mut short = [0; MU];
                short.copy_from_slice(&block[..MU]);
                if digest.is_public {
                    short = told(short);
                }
                // Set once: there is one digest.
                let _ = digest.short.set(short);
                false
            }
            Use::Ball => {
                let challenge = self.challenge.as_mut().expect(GIVEN);
                !challenge.ball.take(number, block)
            }
            Use::Mask(i) => {
                let masks = self.masks.as_mut().expect(GIVEN);
                let from = number * SHAKE256.rate;
                masks.bytes[i][from..from + SHAKE256.rate].copy_from_slice(&block[..SHAKE256.rate]);
                if number + 1 < MASK_BLOCKS {
                    return true;
                }
                let (bytes, from) = (&masks.bytes[i], Some(self.set.mask()));
                if self.set.mask_bits() == 18 {
                    decode::<18, W>(bytes, from, &mut masks.to[i]);
                } else {
                    decode::<20, W>(bytes, from, &mut masks.to[i]);
                }
                false
            }
            Use::Secret(i, by) => {
                let sampled = self.sampled.as_mut().expect(GIVEN);
                let (_, to) = sampled.secrets.as_mut().expect(GIVEN);
                if !sampled.samplers[by].take_secrets::<W>(self.set, block, &mut to[i]) {
                    return true;
                }
                sampled.free |= 1 << by;
                false
            }
            Use::Entry(i, by) => {
                let sampled = self.sampled.as_mut().expect(GIVEN);
                if !sampled.samplers[by].take_entries::<W>(block, &mut sampled.matrix[i]) {
                    return true;
                }
                sampled.free |= 1 << by;
                false
            }
        }
    }
}
