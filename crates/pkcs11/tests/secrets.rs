//! Secret keys: their types, lengths and check values.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use common::raw::{Raw, bare, number};
use common::session;
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass};
use cryptoki_sys::*;

#[test]
fn an_aes_key_is_made_with_its_length_and_check_value() {
    let session = session();
    for length in [16, 24, 32] {
        let template = [
            Attribute::ValueLen((length as u64).into()),
            Attribute::Sensitive(false),
            Attribute::Extractable(true),
        ];
        let key = session.generate_key(&Mechanism::AesKeyGen, &template);
        let wanted = [
            AttributeType::Class,
            AttributeType::KeyType,
            AttributeType::Value,
            AttributeType::Local,
        ];
        let found = session.get_attributes(key.unwrap(), &wanted).unwrap();
        let [
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::AES),
            Attribute::Value(value),
            Attribute::Local(true),
        ] = &found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!(value.len(), length);
    }
    let template = [Attribute::ValueLen(17.into())];
    let refused = session.generate_key(&Mechanism::AesKeyGen, &template);
    assert!(refused.unwrap_err().to_string().contains("key size"));
}

#[test]
fn a_check_value_is_the_standards() {
    let raw = Raw::new();
    let (class, aes) = (number(CKO_SECRET_KEY), number(CKK_AES));
    // SP 800-38D's first test case: the hash key of a key of zeros.
    let check = [0x66, 0xe9, 0x4b];
    let of = |more: &[(CK_ATTRIBUTE_TYPE, &[u8])], length: usize| {
        let zeros = vec![0; length];
        let mut values: Vec<(_, &[u8])> = vec![
            (CKA_CLASS, &class),
            (CKA_KEY_TYPE, &aes),
            (CKA_VALUE, &zeros),
        ];
        values.extend(more);
        let key = raw.create(&values)?;
        raw.attribute(key, CKA_CHECK_VALUE)
    };
    assert_eq!(of(&[], 16).unwrap(), check);
    assert_eq!(of(&[(CKA_CHECK_VALUE, &check)], 16).unwrap(), check);
    assert_eq!(of(&[(CKA_CHECK_VALUE, &[])], 16).unwrap(), []);
    let wrong = of(&[(CKA_CHECK_VALUE, &[1, 2, 3])], 16);
    assert_eq!(wrong, Err(CKR_ATTRIBUTE_VALUE_INVALID));
    assert_eq!(of(&[], 17), Err(CKR_ATTRIBUTE_VALUE_INVALID));

    // FIPS 180: SHA-1 of "abc".
    for key_type in [CKK_GENERIC_SECRET, CKK_SHA_1_HMAC, CKK_SHA512_HMAC] {
        let key = raw.secret(key_type, b"abc").unwrap();
        let check = raw.attribute(key, CKA_CHECK_VALUE);
        assert_eq!(check.unwrap(), [0xa9, 0x99, 0x3e]);
    }
    assert_eq!(
        raw.secret(CKK_DES, &[1; 8]),
        Err(CKR_ATTRIBUTE_VALUE_INVALID)
    );
    assert_eq!(
        raw.secret(CKK_GENERIC_SECRET, b""),
        Err(CKR_ATTRIBUTE_VALUE_INVALID)
    );
}

#[test]
fn a_shared_secret_becomes_a_key_of_aes() {
    let session = session();
    let x25519 = [Attribute::EcParams(b"\x06\x03\x2b\x65\x6e".to_vec())];
    let mechanism = Mechanism::EccMontgomeryKeyPairGen;
    let pair = || session.generate_key_pair(&mechanism, &x25519, &[]).unwrap();
    let (ours, theirs) = (pair(), pair());
    let point = |key| match &session
        .get_attributes(key, &[AttributeType::EcPoint])
        .unwrap()[..]
    {
        [Attribute::EcPoint(point)] => point.clone(),
        other => panic!("{other:?}"),
    };
    let agree = |private, peer: &[u8], length: Option<u64>| {
        let mechanism = Mechanism::Ecdh1Derive(Ecdh1DeriveParams::new(EcKdf::null(), peer));
        let mut template = vec![
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::AES),
            Attribute::Sensitive(false),
            Attribute::Extractable(true),
        ];
        template.extend(length.map(|length| Attribute::ValueLen(length.into())));
        let key = session.derive_key(&mechanism, private, &template)?;
        session.get_attributes(key, &[AttributeType::Value, AttributeType::CheckValue])
    };
    for length in [None, Some(16), Some(24), Some(32)] {
        let one = agree(ours.1, &point(theirs.0), length).unwrap();
        assert_eq!(one, agree(theirs.1, &point(ours.0), length).unwrap());
    }
    assert!(agree(ours.1, &point(theirs.0), Some(20)).is_err());
}

#[test]
fn a_mechanism_makes_keys_of_its_own_type() {
    let raw = Raw::new();
    let generate = |kind, key_type: CK_KEY_TYPE, length| {
        let (key_type, length) = (number(key_type), number(length));
        raw.generate(
            &bare(kind),
            &[(CKA_KEY_TYPE, &key_type), (CKA_VALUE_LEN, &length)],
        )
    };
    assert!(generate(CKM_AES_KEY_GEN, CKK_AES, 16).is_ok());
    assert!(generate(CKM_GENERIC_SECRET_KEY_GEN, CKK_SHA256_HMAC, 20).is_ok());
    for (kind, key_type) in [
        (CKM_AES_KEY_GEN, CKK_GENERIC_SECRET),
        (CKM_GENERIC_SECRET_KEY_GEN, CKK_AES),
    ] {
        let refused = generate(kind, key_type, 16);
        assert_eq!(refused, Err(CKR_TEMPLATE_INCONSISTENT));
    }
}

/// FIPS 180: SHA-256 of "abc".
#[test]
fn a_secret_key_is_digested() {
    let session = session();
    let raw = Raw::with(&session);
    let secret = raw.secret(CKK_GENERIC_SECRET, b"bc").unwrap();
    let digest_key = raw.functions.C_DigestKey.unwrap();
    session.digest_init(&Mechanism::Sha256).unwrap();
    session.digest_update(b"a").unwrap();
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { digest_key(raw.session, secret) }, CKR_OK);
    let digest = session.digest_final().unwrap();
    assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);

    let parameters = [Attribute::EcParams(common::raw::X25519.to_vec())];
    let mechanism = Mechanism::EccMontgomeryKeyPairGen;
    let pair = session.generate_key_pair(&mechanism, &parameters, &[]);
    session.digest_init(&Mechanism::Sha256).unwrap();
    // SAFETY: as above.
    let refused = unsafe { digest_key(raw.session, pair.unwrap().1.handle()) };
    assert_eq!(refused, CKR_KEY_INDIGESTIBLE);
}
