//! What an operation hashes, as jobs that share eight Keccak states.
//!
//! The order of the jobs: digests first, because H and J are the longest; then the noise, as soon as its seed is there; then the
//! matrix, which fills the lanes that are left.

use super::ring::{Polynomial, ZERO};
use super::sample::Sampler;
use super::{BYTES, MOST, Set};
use crate::keccak::sponge::{Block, Job, Jobs, SHA3_256, SHA3_512, SHAKE128, SHAKE256};
use crate::vector::shorts::Shorts;
use core::cell::OnceCell;
use core::marker::PhantomData;

/// Polynomials of noise, at most: y, e1 and e2.
pub(super) const NOISES: usize = 2 * MOST + 1;

/// What a job's output is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    H,
    G,
    J,
    Noise(usize),
    Entry(usize),
}

/// The jobs, and what came of them.
pub(super) struct Hashes<'a, S> {
    set: Set,
    /// H, G, J: which of them are wanted and have not begun.
    digests: [Option<Job<'a, Use>>; 3],
    /// How many of them have not begun. (Derived, the compiler loads all three jobs whole for each job that is asked for.)
    digests_left: usize,
    /// ρ, and whether the matrix is to be transposed.
    matrix_seed: Option<(&'a [u8; BYTES], bool)>,
    entries: usize,
    /// σ or r: the second half of G, or what the caller has.
    pub(super) noise_seed: &'a OnceCell<[u8; BYTES]>,
    /// How many polynomials of noise are wanted, and how many have begun.
    wanted: usize,
    begun: usize,
    pub(super) h: [u8; BYTES],
    pub(super) g: [u8; 2 * BYTES],
    pub(super) j: [u8; BYTES],
    pub(super) noise: [[u8; 64 * 3]; NOISES],
    samplers: [Sampler; MOST * MOST],
    /// Row by row.
    pub(super) matrix: [Polynomial; MOST * MOST],
    shorts: PhantomData<S>,
}

impl<'a, S: Shorts> Hashes<'a, S> {
    pub(super) fn new(set: Set, noise_seed: &'a OnceCell<[u8; BYTES]>) -> Self {
        Hashes {
            set,
            digests: [None; 3],
            digests_left: 0,
            matrix_seed: None,
            entries: 0,
            noise_seed,
            wanted: 0,
            begun: 0,
            h: [0; BYTES],
            g: [0; 2 * BYTES],
            j: [0; BYTES],
            noise: [[0; 64 * 3]; NOISES],
            samplers: [Sampler::NEW; MOST * MOST],
            matrix: [ZERO; MOST * MOST],
            shorts: PhantomData,
        }
    }

    fn want(&mut self, number: usize, job: Job<'a, Use>) {
        debug_assert!(self.digests[number].is_none(), "each is wanted once");
        self.digests[number] = Some(job);
        self.digests_left += 1;
    }

    /// Out of line: there are few of them, and their jobs are many words.
    #[inline(never)]
    fn next_digest(&mut self) -> Option<Job<'a, Use>> {
        self.digests_left -= 1;
        self.digests.iter_mut().find_map(Option::take)
    }

    /// H, of a public key.
    pub(super) fn want_h(&mut self, key: &'a [u8]) {
        self.want(0, Job::new(SHA3_256, [key, &[]], Use::H));
    }

    /// G, of a message and a hash.
    pub(super) fn want_g(&mut self, message: &'a [u8], hash: &'a [u8]) {
        self.want(1, Job::new(SHA3_512, [message, hash], Use::G));
    }

    /// G, of a seed and the rank.
    pub(super) fn want_g_of_seed(&mut self, seed: &'a [u8]) {
        let job = Job::new(SHA3_512, [seed, &[]], Use::G);
        self.want(1, job.and_byte(self.set.rank() as u8));
    }

    /// J, of what a private key has for this, and a ciphertext.
    pub(super) fn want_j(&mut self, z: &'a [u8], ciphertext: &'a [u8]) {
        self.want(2, Job::new(SHAKE256, [z, ciphertext], Use::J));
    }

    /// The matrix of a seed.
    pub(super) fn want_matrix(&mut self, seed: &'a [u8; BYTES], transposed: bool) {
        self.matrix_seed = Some((seed, transposed));
        self.entries = 0;
        self.samplers = [Sampler::NEW; MOST * MOST];
    }

    /// Polynomials of noise, numbered from 0, as soon as there is a seed.
    pub(super) fn want_noise(&mut self, wanted: usize) {
        self.wanted = wanted;
    }

    /// The width of a polynomial of noise: in key generation, and for y, η1.
    pub(super) fn width(&self, number: usize) -> usize {
        let all = self.wanted == 2 * self.set.rank();
        if all || number < self.set.rank() {
            self.set.width()
        } else {
            2
        }
    }
}

impl<'a, S: Shorts> Jobs<'a> for Hashes<'a, S> {
    type Use = Use;

    #[inline(always)]
    fn next(&mut self) -> Option<Job<'a, Use>> {
        if self.digests_left > 0 {
            return self.next_digest();
        }
        if self.begun < self.wanted
            && let Some(seed) = self.noise_seed.get()
        {
            let number = self.begun;
            self.begun += 1;
            let job = Job::new(SHAKE256, [seed, &[]], Use::Noise(number));
            return Some(job.and_byte(number as u8));
        }
        let (seed, transposed) = self.matrix_seed?;
        let (number, rank) = (self.entries, self.set.rank());
        if number == rank * rank {
            return None;
        }
        self.entries += 1;
        let (row, column) = ((number / rank) as u8, (number % rank) as u8);
        let job = Job::new(SHAKE128, [seed, &[]], Use::Entry(number));
        Some(job.and_bytes(if transposed {
            [row, column]
        } else {
            [column, row]
        }))
    }

    #[inline(always)]
    fn squeezed(&mut self, purpose: Use, number: usize, block: &Block) -> bool {
        match purpose {
            Use::H => self.h.copy_from_slice(&block[..BYTES]),
            Use::J => self.j.copy_from_slice(&block[..BYTES]),
            Use::G => {
                self.g.copy_from_slice(&block[..2 * BYTES]);
                let mut seed = [0; BYTES];
                seed.copy_from_slice(&block[BYTES..2 * BYTES]);
                // A seed that the caller has given stays.
                let _ = self.noise_seed.set(seed);
            }
            Use::Noise(i) => {
                let wanted = 64 * self.width(i);
                let from = number * SHAKE256.rate;
                let to = &mut self.noise[i][from..wanted.min(from + SHAKE256.rate)];
                to.copy_from_slice(&block[..to.len()]);
                return from + SHAKE256.rate < wanted;
            }
            Use::Entry(i) => {
                return !self.samplers[i].take::<S>(block, &mut self.matrix[i]);
            }
        }
        false
    }
}
