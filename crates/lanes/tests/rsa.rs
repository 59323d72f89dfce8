//! RSA against AWS-LC: every size, every number of filled lanes, equal and different keys, edges; and each item alone,
//! across the lanes.
//!
//! `LANES_BATCHES` is how many batches of each size are compared with AWS-LC; if it is not set, as many as
//! take half a minute.

#[path = "rsa/oracle.rs"]
mod oracle;
mod skip;

use oracle::Key;
use outboard_lanes::rsa::{self, Components, PrivateKey, PublicKey};
use outboard_lanes::{Error, LANES};
use skip::skip;

/// xorshift64*: inputs that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545f4914f6cdd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// How many batches to compare: `LANES_BATCHES`, or the usual number, a few of which the emulation manages.
fn batches(usual: usize) -> usize {
    std::env::var("LANES_BATCHES").map_or(
        if cfg!(feature = "emulation") {
            4
        } else {
            usual
        },
        |count| count.parse().expect("LANES_BATCHES is a number of batches"),
    )
}

/// A big-endian number minus a small one.
fn minus(number: &[u8], mut small: u64) -> Vec<u8> {
    let mut out = number.to_vec();
    for byte in out.iter_mut().rev() {
        let (value, borrow) = byte.overflowing_sub((small & 255) as u8);
        *byte = value;
        small = (small >> 8) + u64::from(borrow);
    }
    out
}

/// An input below the modulus: often random, as often an edge.
fn input(random: &mut Random, key: &Key) -> Vec<u8> {
    let n = key.modulus();
    let len = n.len();
    let padded = |number: &[u8]| [vec![0; len - number.len()], number.to_vec()].concat();
    let power_of_two = |bit: usize| {
        let mut out = vec![0; len];
        out[len - 1 - bit / 8] = 1 << (bit % 8);
        out
    };
    match random.below(16) {
        0 => vec![0; len],
        1 => padded(&[1]),
        2 => minus(&n, 1),
        3 => minus(&n, 1 + random.next() % 1000),
        4 => padded(&key.p()),
        5 => minus(&padded(&key.q()), 1),
        // Around R = 2^(52 N), where the radix and the primes' size meet.
        6 => minus(
            &power_of_two((len * 4).div_ceil(52) * 52),
            random.next() % 3,
        ),
        7 => power_of_two(random.below(len * 8 - 1)),
        // All ones below some bit: the longest carries.
        8 => minus(&power_of_two(random.below(len * 8 - 1)), 1),
        // The same in Montgomery form, where R = 2^(52 N): modulo each prime, if it is below it.
        9 => {
            let r = power_of_two((len * 4).div_ceil(52) * 52);
            let ones = minus(&power_of_two(random.below(len * 4)), random.next() % 3);
            padded(&oracle::product_mod(
                &ones,
                &oracle::inverse_mod(&r, &n),
                &n,
            ))
        }
        _ => {
            let mut out: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
            out[0] %= n[0];
            out
        }
    }
}

fn ours(key: &Key) -> PrivateKey {
    key.with_components(|components| PrivateKey::new(&components))
        .expect("a key of two equal primes")
}

fn with_ours(key: Key) -> (Key, PrivateKey) {
    let ours = ours(&key);
    (key, ours)
}

