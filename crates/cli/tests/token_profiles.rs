//! The profiles that the card service's slots have (PKCS #11 Profiles 3.2): the mandatory cases, call for call. Names, versions,
//! labels and numbers are this test's own; so is the key of AUTH-M-1-32, for nobody has the private half of the case's.

mod common;

use common::calls::{call, found, functions, profiles};
use common::service::Service;
use common::{token, tokens};
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use cryptoki_sys::*;
use std::ptr::null_mut;

/// In one process, which has one module, and that module one service.
#[test]
fn the_slots_have_the_profiles_that_their_objects_tell() {
    let service = Service::start();
    let key = service.key("site", "rsa-2048");
    let certificate = std::fs::read(service.certificate(&key)).expect("it was just made");
    let mut certify = service.outboard(&["keys", "certify", "site"]);
    certify.write_stdin(certificate).assert().success();
    let number = tokens::create(&service, "web", true).slot;
    // SAFETY: this process has one test, and nobody else reads the environment now.
    unsafe { std::env::set_var("OUTBOARD_PKCS11", tokens::settings(&service)) };

    public_certificates(0);
    extended(number);
    authentication(number);

    let module = module();
    let told = |number| {
        let session = module.open_ro_session(slot(&module, number));
        profiles(functions(), session.expect("a session").handle())
    };
    let [baseline, hkdf] = [CKP_BASELINE_PROVIDER, CKP_HKDF_TLS_TOKEN];
    assert_eq!(told(0), [baseline, CKP_PUBLIC_CERTIFICATES_TOKEN, hkdf]);
    let of_logins = [CKP_EXTENDED_PROVIDER, CKP_AUTHENTICATION_TOKEN];
    assert_eq!(told(number), [baseline, of_logins[0], of_logins[1], hkdf]);
    nobody_destroys_them(&module, number);

    let policy = outboard_administration::TokenPolicy {
        types: None,
        mechanisms: Some(vec!["CKM_ECDSA_SHA256".into()]),
    };
    let policy = outboard_administration::TokenRequest::Policy { policy };
    tokens::ask(&service, "web", policy);
    module
        .get_token_info(slot(&module, number))
        .expect("it is there");
    assert_eq!(told(number), [baseline, of_logins[0], of_logins[1]]);
}

/// What each case begins with.
fn module() -> Pkcs11 {
    let module = Pkcs11::new(token()).expect("it is a module");
    let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
    module.initialize(arguments).expect("it begins");
    let version = module.get_library_info().expect("it tells");
    assert_eq!(version.cryptoki_version().major(), 3);
    module
}

fn slot(module: &Pkcs11, number: u64) -> Slot {
    let slots = module.get_slots_with_token().expect("slots");
    let is_it = |slot: &&Slot| slot.id() == number;
    *slots.iter().find(is_it).expect("it is there")
}

/// What each case ends with.
fn end(module: Pkcs11, session: Session, slot: Slot) {
    let number = slot.id();
    drop(session);
    assert_eq!(call!(functions(), C_CloseAllSessions(number)), CKR_OK);
    module.finalize().expect("it ends");
}

fn log_in(session: &Session) {
    let pin = AuthPin::new(tokens::PINS.1.into());
    session.login(UserType::User, Some(&pin)).expect("right");
}

fn one(session: &Session, template: &[Attribute]) -> ObjectHandle {
    let found = session.find_objects(template).expect("a search");
    assert_eq!(found.len(), 1, "{template:?}");
    found[0]
}

/// CERT-M-1-32, and what else the profile wants: the key has the certificate's id.
fn public_certificates(number: u64) {
    let module = module();
    let slot = slot(&module, number);
    let session = module.open_ro_session(slot).expect("a session");
    let certificates = [
        Attribute::Token(true),
        Attribute::Class(ObjectClass::CERTIFICATE),
    ];
    let certificate = one(&session, &certificates);
    let asked = [
        AttributeType::Label,
        AttributeType::Value,
        AttributeType::Private,
        AttributeType::Id,
    ];
    let told = session.get_attributes(certificate, &asked).expect("told");
    assert!(told.contains(&Attribute::Label(b"site".to_vec())));
    assert!(told.contains(&Attribute::Private(false)));
    let is_it = |one: &&Attribute| matches!(one, Attribute::Id(_));
    let id = told.iter().find(is_it).expect("it has one");
    for class in [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY] {
        one(&session, &[Attribute::Class(class), id.clone()]);
    }
    end(module, session, slot);
}

