//! ML-DSA.Sign_internal (FIPS 204, algorithm 7).
//!
//! The masks of the next attempt are made in the lanes that the hash of this attempt leaves empty. If this one is accepted,
//! nobody uses them.

use crate::Error;
use crate::checks::Check;
use crate::ml_dsa::encoding::{
    Hints, Parts, count, decode_low, decode_secrets, encode_commitment, encode_hints,
    encode_response,
};
use crate::ml_dsa::hashes::{Challenge, Digest, Hashes, Masks, Sampled};
use crate::ml_dsa::ntt::Transform;
use crate::ml_dsa::numbers::canonical;
use crate::ml_dsa::ring::{self, Polynomial, VECTORS, ZERO, within};
use crate::ml_dsa::round::{decompose, make_hint};
use crate::ml_dsa::sample::Ball;
use crate::ml_dsa::{BYTES, Expanded, MOST_COLUMNS, MOST_ROWS, MU, Set};
use crate::vector::words::{WORDS, WordKernel, WordMask, Words, digit};
use crate::vector::{Mask, Vector, reread, told};
use core::cell::OnceCell;
use core::mem;

/// The most bytes of w1.
const COMMITMENT: usize = Set::MlDsa87.commitment_bytes();

/// The last attempt: the numbers of its masks have 16 bits.
const LAST: u16 = u16::MAX - MOST_COLUMNS as u16;

/// What masks are before they are made: γ1 everywhere. No attempt with such a mask is accepted. With zeros, a fault that
/// skips a mask would give a valid signature that tells s1.
const fn unmade(set: Set) -> Polynomial {
    [digit([set.mask(); WORDS]); VECTORS]
}

/// Into a signature of its length, with a private key of its length.
pub(super) struct Sign<'a> {
    pub(super) set: Set,
    pub(super) key: &'a [u8],
    pub(super) mu: &'a [u8; MU],
    pub(super) randomness: &'a [u8; BYTES],
    /// The public half, if it was expanded before.
    pub(super) expanded: Option<&'a Expanded>,
    pub(super) signature: &'a mut [u8],
}

impl WordKernel for Sign<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> Result<(), Error> {
        let (set, rows, columns) = (self.set, self.set.rows(), self.set.columns());
        let parts = Parts::of(set, self.key).ok_or(Error::InvalidSigningKey)?;
        if let Some(expanded) = self.expanded
            && told(expanded.seed != *parts.matrix_seed)
        {
            return Err(Error::InvalidSigningKey);
        }
        // s1, s2 and t0.
        let mut secrets = [ZERO; MOST_COLUMNS + 2 * MOST_ROWS];
        if !decode_secrets::<W>(set, parts.secrets, &mut secrets[..rows + columns]) {
            return Err(Error::InvalidSigningKey);
        }
        let (s1, rest) = secrets.split_at_mut(columns);
        let (s2, t0) = rest.split_at_mut(rows);
        let t0 = &mut t0[..rows];
        for (bytes, to) in parts.low.chunks_exact(32 * 13).zip(&mut *t0) {
            decode_low::<W>(bytes, to);
        }
        for polynomial in s1.iter_mut().chain(&mut *s2).chain(&mut *t0) {
            W::call(Transform(polynomial));
        }

        let mut made = Vec::new();
        let (mut one, mut other) = ([unmade(set); MOST_COLUMNS], [unmade(set); MOST_COLUMNS]);
        let (mut masks, mut next) = (&mut one[..columns], &mut other[..columns]);
        let mut hedge = [0; BYTES + MU];
        hedge[..BYTES].copy_from_slice(self.randomness);
        hedge[BYTES..].copy_from_slice(self.mu);
        let seed = OnceCell::new();
        let mut hashes = Hashes::<W>::new(set);
        hashes.digest = Some(Digest::new([parts.seed, &hedge], &seed));
        hashes.masks = Some(Masks::new(&seed, 0, &mut *masks));
        if self.expanded.is_none() {
            made = vec![ZERO; rows * columns];
            hashes.sampled = Some(Sampled::new(parts.matrix_seed, &mut made, None));
        }
        hashes.run::<V>();
        let matrix = self
            .expanded
            .map_or(&made[..], |expanded| expanded.matrix_and_vector().0);