/// Batches of random keys, inputs and numbers of filled lanes, every result checked by AWS-LC.
///
/// y → y^e is one-to-one below n, so a y below n with y^e = x is x^d, and AWS-LC's quick public operation
/// shows it. Its private operation is compared itself in one batch of sixteen.
fn differential(bits: u32, usual: usize) {
    if skip() {
        return;
    }
    let mut keys: Vec<_> = oracle::keys(bits).map(with_ours).collect();
    let mut random = Random(u64::from(bits));
    for round in 0..batches(usual) {
        if round % 1000 == 999 {
            let old = random.below(keys.len());
            keys[old] = with_ours(Key::generate(bits));
        }
        let filled = 1 + round % LANES;
        let one_key = random.below(4) == 0;
        let first = random.below(keys.len());
        let lanes: Vec<_> = (0..filled)
            .map(|_| {
                let other = random.below(keys.len());
                let (theirs, ours) = &keys[if one_key { first } else { other }];
                (theirs, ours, input(&mut random, theirs))
            })
            .collect();
        let batch: Vec<_> = lanes.iter().map(|(_, ours, x)| (*ours, &x[..])).collect();
        let results = rsa::private(&batch);
        let keys_of_lanes: Vec<_> = batch.iter().map(|(ours, _)| *ours).collect();
        let batch: Vec<_> = batch.iter().map(|(ours, x)| (ours.public(), *x)).collect();
        let powers = rsa::public(&batch);
        for (lane, (theirs, _, x)) in lanes.iter().enumerate() {
            let at = || {
                let key = theirs.to_der();
                format!("round {round}, lane {lane}, input {x:02x?}, key {key:02x?}")
            };
            let y = results[lane]
                .as_ref()
                .unwrap_or_else(|error| panic!("{error}: {}", at()));
            assert!(
                y.len() == x.len() && *y < theirs.modulus(),
                "private, {}",
                at()
            );
            assert!(theirs.public(y) == *x, "private, {}", at());
            if (round / LANES).is_multiple_of(16) {
                assert!(theirs.private(x) == *y, "private, {}", at());
            }
            assert!(powers[lane] == Ok(theirs.public(x)), "public, {}", at());
            let key = keys_of_lanes[lane];
            assert!(
                rsa::wide::private(key, x).as_ref() == Ok(y),
                "wide, {}",
                at()
            );
            let wide = rsa::wide::public(key.public(), x);
            assert!(wide == powers[lane], "wide public, {}", at());
        }
    }
}

#[test]
fn rsa_2048_agrees_with_aws_lc() {
    differential(2048, 5000);
}

#[test]
fn rsa_3072_agrees_with_aws_lc() {
    differential(3072, 2000);
}

#[test]
fn rsa_4096_agrees_with_aws_lc() {
    differential(4096, 1000);
}

#[test]
fn sizes_may_be_mixed_and_a_bad_input_stands_alone() {
    if skip() {
        return;
    }
    let keys: Vec<_> = [2048, 3072, 4096].map(Key::generate).into();
    let ours: Vec<_> = keys.iter().map(ours).collect();
    let good: Vec<Vec<u8>> = keys
        .iter()
        .map(|key| vec![7; key.modulus().len() - 1])
        .collect();
    let too_large = keys[1].modulus();
    let batch = [
        (&ours[0], &good[0][..]),
        (&ours[1], &too_large[..]),
        (&ours[2], &good[2][..]),
        (&ours[1], &good[1][..]),
        (&ours[0], &[][..]),
    ];
    let results = rsa::private(&batch);
    assert_eq!(results[0], Ok(keys[0].private(&good[0])));
    assert_eq!(results[1], Err(Error::InputTooLarge));
    assert_eq!(results[2], Ok(keys[2].private(&good[2])));
    assert_eq!(results[3], Ok(keys[1].private(&good[1])));
    assert_eq!(results[4], Ok(vec![0; 256]));
    for ((key, x), result) in batch.into_iter().zip(results) {
        assert_eq!(rsa::wide::private(key, x), result);
    }
    let too_long = [&[1][..], &good[1], &[0]].concat();
    for x in [&too_large, &too_long] {
        let refused = Err(Error::InputTooLarge);
        assert_eq!(rsa::wide::private(&ours[1], x), refused);
        assert_eq!(rsa::wide::public(ours[1].public(), x), refused);
    }
}