/// EXT-M-1-32, also with `C_LoginUser`, which the profile wants.
fn extended(number: u64) {
    let module = module();
    let slot = slot(&module, number);
    module.get_slot_info(slot).expect("it tells");
    let info = module.get_token_info(slot).expect("it tells");
    assert!(info.login_required() && info.user_pin_initialized() && info.token_initialized());
    let mechanisms = module.get_mechanism_list(slot).expect("a list");
    for kind in [
        MechanismType::SHA512,
        MechanismType::RSA_PKCS_KEY_PAIR_GEN,
        MechanismType::RSA_PKCS,
    ] {
        assert!(mechanisms.contains(&kind));
        module.get_mechanism_info(slot, kind).expect("it tells");
    }
    let session = module.open_rw_session(slot).expect("a session");
    log_in(&session);
    let objects = session.find_objects(&[Attribute::Token(true)]);
    assert!(!objects.expect("a search").is_empty());
    session.logout().expect("somebody was logged in");
    let pin = tokens::PINS.1.as_bytes();
    let logged_in = call!(
        functions(),
        C_LoginUser(
            session.handle(),
            CKU_USER,
            pin.as_ptr().cast_mut(),
            pin.len() as CK_ULONG,
            null_mut(),
            0
        )
    );
    assert_eq!(logged_in, CKR_OK);
    session.logout().expect("somebody was logged in");
    end(module, session, slot);
}

/// AUTH-M-1-32.
fn authentication(number: u64) {
    let module = module();
    let slot = slot(&module, number);
    let session = module.open_rw_session(slot).expect("a session");
    log_in(&session);
    let label = |text: &str| Attribute::Label(text.into());
    let bits = Attribute::ModulusBits(2048.into());
    let public = [
        Attribute::Token(true),
        label("testrsa-pub"),
        bits,
        Attribute::PublicExponent(vec![1, 0, 1]),
    ];
    let private = [Attribute::Token(true), label("testrsa-pri")];
    let made = session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &public, &private);
    made.expect("it is made");

    let half = |text: &str, class| {
        let class = Attribute::Class(class);
        one(&session, &[Attribute::Token(true), label(text), class])
    };
    let public = half("testrsa-pub", ObjectClass::PUBLIC_KEY);
    let asked = [AttributeType::Modulus, AttributeType::PublicExponent];
    let told = session.get_attributes(public, &asked).expect("told");
    assert!(matches!(&told[0], Attribute::Modulus(modulus) if modulus.len() == 256));
    assert_eq!(told[1], Attribute::PublicExponent(vec![1, 0, 1]));
    let private = half("testrsa-pri", ObjectClass::PRIVATE_KEY);
    let request = b"what a certificate request asks for";
    let signature = session.sign(&Mechanism::Sha256RsaPkcs, private, request);
    let signature = signature.expect("a signature");
    let verified = session.verify(&Mechanism::Sha256RsaPkcs, public, request, &signature);
    verified.expect("it is right");
    session.logout().expect("somebody was logged in");
    end(module, session, slot);
}

fn nobody_destroys_them(module: &Pkcs11, number: u64) {
    let session = module.open_rw_session(slot(module, number));
    let session = session.expect("a session");
    log_in(&session);
    let functions = functions();
    let mut class = [common::calls::attribute(CKA_CLASS, &[CKO_PROFILE])];
    for object in found(functions, session.handle(), &mut class) {
        let destroyed = call!(functions, C_DestroyObject(session.handle(), object));
        assert_eq!(destroyed, CKR_ACTION_PROHIBITED);
    }
}