        let mut attempt = Attempt {
            set,
            commitments: [ZERO; MOST_ROWS],
            remainders: [ZERO; MOST_ROWS],
            responses: [ZERO; MOST_COLUMNS],
            bytes: [0; COMMITMENT],
            hints: [[0; VECTORS]; MOST_ROWS],
        };
        let mut number = 0_u16;
        loop {
            attempt.commit::<V, W>(matrix, masks);
            number += columns as u16;
            if number > LAST {
                return Err(Error::Fault);
            }
            let hash = OnceCell::new();
            let mut ball = Ball::new(set);
            let mut hashes = Hashes::<W>::new(set);
            let bytes = &attempt.bytes[..set.commitment_bytes()];
            let mut digest = Digest::new([self.mu, bytes], &hash);
            digest.is_public = true;
            hashes.digest = Some(digest);
            hashes.challenge = Some(Challenge::new(&hash, &mut ball));
            hashes.masks = Some(Masks::new(&seed, number, &mut *next));
            hashes.run::<V>();

            let mut challenge = [ball.polynomial()];
            W::call(Transform(&mut challenge[0]));
            if attempt.respond::<W>(&challenge, masks, s1, s2) && attempt.hint::<W>(&challenge, t0)
            {
                let hash = hash.get().ok_or(Error::Fault)?;
                if Check::LowPart.verdict(attempt.is_within_again::<W>(&challenge, s2)) == 0 {
                    return Err(Error::Fault);
                }
                attempt.release::<V, W>(hash, self.signature);
                return Ok(());
            }
            mem::swap(&mut masks, &mut next);
        }
    }
}

/// What an attempt leaves.
struct Attempt {
    set: Set,
    /// w.
    commitments: [Polynomial; MOST_ROWS],
    /// w - c s2.
    remainders: [Polynomial; MOST_ROWS],
    /// The transforms of the masks; from `respond` on, γ1 - z.
    responses: [Polynomial; MOST_COLUMNS],
    /// w1.
    bytes: [u8; COMMITMENT],
    hints: Hints,
}

impl Attempt {
    /// Lines 11 to 15: w, and the bytes of w1.
    #[inline(always)]
    fn commit<V: Vector, W: Words>(&mut self, matrix: &[Polynomial], masks: &[Polynomial]) {
        let (set, columns) = (self.set, self.set.columns());
        let transforms = &mut self.responses[..columns];
        transforms.copy_from_slice(masks);
        for transform in &mut *transforms {
            W::call(Transform(transform));
        }
        let mut high = ZERO;
        let rows = matrix.chunks_exact(columns).zip(&mut self.commitments);
        let bytes = self.bytes.chunks_exact_mut(32 * set.commitment_bits());
        for ((row, commitment), bytes) in rows.zip(bytes) {
            ring::product::<W>(row, transforms, commitment);
            for (commitment, high) in commitment.iter_mut().zip(&mut high) {
                let number = canonical(W::load(commitment));
                number.store(commitment);
                decompose(set.rounding(), number).0.store(high);
            }
            encode_commitment::<V, W>(set, &high, bytes);
        }
    }

    /// Lines 18 to 23: z and w - c s2. Whether neither tells a secret.
    #[inline(always)]
    fn respond<W: Words>(
        &mut self,
        challenge: &[Polynomial; 1],
        masks: &[Polynomial],
        s1: &[Polynomial],
        s2: &[Polynomial],
    ) -> bool {
        let set = self.set;
        let (mask, slack) = (set.mask(), set.slack());
        let limit = set.rounding().half() - slack;
        let mut good = WordMask::MAX;
        let mut product = ZERO;
        for ((s1, masks), to) in s1.iter().zip(masks).zip(&mut self.responses) {
            ring::product::<W>(challenge, core::slice::from_ref(s1), &mut product);
            for ((product, masks), to) in product.iter().zip(masks).zip(to) {
                let z = W::load(masks).add(W::load(product));
                let from_mask = canonical(W::splat(mask).sub(z));
                from_mask.store(to);
                // Modulo q: what is not within ±γ1 is not within these limits either.
                good &= within(W::splat(mask).sub(from_mask), mask - slack);
            }
        }
        let rows = s2.iter().zip(&self.commitments);
        for ((s2, commitment), remainder) in rows.zip(&mut self.remainders) {
            ring::product::<W>(challenge, core::slice::from_ref(s2), &mut product);
            *remainder = *commitment;
            ring::subtract::<W>(remainder, &product);
            for numbers in remainder.iter() {
                let (_, low) = decompose(set.rounding(), W::load(numbers));
                good &= within(low, limit);
            }
        }
        told(good) == WordMask::MAX
    }

