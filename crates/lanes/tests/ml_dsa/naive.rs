//! One attempt to sign (FIPS 204, algorithm 7), as it is written there: one number after the other.

use super::aws_lc::{shake128, shake256};
use outboard_lanes::ml_dsa::{BYTES, MU, Set};

const Q: i64 = 8_380_417;
const N: usize = 256;

type Polynomial = Vec<i64>;

/// FIPS 204, table 1.
pub(crate) struct Numbers {
    /// k and l.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// η, and the bits of a coefficient of a secret.
    width: i64,
    secret_bits: usize,
    /// τ.
    weight: usize,
    /// Of a coefficient of z: γ1 is half of what they can say.
    mask_bits: usize,
    /// γ2.
    half: i64,
    /// Of a coefficient of w1.
    commitment_bits: usize,
    /// λ / 4.
    challenge_bytes: usize,
}

impl Numbers {
    pub(crate) fn of(set: Set) -> Numbers {
        let [
            rows,
            columns,
            weight,
            mask_bits,
            commitment_bits,
            challenge_bytes,
        ] = match set {
            Set::MlDsa44 => [4, 4, 39, 18, 6, 32],
            Set::MlDsa65 => [6, 5, 49, 20, 4, 48],
            Set::MlDsa87 => [8, 7, 60, 20, 4, 64],
        };
        let [width, secret_bits, parts] = match set {
            Set::MlDsa44 => [2, 3, 88],
            Set::MlDsa65 => [4, 4, 32],
            Set::MlDsa87 => [2, 3, 32],
        };
        Numbers {
            rows,
            columns,
            width,
            secret_bits: secret_bits as usize,
            weight,
            mask_bits,
            half: (Q - 1) / parts,
            commitment_bits,
            challenge_bytes,
        }
    }

    fn mask(&self) -> i64 {
        1 << (self.mask_bits - 1)
    }

    /// β.
    fn slack(&self) -> i64 {
        self.weight as i64 * self.width
    }

    /// Algorithm 36.
    fn decompose(&self, number: i64) -> (i64, i64) {
        let low = centered(number, 2 * self.half);
        match number - low {
            all if all == Q - 1 => (0, low - 1),
            all => (all / (2 * self.half), low),
        }
    }
}

/// The parts of a private key that make a signature.
pub(crate) struct Key {
    numbers: Numbers,
    matrix: Vec<Vec<Polynomial>>,
    seed: Vec<u8>,
    s1: Vec<Polynomial>,
    s2: Vec<Polynomial>,
}

/// Which coefficients of an attempt are beyond their limits.
pub(crate) struct Beyond {
    /// Of z.
    pub(crate) responses: usize,
    /// Of the low parts of w - c s2: their polynomials, and their places there.
    pub(crate) low: Vec<(usize, usize)>,
}

impl Key {
    pub(crate) fn of(set: Set, key: &[u8]) -> Key {
        let numbers = Numbers::of(set);
        let (rho, rest) = key.split_at(BYTES);
        let (seed, rest) = rest.split_at(BYTES);
        let secrets = rest[MU..].chunks_exact(32 * numbers.secret_bits);
        let mut secrets: Vec<Polynomial> = secrets
            .take(numbers.columns + numbers.rows)
            .map(|bytes| packed(bytes, numbers.secret_bits, numbers.width))
            .collect();
        let s2 = secrets.split_off(numbers.columns);
        let entry = |row, column| entry(&shake128(&[rho, &[column as u8, row as u8]]));
        let row = |row| {
            (0..numbers.columns)
                .map(|column| entry(row, column))
                .collect()
        };
        Key {
            matrix: (0..numbers.rows).map(row).collect(),
            seed: seed.to_vec(),
            s1: secrets,
            s2,
            numbers,
        }
    }

    /// What is beyond the limits of the first attempt.
    pub(crate) fn first_attempt(&self, mu: &[u8; MU], randomness: &[u8; BYTES]) -> Beyond {
        let numbers = &self.numbers;
        let seed: [u8; 64] = shake256(&[&self.seed, randomness, mu]);
        let masks = (0..numbers.columns).map(|i| {
            let bytes: [u8; 640] = shake256(&[&seed, &[i as u8, 0]]);
            packed(
                &bytes[..32 * numbers.mask_bits],
                numbers.mask_bits,
                numbers.mask(),
            )
        });
        let masks: Vec<_> = masks.collect();
        let commitments = self.commitments(&masks);
        let high = commitments
            .iter()
            .flatten()
            .map(|&number| numbers.decompose(number).0);
        let bytes = pack(high, numbers.commitment_bits);
        let hash: [u8; 64] = shake256(&[mu, &bytes]);
        let challenge = self.challenge(&hash[..numbers.challenge_bytes]);
        let responses = masks.iter().zip(&self.s1).flat_map(|(mask, s1)| {
            let product = multiply(&challenge, s1);
            mask.iter()
                .zip(product)
                .map(|(y, product)| y + product)
                .collect::<Vec<_>>()
        });
        let limit = numbers.mask() - numbers.slack();
        Beyond {
            responses: responses.filter(|z| centered(*z, Q).abs() >= limit).count(),
            low: self.beyond_low(&commitments, &challenge),
        }
    }

    /// Whether a signature that verifies keeps the limits that hide s1 and s2.
    pub(crate) fn is_safe(&self, signature: &[u8]) -> bool {
        let numbers = &self.numbers;
        let (hash, rest) = signature.split_at(numbers.challenge_bytes);
        let challenge = self.challenge(hash);
        let responses = rest
            .chunks_exact(32 * numbers.mask_bits)
            .take(numbers.columns);
        let responses = responses.map(|bytes| packed(bytes, numbers.mask_bits, numbers.mask()));
        let limit = numbers.mask() - numbers.slack();
        let mut masks = Vec::new();
        for (z, s1) in responses.zip(&self.s1) {
            if z.iter().any(|z| z.abs() >= limit) {
                return false;
            }
            let product = multiply(&challenge, s1);
            masks.push(
                z.iter()
                    .zip(product)
                    .map(|(z, product)| z - product)
                    .collect(),
            );
        }
        self.beyond_low(&self.commitments(&masks), &challenge)
            .is_empty()
    }

