//! CSNBOWH, CSNBRNG and CSNBRNGL: hashes and random numbers.

use outboard_engine::scalar::des3::set_odd_parity;
use outboard_engine::scalar::randomise;

use super::{MOST, SEGMENTS, Segment};
use crate::algorithm::hash::{self, Hash};
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;
use crate::value::{Bytes, Keyword, Rules};
use crate::verb::Verb;

impl Verb for OneWayHash {
    type Reply = Hashed;

    fn run(&self, _: &Call<'_>) -> Outcome<Hashed> {
        let mut rules = self.rule_array.parse();
        let algorithm = rules.required(&[
            ("SHA-1", hash::Algorithm::Sha1),
            ("SHA-224", hash::Algorithm::Sha224),
            ("SHA-256", hash::Algorithm::Sha256),
            ("SHA-384", hash::Algorithm::Sha384),
            ("SHA-512", hash::Algorithm::Sha512),
        ])?;
        let segment = rules.one(SEGMENTS)?.unwrap_or(Segment::Only);
        rules.end()?;
        if self.text.len() > MOST {
            return Err(Refusal::TextTooLong);
        }
        let mut hash = match segment.begins() {
            true => Hash::new(algorithm),
            false => Hash::resume(algorithm, &self.chaining_vector).ok_or(Refusal::Inconsistent)?,
        };
        if !segment.ends() && !self.text.len().is_multiple_of(algorithm.block()) {
            return Err(Refusal::TextLength);
        }
        hash.update(&self.text);
        Ok(match segment.ends() {
            true => Hashed {
                chaining_vector: [0; hash::STATE].into(),
                hash: hash.finish().into(),
            },
            false => Hashed {
                chaining_vector: hash.state().into(),
                hash: Bytes::default(),
            },
        })
    }
}

/// Which parity each byte of a random number has.
#[derive(Clone, Copy)]
enum Parity {
    Any,
    Odd,
    Even,
}

const PARITIES: &[(&str, Parity)] = &[
    ("RANDOM", Parity::Any),
    ("ODD", Parity::Odd),
    ("EVEN", Parity::Even),
];

fn random(length: usize, parity: Parity) -> Outcome<Bytes> {
    let mut number = vec![0; length];
    randomise(&mut number)?;
    match parity {
        Parity::Any => {}
        Parity::Odd => set_odd_parity(&mut number),
        Parity::Even => {
            set_odd_parity(&mut number);
            number.iter_mut().for_each(|byte| *byte ^= 1);
        }
    }
    Ok(number.into())
}

impl Verb for RandomNumberGenerate {
    type Reply = RandomNumber;

    fn run(&self, _: &Call<'_>) -> Outcome<RandomNumber> {
        let rules = Rules(vec![Keyword(self.form.0)]);
        let parity = rules.parse().required(PARITIES)?;
        Ok(RandomNumber {
            random_number: random(8, parity)?,
        })
    }
}

impl Verb for RandomNumberGenerateLong {
    type Reply = RandomNumberLong;

    fn run(&self, _: &Call<'_>) -> Outcome<RandomNumberLong> {
        let mut rules = self.rule_array.parse();
        let parity = rules.required(PARITIES)?;
        rules.end()?;
        match self.random_number_length {
            1..=8192 => Ok(RandomNumberLong {
                random_number: random(self.random_number_length as usize, parity)?,
            }),
            _ => Err(Refusal::Size),
        }
    }
}