    /// Whether `respond` was right about w - c s2 of an attempt that is accepted: all lanes or none. A signature with other low
    /// parts verifies, and tells s2.
    #[inline(always)]
    fn is_within_again<W: Words>(&self, challenge: &[Polynomial; 1], s2: &[Polynomial]) -> Mask {
        let set = self.set;
        let limit = set.rounding().half() - set.slack();
        let (mut good, mut product) = (WordMask::MAX, ZERO);
        let challenge: &[Polynomial; 1] = reread(challenge);
        let rows = s2.iter().zip(&self.commitments).zip(&self.remainders);
        for ((s2, commitment), remainder) in rows {
            let s2 = core::slice::from_ref(reread(s2));
            ring::product::<W>(challenge, s2, &mut product);
            let numbers = reread(commitment).iter().zip(&product);
            for ((number, product), remainder) in numbers.zip(reread(remainder)) {
                let number = canonical(W::load(number).sub(W::load(product)));
                good &= number.sub(W::load(remainder)).below(W::splat(1));
                let (_, low) = decompose(set.rounding(), number);
                good &= within(low, limit);
            }
        }
        if told(good) == WordMask::MAX {
            Mask::MAX
        } else {
            0
        }
    }

    /// Lines 25 to 28: the hints. Whether they are few, and c t0 is short.
    #[inline(always)]
    fn hint<W: Words>(&mut self, challenge: &[Polynomial; 1], t0: &[Polynomial]) -> bool {
        let set = self.set;
        let half = set.rounding().half();
        let (mut good, mut product) = (WordMask::MAX, ZERO);
        let rows = t0.iter().zip(&self.remainders).zip(&mut self.hints);
        for ((t0, remainder), hints) in rows {
            ring::product::<W>(challenge, core::slice::from_ref(t0), &mut product);
            for ((product, number), hints) in product.iter().zip(remainder).zip(hints) {
                let (product, number) = (W::load(product), W::load(number));
                let from_zero = canonical(product.add(W::splat(half - 1)));
                good &= from_zero.below(W::splat(2 * half - 1));
                let sum = canonical(number.add(product));
                *hints = make_hint(set.rounding(), number, sum);
            }
        }
        told(good) == WordMask::MAX && told(count(&self.hints)) <= set.hints()
    }

    /// Line 33: the signature, which is public from here on.
    #[inline(always)]
    fn release<V: Vector, W: Words>(&self, hash: &[u8; MU], signature: &mut [u8]) {
        let set = self.set;
        let (challenge, rest) = signature.split_at_mut(set.challenge_bytes());
        challenge.copy_from_slice(&hash[..set.challenge_bytes()]);
        let (responses, hints) = rest.split_at_mut(set.response_bytes());
        let places = responses.chunks_exact_mut(32 * set.mask_bits());
        for (from, to) in self.responses.iter().zip(places) {
            encode_response::<V, W>(set, from, to);
        }
        encode_hints(set, &told(self.hints), hints);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::Digit;
    use crate::vector::words::run_words;

    /// Whether an attempt with these masks is accepted, all of whose other numbers are small.
    struct Accepts(Set, Polynomial);

    impl WordKernel for Accepts {
        type Output = bool;

        #[inline(always)]
        fn run<V: Vector, W: Words>(self) -> bool {
            let Accepts(set, mask) = self;
            let columns = set.columns();
            let mut attempt = Attempt {
                set,
                commitments: [ZERO; MOST_ROWS],
                remainders: [ZERO; MOST_ROWS],
                responses: [ZERO; MOST_COLUMNS],
                bytes: [0; COMMITMENT],
                hints: [[0; VECTORS]; MOST_ROWS],
            };
            // c is 1, and s1 is ±η by turns.
            let mut challenge = [ZERO];
            challenge[0][0] = Digit([1, 0, 0, 0, 0, 0, 0, 0]);
            W::call(Transform(&mut challenge[0]));
            let signs = core::array::from_fn(|i| [set.width(), -set.width()][i % 2]);
            let mut secret = [digit(signs); VECTORS];
            W::call(Transform(&mut secret));
            let mut masks = [ZERO; MOST_COLUMNS];
            masks[columns - 1] = mask;
            let secrets = [secret; MOST_COLUMNS];
            attempt.respond::<W>(
                &challenge,
                &masks[..columns],
                &secrets[..columns],
                &[ZERO; MOST_ROWS][..set.rows()],
            )
        }
    }

    #[test]
    fn a_mask_that_was_not_made_is_never_accepted() {
        for set in Set::ALL {
            assert!(!run_words(Accepts(set, unmade(set))).expect("lanes"));
            assert!(run_words(Accepts(set, ZERO)).expect("lanes"));
        }
    }
}
