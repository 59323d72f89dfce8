//! A bit flipped in any intermediate of ML-DSA's signing releases nothing that verifies and tells a secret: `make lanes-fault`.
//!
//! A signature that does not verify does no harm here: the engine verifies it before it releases it.
#![cfg(feature = "fault")]

#[allow(dead_code)] // Other tests need more of it.
mod ml_dsa {
    pub(crate) mod aws_lc;
    pub(crate) mod naive;
}
#[allow(dead_code)]
mod faults;
mod random;

use ml_dsa::naive::{Key, Numbers};
use outboard_lanes::fault::{self, Check, Fault, Trace};
use outboard_lanes::ml_dsa::{BYTES, KeyPair, MU, Set, wide};
use outboard_lanes::{Error, LANES};
use random::Random;

/// What is signed, and with which key.
struct Signing {
    set: Set,
    keys: KeyPair,
    naive: Key,
    mu: [u8; MU],
    randomness: [u8; BYTES],
}

impl Signing {
    fn drawn(set: Set, random: &mut Random) -> Signing {
        let keys = wide::generate(set, &random.bytes()).expect("lanes");
        Signing {
            naive: Key::of(set, &keys.private_key),
            set,
            keys,
            mu: random.bytes(),
            randomness: random.bytes(),
        }
    }

    fn run(&self) -> Result<Vec<u8>, Error> {
        wide::sign(self.set, &self.keys.private_key, &self.mu, &self.randomness)
    }

    fn is_valid(&self, signature: &[u8]) -> bool {
        wide::verify(self.set, &self.keys.public_key, &self.mu, signature).is_ok()
    }

    /// Whether it verifies, and is beyond the limits that hide the key.
    fn does_harm(&self, result: &Result<Vec<u8>, Error>) -> bool {
        let signature = result.as_ref().ok();
        signature.is_some_and(|one| self.is_valid(one) && !self.naive.is_safe(one))
    }
}

#[test]
fn signatures() {
    let mut random = Random::new(204);
    let mut effects = 0;
    for set in Set::ALL {
        let signing = Signing::drawn(set, &mut random);
        let (undisturbed, steps) = fault::count(|| signing.run());
        let signature = undisturbed.as_ref().expect("a good key");
        assert!(signing.is_valid(signature) && signing.naive.is_safe(signature));
        // Half as many: after some faults no attempt is accepted, and 9,000 of them take half a minute on the emulation.
        let faults = faults::faults(300).div_ceil(2);
        let (mut withheld, mut invalid, mut others) = (0, 0, 0);
        for i in 0..faults {
            let fault = Fault {
                step: (i * steps + random.below(steps as usize) as u64) / faults,
                lane: random.below(LANES),
                bit: random.below(64) as u32,
            };
            let result = fault::inject(fault, || signing.run());
            assert!(!signing.does_harm(&result), "{set:?} {fault:?} does harm");
            match &result {
                Err(_) => withheld += 1,
                Ok(signature) if !signing.is_valid(signature) => invalid += 1,
                other => others += u32::from(*other != undisturbed),
            }
        }
        println!(
            "{set:?}: {faults} faults among {steps} steps: {withheld} signatures withheld, {invalid} do not verify, {others} are \
             other good ones"
        );
        effects += withheld + invalid;
    }
    assert!(effects > 0, "no fault had an effect: the test cannot fail");
}

/// A flipped bit in the verdict on one coefficient, the only one that is too large, releases nothing. Without the check that
/// stands behind, it does.
#[test]
fn the_limit_of_low_parts_is_checked_again() {
    let mut random = Random::new(7);
    for set in Set::ALL {
        let mut tries = 0;
        loop {
            let signing = Signing::drawn(set, &mut random);
            let beyond = signing
                .naive
                .first_attempt(&signing.mu, &signing.randomness);
            let (0, &[(row, place)]) = (beyond.responses, &beyond.low[..]) else {
                continue;
            };
            tries += 1;
            let verdict = verdict(set, row, place, &fault::trace(|| signing.run()));
            let disturbed = || fault::inject(verdict, || signing.run());
            // Where the hints do not fit, the attempt is rejected all the same, or the signature does not verify.
            if signing.does_harm(&fault::without(Check::LowPart, disturbed)) {
                assert_eq!(disturbed(), Err(Error::Fault), "{set:?} {verdict:?}");
                break;
            }
            assert!(!signing.does_harm(&disturbed()));
            assert!(tries < 20, "{set:?}: no fault does harm without the check");
        }
        println!("{set:?}: harm without the check after {tries} tries");
    }
}

/// The fault that turns the verdict on one low part of the first attempt. The attempt is known to be rejected there.
fn verdict(set: Set, row: usize, place: usize, trace: &Trace) -> Fault {
    let Numbers { rows, columns, .. } = Numbers::of(set);
    // One for each commitment, and each response, before those of w - c s2.
    let product = trace.kernel("Inverse", rows + columns + row);
    let next = match row + 1 == rows {
        // The secrets, the first masks, the challenge: then the next masks.
        true => trace.kernel("Transform", 2 * columns + 2 * rows + 1).start,
        false => trace.kernel("Dot", rows + columns + row + 1).start,
    };
    let masks: Vec<_> = trace
        .masks
        .iter()
        .filter(|step| (product.end..next).contains(step))
        .collect();
    // For 16 numbers at a time: whether the rounding fits, and whether the low part is within the limit.
    let (vectors, within) = (N / 16, 1);
    let of_low_parts = &masks[masks.len() - 2 * vectors..];
    let (vector, number) = (place / 16, place % 16);
    Fault {
        step: *of_low_parts[2 * vector + within],
        lane: number / 2,
        bit: number as u32 % 2,
    }
}

/// Coefficients of a polynomial.
const N: usize = 256;