#[test]
fn a_key_that_does_not_belong_together_releases_nothing() {
    if skip() {
        return;
    }
    let keys: Vec<_> = oracle::keys(2048).take(2).collect();
    let good = ours(&keys[0]);
    // A fault in one half: dq off by two. The classical attack would factor n with this result.
    let mut dq = keys[1].dq();
    *dq.last_mut().unwrap() ^= 2;
    let bad = keys[1]
        .with_components(|c| PrivateKey::new(&Components { dq: &dq, ..c }))
        .unwrap();
    let x = vec![3; 200];
    for lane in 0..LANES {
        let mut batch = vec![(&good, &x[..]); LANES];
        batch[lane].0 = &bad;
        for (i, result) in rsa::private(&batch).into_iter().enumerate() {
            let expected = if i == lane {
                Err(Error::Fault)
            } else {
                Ok(keys[0].private(&x))
            };
            assert_eq!(result, expected);
        }
    }
    assert_eq!(rsa::wide::private(&bad, &x), Err(Error::Fault));
}

#[test]
fn exponents_of_any_length_side_by_side() {
    if skip() {
        return;
    }
    let keys: Vec<_> = oracle::keys(2048).take(3).collect();
    let exponents = [
        3,
        5,
        17,
        257,
        65537,
        0xffff_ffff,
        u64::MAX,
        0x8000_0000_0000_0001,
    ];
    let n: Vec<_> = (0..LANES).map(|i| keys[i % keys.len()].modulus()).collect();
    let ours: Vec<_> = exponents
        .iter()
        .zip(&n)
        .map(|(e, n)| PublicKey::new(n, &e.to_be_bytes()).unwrap())
        .collect();
    let x = vec![0xa5; 255];
    let batch: Vec<_> = ours.iter().map(|key| (key, &x[..])).collect();
    for (i, result) in rsa::public(&batch).into_iter().enumerate() {
        let e = exponents[i];
        assert_eq!(
            result,
            Ok(oracle::power(&x, &e.to_be_bytes(), &n[i])),
            "e = {e}"
        );
        let wide = rsa::wide::public(&ours[i], &x);
        assert_eq!(
            wide,
            Ok(oracle::power(&x, &e.to_be_bytes(), &n[i])),
            "e = {e}"
        );
    }
}

#[test]
fn keys_that_are_not_ours_to_take() {
    let key = Key::generate(2048);
    let new = |change: &dyn Fn(&mut Components<'_>)| {
        key.with_components(|mut components| {
            change(&mut components);
            PrivateKey::new(&components).map(|_| ())
        })
    };
    assert_eq!(new(&|_| ()), Ok(()));
    assert_eq!(new(&|c| c.n = &[1; 128]), Err(Error::UnsupportedKey));
    assert_eq!(new(&|c| c.e = &[1; 9]), Err(Error::UnsupportedKey));
    assert_eq!(new(&|c| c.e = &[4]), Err(Error::InvalidRsaKey));
    assert_eq!(new(&|c| c.p = &[7; 100]), Err(Error::UnequalPrimes));
    assert_eq!(new(&|c| c.p = c.q), Err(Error::InvalidRsaKey));
    assert_eq!(new(&|c| c.dp = c.n), Err(Error::InvalidRsaKey));
}

#[test]
fn either_prime_may_be_the_larger() {
    if skip() {
        return;
    }
    for key in oracle::keys(2048).take(3) {
        let (p, q) = (key.p(), key.q());
        let qinv = oracle::inverse_mod(&p, &q);
        let exchanged = key.with_components(|c| {
            PrivateKey::new(&Components {
                p: &q,
                q: &p,
                dp: c.dq,
                dq: c.dp,
                qinv: &qinv,
                ..c
            })
        });
        let (exchanged, x) = (exchanged.unwrap(), vec![9; 250]);
        assert_eq!(rsa::private(&[(&exchanged, &x)]), [Ok(key.private(&x))]);
        assert_eq!(rsa::wide::private(&exchanged, &x), Ok(key.private(&x)));
    }
}