    /// w.
    fn commitments(&self, masks: &[Polynomial]) -> Vec<Polynomial> {
        let masks: Vec<_> = masks.iter().map(|mask| transform(mask)).collect();
        let row = |row: &Vec<Polynomial>| {
            let mut sum = vec![0; N];
            for (entry, mask) in row.iter().zip(&masks) {
                for (sum, (entry, mask)) in sum.iter_mut().zip(entry.iter().zip(mask)) {
                    *sum = (*sum + entry * mask) % Q;
                }
            }
            back(&sum)
        };
        self.matrix.iter().map(row).collect()
    }

    fn beyond_low(&self, commitments: &[Polynomial], challenge: &[i64]) -> Vec<(usize, usize)> {
        let limit = self.numbers.half - self.numbers.slack();
        let mut beyond = Vec::new();
        for (row, (commitment, s2)) in commitments.iter().zip(&self.s2).enumerate() {
            let product = multiply(challenge, s2);
            for (i, (w, product)) in commitment.iter().zip(product).enumerate() {
                let (_, low) = self.numbers.decompose((w - product).rem_euclid(Q));
                if low.abs() >= limit {
                    beyond.push((row, i));
                }
            }
        }
        beyond
    }

    /// Algorithm 29.
    fn challenge(&self, hash: &[u8]) -> Polynomial {
        let bytes: [u8; 544] = shake256(&[hash]);
        let (signs, mut rest) = bytes.split_first_chunk().expect("8 bytes");
        let signs = u64::from_le_bytes(*signs);
        let mut c = vec![0; N];
        for (bit, i) in (N - self.numbers.weight..N).enumerate() {
            let j = loop {
                let (j, after) = rest.split_first().expect("enough bytes");
                rest = after;
                if usize::from(*j) <= i {
                    break usize::from(*j);
                }
            };
            c[i] = c[j];
            c[j] = 1 - 2 * (signs >> bit & 1) as i64;
        }
        c
    }
}

/// In the middle of the residues: above -modulus / 2, and at most modulus / 2.
fn centered(number: i64, modulus: i64) -> i64 {
    let number = number.rem_euclid(modulus);
    if number > modulus / 2 {
        number - modulus
    } else {
        number
    }
}

/// Numbers of that many bits, each taken from `top`.
fn packed(bytes: &[u8], bits: usize, top: i64) -> Polynomial {
    let bit = |at: usize| i64::from(bytes[at / 8] >> (at % 8) & 1);
    let number = |i| (0..bits).fold(0, |number, at| number | bit(bits * i + at) << at);
    (0..N).map(|i| top - number(i)).collect()
}

fn pack(numbers: impl Iterator<Item = i64>, bits: usize) -> Vec<u8> {
    let numbers: Vec<_> = numbers.collect();
    let mut bytes = vec![0; numbers.len() * bits / 8];
    for at in 0..8 * bytes.len() {
        bytes[at / 8] |= ((numbers[at / bits] >> (at % bits) & 1) as u8) << (at % 8);
    }
    bytes
}

/// Algorithm 30.
fn entry(bytes: &[u8; 1344]) -> Polynomial {
    let (numbers, _) = bytes.as_chunks::<3>();
    let numbers = numbers
        .iter()
        .map(|&[a, b, c]| i64::from_le_bytes([a, b, c & 0x7f, 0, 0, 0, 0, 0]));
    let entry: Vec<_> = numbers.filter(|&number| number < Q).take(N).collect();
    assert_eq!(entry.len(), N);
    entry
}

/// Powers of 1753, in the order of algorithm 41.
fn zeta(m: usize) -> i64 {
    (0..(m as u8).reverse_bits()).fold(1, |power, _| power * 1753 % Q)
}

/// Algorithm 41.
fn transform(w: &[i64]) -> Polynomial {
    let (mut w, mut m) = (w.to_vec(), 0);
    for length in [128, 64, 32, 16, 8, 4, 2, 1] {
        for start in (0..N).step_by(2 * length) {
            m += 1;
            let zeta = zeta(m);
            for j in start..start + length {
                let t = zeta * w[j + length] % Q;
                w[j + length] = (w[j] - t) % Q;
                w[j] = (w[j] + t) % Q;
            }
        }
    }
    w
}

/// Algorithm 42.
fn back(w: &[i64]) -> Polynomial {
    let (mut w, mut m) = (w.to_vec(), N);
    for length in [1, 2, 4, 8, 16, 32, 64, 128] {
        for start in (0..N).step_by(2 * length) {
            m -= 1;
            let zeta = -zeta(m);
            for j in start..start + length {
                let t = w[j];
                w[j] = (t + w[j + length]) % Q;
                w[j + length] = zeta * ((t - w[j + length]) % Q) % Q;
            }
        }
    }
    w.iter()
        .map(|number| (number * 8_347_681).rem_euclid(Q))
        .collect()
}

/// The product of polynomials, modulo X^256 + 1.
fn multiply(a: &[i64], b: &[i64]) -> Polynomial {
    let mut product = vec![0; N];
    for (i, a) in a.iter().enumerate().filter(|(_, a)| **a != 0) {
        for (j, b) in b.iter().enumerate() {
            let sign = if i + j < N { 1 } else { -1 };
            product[(i + j) % N] += sign * a * b;
        }
    }
    product
}
