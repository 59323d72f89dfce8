//! The nonces of ECDSA, hedged.
//!
//! ```text
//! k = SHA-512(entropy ‖ d ‖ z) mod n        32 bytes, the private key, the digest as signed
//! ```
//!
//! Why this one:
//! - With good entropy k is uniform whatever else is known: 512 bits reduced modulo n have a bias
//!   below 2^-128 for P-384 and 2^-256 for P-256.
//! - With entropy that repeats or is known, k is still what a secret-keyed hash makes of the message,
//!   as in Ed25519: no two messages share a k, nobody without d can tell it.
//! - With a message signed again k differs, so a fault in one of two signatures, or a side channel
//!   averaged over many, does not find the same k twice, as it would in RFC 6979.
//! - Entropy comes first, so that the block with the key is never the same twice (the order of
//!   draft-irtf-cfrg-det-sigs-with-noise).
//! - The input has one length per curve, so nothing can be appended and no field can be shifted
//!   into another.
//! - It is one block for P-256 and two for P-384, in lanes: RFC 6979's HMAC-DRBG takes 22 blocks of
//!   SHA-256, one message at a time.
//!
//! Constant time.

use super::bound::Limit;
use super::element::Element;
use super::modulus::Modulus;
use crate::LANES;
use crate::digits::from_words;
use crate::sha512::{self, padding, padding::Message};
use crate::vector::{Digit, Kernel, Vector};
use core::marker::PhantomData;
use zeroize::Zeroize;

/// Bytes of fresh randomness that go into a nonce.
pub(crate) const ENTROPY: usize = 32;

/// The nonces that the messages give, below n.
pub(crate) struct Nonces<'a, M, const N: usize> {
    /// Entropy, private key and digest of each lane, whose lengths are the same in all.
    pub(crate) messages: &'a [Message<'a>],
    pub(crate) order: PhantomData<M>,
}

impl<M: Modulus<N>, const N: usize> Kernel for Nonces<'_, M, N> {
    type Output = [Digit; N];

    #[inline(always)]
    fn run<V: Vector>(self) -> [Digit; N] {
        let mut state = sha512::INITIAL.map(Digit::splat);
        let mut block = [Digit::ZERO; 16];
        for index in 0..self.messages.first().map_or(0, padding::blocks) {
            padding::fill(&mut block, self.messages, index);
            sha512::compress::<V>(&mut state, &block);
        }
        // The first word is the uppermost: 512 bits are two numbers of N digits.
        let (mut low, mut high) = ([Digit::ZERO; N], [Digit::ZERO; N]);
        for lane in 0..LANES {
            let digits: [u64; 10] = from_words(state.map(|word| word.0[lane]));
            for (to, digit) in low.iter_mut().chain(&mut high).zip(digits) {
                to.0[lane] = digit;
            }
        }
        // N digits are below R, which is below 2^(room + 1) n.
        let any = const { Limit::times(2 << M::ROOM) };
        // In Montgomery form, low R + high R².
        let r2 = Element::<V, M, N>::splat(M::R2);
        let r3 = r2.to_montgomery();
        let low_r = Element::load_below(any, &low).mul(r2);
        let mut nonces = [Digit::ZERO; N];
        Element::load_below(any, &high)
            .mul_add(r3, low_r)
            .carry()
            .to_plain()
            .store(&mut nonces);
        block.zeroize();
        state.zeroize();
        low.zeroize();
        high.zeroize();
        nonces
    }
}
