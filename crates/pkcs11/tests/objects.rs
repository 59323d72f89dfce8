//! What templates may say, and what objects tell.

mod common;

use common::session;
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeInfo, AttributeType, KeyType, ObjectClass};
use cryptoki::session::Session;

const P256: &[u8] = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> RvError {
    match result {
        Err(Error::Pkcs11(error, _)) => error,
        other => panic!("{other:?}"),
    }
}

fn secret(session: &Session, more: &[Attribute]) -> Result<cryptoki::object::ObjectHandle, Error> {
    let template = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Value(b"a secret value".to_vec()),
    ];
    session.create_object(&[&template[..], more].concat())
}

#[test]
fn a_template_that_does_not_fit_is_refused_with_the_standards_reason() {
    let session = session();
    let class = Attribute::Class(ObjectClass::PUBLIC_KEY);
    let rsa = Attribute::KeyType(KeyType::RSA);
    let modulus = Attribute::Modulus(vec![0x80; 256]);
    let create = |template: &[Attribute]| refused(session.create_object(template));
    assert_eq!(create(&[]), RvError::TemplateIncomplete);
    assert_eq!(
        create(std::slice::from_ref(&class)),
        RvError::TemplateIncomplete
    );
    let half = [class.clone(), rsa.clone(), modulus.clone()];
    assert_eq!(create(&half), RvError::TemplateIncomplete);
    let twice = [&half[..], &[modulus]].concat();
    assert_eq!(create(&twice), RvError::TemplateInconsistent);
    let foreign = [&half[..], &[Attribute::EcParams(P256.to_vec())]].concat();
    assert_eq!(create(&foreign), RvError::AttributeTypeInvalid);
    let made = [&half[..], &[Attribute::Local(true)]].concat();
    assert_eq!(create(&made), RvError::AttributeReadOnly);
    let trusted = secret(&session, &[Attribute::Trusted(true)]);
    assert_eq!(refused(trusted), RvError::AttributeReadOnly);
    let kept = secret(&session, &[Attribute::Token(true)]);
    assert_eq!(refused(kept), RvError::TokenWriteProtected);
    let public = [
        class,
        Attribute::KeyType(KeyType::EC),
        Attribute::EcParams(P256.to_vec()),
        Attribute::EcPoint([&[4][..], &[1; 64]].concat()),
    ];
    assert_eq!(
        create(&public),
        RvError::AttributeValueInvalid,
        "a point off the curve"
    );
}

#[test]
fn a_secret_is_not_told_nor_found_by_its_value() {
    let session = session();
    let label = Attribute::Label(b"hidden".to_vec());
    let hidden = secret(&session, std::slice::from_ref(&label)).expect("an object");
    let told = |object| {
        let info = session.get_attribute_info(object, &[AttributeType::Value]);
        info.expect("an answer").remove(0)
    };
    assert!(matches!(told(hidden), AttributeInfo::Sensitive));
    let value = Attribute::Value(b"a secret value".to_vec());
    let found = |template: &[Attribute]| session.find_objects(template).expect("a search");
    assert_eq!(found(&[label.clone(), value.clone()]), []);
    assert_eq!(found(std::slice::from_ref(&label)), [hidden]);
    // No way back from what was hidden, in the object or in a copy of it.
    for open in [Attribute::Sensitive(false), Attribute::Extractable(true)] {
        let changed = session.update_attributes(hidden, std::slice::from_ref(&open));
        assert_eq!(refused(changed), RvError::AttributeReadOnly);
        let copied = session.copy_object(hidden, &[open]);
        assert_eq!(refused(copied), RvError::AttributeReadOnly);
    }
    let shown = [
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        label.clone(),
    ];
    let shown = secret(&session, &shown).expect("an object");
    assert!(matches!(told(shown), AttributeInfo::Available(14)));
    assert_eq!(found(&[label, value]), [shown]);
    // It can be hidden, and then not be shown again.
    session
        .update_attributes(shown, &[Attribute::Sensitive(true)])
        .expect("a change");
    assert!(matches!(told(shown), AttributeInfo::Sensitive));
}

#[test]
fn a_key_does_only_what_it_is_for() {
    let session = session();
    let for_nothing = [Attribute::Sign(false), Attribute::Derive(false)];
    let public = [Attribute::EcParams(P256.to_vec())];
    let generate = |private: &[Attribute]| {
        let made = session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, private);
        made.expect("a key pair")
    };
    let (_, private) = generate(&for_nothing);
    let signed = session.sign(&Mechanism::EcdsaSha256, private, b"a message");
    assert_eq!(refused(signed), RvError::KeyFunctionNotPermitted);
    let allowed = [cryptoki::mechanism::MechanismType::ECDSA_SHA384];
    let (public, private) = generate(&[Attribute::AllowedMechanisms(allowed.to_vec())]);
    session
        .sign(&Mechanism::EcdsaSha384, private, b"a message")
        .expect("allowed");
    let signed = session.sign(&Mechanism::EcdsaSha256, private, b"a message");
    assert_eq!(refused(signed), RvError::MechanismInvalid);
    let signed = session.sign(&Mechanism::Sha256RsaPkcs, private, b"a message");
    assert_eq!(refused(signed), RvError::KeyTypeInconsistent);
    let signed = session.sign(&Mechanism::EcdsaSha384, public, b"a message");
    assert_eq!(refused(signed), RvError::KeyFunctionNotPermitted);
}

#[test]
fn two_halves_share_a_secret() {
    use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
    let session = session();
    let x25519: &[u8] = b"\x06\x03\x2b\x65\x6e";
    for (mechanism, curve) in [
        (Mechanism::EccKeyPairGen, P256),
        (Mechanism::EccMontgomeryKeyPairGen, x25519),
    ] {
        let generate = || {
            let public = [Attribute::EcParams(curve.to_vec())];
            let made = session.generate_key_pair(&mechanism, &public, &[]);
            made.expect("a key pair")
        };
        let (one, other) = (generate(), generate());
        let shared = |private, public| {
            let point = match &session
                .get_attributes(public, &[AttributeType::EcPoint])
                .expect("it has one")[..]
            {
                [Attribute::EcPoint(point)] => point.clone(),
                other => panic!("{other:?}"),
            };
            let parameters = Ecdh1DeriveParams::new(EcKdf::null(), &point);
            let template = [
                Attribute::Sensitive(false),
                Attribute::Extractable(true),
                Attribute::ValueLen(16.into()),
            ];
            let mechanism = Mechanism::Ecdh1Derive(parameters);
            let secret = session.derive_key(&mechanism, private, &template);
            let secret = secret.expect("a secret");
            session
                .get_attributes(secret, &[AttributeType::Value])
                .expect("it is told")
        };
        let secret = shared(one.1, other.0);
        assert_eq!(secret, shared(other.1, one.0));
        assert!(matches!(&secret[..], [Attribute::Value(value)] if value.len() == 16));
    }
}
