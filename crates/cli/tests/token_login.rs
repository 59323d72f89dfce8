//! Tokens of the card service in the PKCS #11 module: logins, PINs and objects, as the standard has them.

mod common;

use common::calls::{call, functions, mechanism};
use common::service::Service;
use common::{public_directory, token, tokens};
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, SessionState, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use cryptoki_sys::*;
use outboard_administration::{Connection, Request, Role, Secret, TokenPolicy, TokenRequest};
use outboard_programs::child::ends_well;
use std::ptr::null_mut;
use std::thread;
use std::time::Duration;

const P256: &[u8] = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
const ED25519: &[u8] = b"\x06\x03\x2b\x65\x70";
const X25519: &[u8] = b"\x06\x03\x2b\x65\x6e";

/// In one process, which has one module, and that module one service.
#[test]
fn a_token_is_what_the_standard_says() {
    let service = Service::in_directory(public_directory());
    let directory = service.path("later");
    let settings = format!(
        "service={}, ledger={}, service-limit=60",
        directory.display(),
        service.path("ledger").display()
    );
    // SAFETY: this process has one test, and nobody else reads the environment now.
    unsafe { std::env::set_var("OUTBOARD_PKCS11", settings) };
    let module = Pkcs11::new(token()).expect("it is a module");
    let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
    module.initialize(arguments).expect("it begins");
    assert_eq!(numbers(&module), [1], "there is no service yet");

    std::os::unix::fs::symlink(service.directory(), &directory).expect("ours");
    service.says(&["service", "start"]);
    let slot = |name, has_pins| {
        let number = tokens::create(&service, name, has_pins).slot;
        let slots = module.get_slots_with_token().expect("slots");
        let is_it = |slot: &&Slot| slot.id() == number;
        *slots.iter().find(is_it).expect("it is seen")
    };
    let one = slot("one", true);
    assert_eq!(numbers(&module), [0, 1, 2]);
    logins(&module, one);
    pins(&module, one);
    locked(&module, one);
    objects(&service, &module, slot("objects", true));
    consent(&module, slot("consent", true));
    without_pins(&module, slot("open", false));
    policy(&service, &module, slot("policy", false));
    changes_from_outside(&service, &module, slot("outside", true));
    asynchronously(&service, &module, slot("later", true));
    changes_by_two(&module, slot("two", true));
    crowded(&service, &module, slot("crowded", true));
    gone(&service, &module, slot("gone", true));
}

fn numbers(module: &Pkcs11) -> Vec<u64> {
    let slots = module.get_slots_with_token().expect("slots");
    slots.iter().map(|slot| slot.id()).collect()
}

fn pin(text: &str) -> AuthPin {
    AuthPin::new(text.into())
}

fn user() -> AuthPin {
    pin(tokens::PINS.1)
}

#[track_caller]
fn refused<T>(answer: Result<T, Error>, reason: RvError) {
    match answer.map(|_| ()) {
        Err(Error::Pkcs11(found, _)) => assert_eq!(found, reason),
        other => panic!("{other:?}, not {reason:?}"),
    }
}

/// All objects but those that tell the token's profiles, which stay.
fn all(session: &Session) -> Vec<ObjectHandle> {
    let stays_not = [Attribute::Destroyable(true)];
    session.find_objects(&stays_not).expect("a search")
}

#[track_caller]
fn is_in(session: &Session, state: SessionState) {
    let info = session.get_session_info().expect("it is there");
    assert_eq!(info.session_state(), state);
}

fn flags(module: &Pkcs11, slot: Slot) -> [bool; 4] {
    let info = module.get_token_info(slot).expect("it is there");
    [
        info.user_pin_initialized(),
        info.user_pin_count_low(),
        info.user_pin_final_try(),
        info.user_pin_locked(),
    ]
}

fn logins(module: &Pkcs11, slot: Slot) {
    let info = module.get_token_info(slot).expect("it is there");
    assert_eq!(info.label(), "one's label");
    assert!(info.login_required() && !info.protected_authentication_path());
    assert!(!info.write_protected());
    let writes = module.open_rw_session(slot).expect("a session");
    let reads = module.open_ro_session(slot).expect("a session");
    is_in(&writes, SessionState::RwPublic);
    refused(writes.logout(), RvError::UserNotLoggedIn);
    refused(
        writes.login(UserType::User, Some(&pin("wrong"))),
        RvError::PinIncorrect,
    );
    refused(
        writes.login(UserType::User, Some(&pin("no"))),
        RvError::PinIncorrect,
    );
    refused(writes.login(UserType::User, None), RvError::ArgumentsBad);
    assert_eq!(flags(module, slot), [true, true, false, false]);
    reads.login(UserType::User, Some(&user())).expect("right");
    assert_eq!(flags(module, slot), [true, false, false, false]);
    is_in(&writes, SessionState::RwUser);
    is_in(&reads, SessionState::RoUser);
    refused(
        writes.login(UserType::User, Some(&user())),
        RvError::UserAlreadyLoggedIn,
    );
    let officer = pin(tokens::PINS.0);
    refused(
        writes.login(UserType::So, Some(&officer)),
        RvError::UserAnotherAlreadyLoggedIn,
    );
    reads.logout().expect("somebody was logged in");
    is_in(&writes, SessionState::RwPublic);
    refused(
        writes.login(UserType::So, Some(&officer)),
        RvError::SessionReadOnlyExists,
    );
    drop(reads);
    writes.login(UserType::So, Some(&officer)).expect("right");
    is_in(&writes, SessionState::RwSecurityOfficer);
    refused(
        module.open_ro_session(slot),
        RvError::SessionReadWriteSoExists,
    );
    refused(
        module.init_token(slot, &officer, "another"),
        RvError::SessionExists,
    );
    // The last session takes the login with it.
    drop(writes);
    let reads = module.open_ro_session(slot).expect("a session");
    is_in(&reads, SessionState::RoPublic);
}

fn pins(module: &Pkcs11, slot: Slot) {
    let reads = module.open_ro_session(slot).expect("a session");
    let new = pin("another one");
    refused(reads.set_pin(&user(), &new), RvError::SessionReadOnly);
    drop(reads);
    let session = module.open_rw_session(slot).expect("a session");
    refused(session.set_pin(&new, &user()), RvError::PinIncorrect);
    refused(session.set_pin(&user(), &pin("abc")), RvError::PinLenRange);
    // Longer than a request may be.
    let endless = pin(&"x".repeat(200_000));
    refused(session.set_pin(&user(), &endless), RvError::PinLenRange);
    refused(
        session.login(UserType::User, Some(&endless)),
        RvError::PinIncorrect,
    );
    refused(session.init_pin(&new), RvError::UserNotLoggedIn);
    session.login(UserType::User, Some(&user())).expect("right");
    // Who is logged in stays so, with a ticket that is good.
    session.set_pin(&user(), &new).expect("right");
    is_in(&session, SessionState::RwUser);
    data(&session, "kept", true).expect("it is kept");
    refused(session.init_pin(&new), RvError::UserNotLoggedIn);
    session.logout().expect("somebody was logged in");
    let officer = pin(tokens::PINS.0);
    session.login(UserType::So, Some(&officer)).expect("right");
    // The officer sees no private object, and makes none.
    assert_eq!(all(&session).len(), 0);
    refused(data(&session, "no", true), RvError::UserNotLoggedIn);
    is_in(&session, SessionState::RwSecurityOfficer);
    session.init_pin(&user()).expect("an officer may");
    session.logout().expect("somebody was logged in");
    session.login(UserType::User, Some(&user())).expect("right");
    assert_eq!(all(&session).len(), 1);
    drop(session);
    refused(
        module.init_token(slot, &user(), "another"),
        RvError::PinIncorrect,
    );
    module
        .init_token(slot, &officer, "another")
        .expect("an officer may");
    assert_eq!(flags(module, slot), [false; 4]);
    let info = module.get_token_info(slot).expect("it is there");
    assert_eq!(info.label(), "another");
    let session = module.open_rw_session(slot).expect("a session");
    refused(
        session.login(UserType::User, Some(&user())),
        RvError::UserPinNotInitialized,
    );
    session.login(UserType::So, Some(&officer)).expect("right");
    session.init_pin(&user()).expect("an officer may");
    session.logout().expect("somebody was logged in");
    session.login(UserType::User, Some(&user())).expect("right");
    assert_eq!(all(&session).len(), 0);
}

fn locked(module: &Pkcs11, slot: Slot) {
    let session = module.open_rw_session(slot).expect("a session");
    for at in 0..10 {
        assert_eq!(flags(module, slot), [true, at > 0, at == 9, false]);
        refused(
            session.login(UserType::User, Some(&pin("wrong"))),
            RvError::PinIncorrect,
        );
    }
    assert_eq!(flags(module, slot), [true, false, false, true]);
    refused(
        session.login(UserType::User, Some(&user())),
        RvError::PinLocked,
    );
}

fn data(session: &Session, label: &str, private: bool) -> Result<ObjectHandle, Error> {
    session.create_object(&[
        Attribute::Class(ObjectClass::DATA),
        Attribute::Token(true),
        Attribute::Private(private),
        Attribute::Label(label.into()),
        Attribute::Value(b"some data".to_vec()),
    ])
}

fn labelled(session: &Session, label: &str) -> Vec<ObjectHandle> {
    let template = [Attribute::Label(label.into())];
    session.find_objects(&template).expect("a search")
}

/// A key pair of the token's: the handles of the public and the private half.
fn pair(
    session: &Session,
    label: &str,
    more: &[Attribute],
) -> Result<(ObjectHandle, ObjectHandle), Error> {
    let both = [
        Attribute::Token(true),
        Attribute::Label(label.into()),
        Attribute::Id(b"7".to_vec()),
    ];
    let curve = [Attribute::EcParams(P256.to_vec())];
    session.generate_key_pair(
        &Mechanism::EccKeyPairGen,
        &[&both[..], &curve].concat(),
        &[&both[..], more].concat(),
    )
}

fn signs(session: &Session, (public, private): (ObjectHandle, ObjectHandle)) -> bool {
    let signed = session.sign(&Mechanism::EcdsaSha256, private, b"a message");
    signed.is_ok_and(|signature| {
        let verified = session.verify(&Mechanism::EcdsaSha256, public, b"a message", &signature);
        verified.is_ok()
    })
}

fn objects(service: &Service, module: &Pkcs11, slot: Slot) {
    let reads = module.open_ro_session(slot).expect("a session");
    let session = module.open_rw_session(slot).expect("a session");
    refused(data(&session, "public", false), RvError::UserNotLoggedIn);
    session.login(UserType::User, Some(&user())).expect("right");
    refused(data(&reads, "no", true), RvError::SessionReadOnly);
    refused(pair(&reads, "no", &[]), RvError::SessionReadOnly);

    // Made inside.
    let key = pair(&session, "pair", &[]).expect("it is made");
    assert!(signs(&session, key));
    let told = session.get_attributes(
        key.1,
        &[
            AttributeType::Token,
            AttributeType::Private,
            AttributeType::Sensitive,
            AttributeType::AlwaysSensitive,
            AttributeType::Extractable,
            AttributeType::NeverExtractable,
            AttributeType::Local,
            AttributeType::KeyType,
            AttributeType::Id,
            AttributeType::EcParams,
            AttributeType::Value,
        ],
    );
    let expected = [
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::AlwaysSensitive(true),
        Attribute::Extractable(false),
        Attribute::NeverExtractable(true),
        Attribute::Local(true),
        Attribute::KeyType(KeyType::EC),
        Attribute::Id(b"7".to_vec()),
        Attribute::EcParams(P256.to_vec()),
    ];
    assert_eq!(told.expect("it tells"), expected);
    let extractable = [Attribute::Extractable(true)];
    refused(
        pair(&session, "no", &extractable),
        RvError::TemplateInconsistent,
    );
    let lasting = [Attribute::Token(true)];
    let rsa = [
        Attribute::ModulusBits(2048.into()),
        Attribute::PublicExponent(vec![1, 0, 1]),
    ];
    let mechanism = Mechanism::RsaPkcsKeyPairGen;
    // The public half only for the session.
    let rsa = session.generate_key_pair(&mechanism, &rsa, &lasting);
    let (public, private) = rsa.expect("it is made");
    let signed = session.sign(&Mechanism::Sha256RsaPkcs, private, b"a message");
    let signed = signed.expect("it signs");
    let verified = session.verify(&Mechanism::Sha256RsaPkcs, public, b"a message", &signed);
    verified.expect("a signature");
    let modulus = session.get_attributes(private, &[AttributeType::Modulus]);
    let public_modulus = session.get_attributes(public, &[AttributeType::Modulus]);
    assert_eq!(
        modulus.expect("it tells"),
        public_modulus.expect("it tells")
    );
    let curve = |curve: &[u8]| [Attribute::EcParams(curve.to_vec()), Attribute::Token(true)];
    let mechanism = Mechanism::EccEdwardsKeyPairGen;
    let edwards = session.generate_key_pair(&mechanism, &curve(ED25519), &lasting);
    let edwards = edwards.expect("it is made").1;
    let eddsa = Mechanism::Eddsa(cryptoki::mechanism::eddsa::EddsaParams::new(
        cryptoki::mechanism::eddsa::EddsaSignatureScheme::Ed25519,
    ));
    session
        .sign(&eddsa, edwards, b"a message")
        .expect("it signs");
    // The service makes none of those.
    let mechanism = Mechanism::EccMontgomeryKeyPairGen;
    refused(
        session.generate_key_pair(&mechanism, &curve(X25519), &lasting),
        RvError::TemplateInconsistent,
    );

    // Made here, then copied to the token, as Java does.
    let curve = [Attribute::EcParams(P256.to_vec())];
    let mechanism = Mechanism::EccKeyPairGen;
    let made = session.generate_key_pair(&mechanism, &curve, &[]);
    let (public, private) = made.expect("it is made");
    let copied = [Attribute::Token(true), Attribute::Label(b"copy".to_vec())];
    let copy = session.copy_object(private, &copied).expect("it is copied");
    session.destroy_object(private).expect("ours");
    assert!(signs(&session, (public, copy)));
    refused(
        session.copy_object(copy, &copied),
        RvError::ActionProhibited,
    );

    // Data, a certificate, a secret key.
    let kept = data(&session, "data", false).expect("it is kept");
    let certificate = session.create_object(&[
        Attribute::Class(ObjectClass::CERTIFICATE),
        Attribute::CertificateType(cryptoki::object::CertificateType::X_509),
        Attribute::Token(true),
        Attribute::Label(b"certificate".to_vec()),
        Attribute::Subject(b"a name".to_vec()),
        Attribute::Value(b"a certificate".to_vec()),
    ]);
    certificate.expect("it is kept");
    let secret = [
        Attribute::Token(true),
        Attribute::ValueLen(32.into()),
        Attribute::Label(b"secret".to_vec()),
        Attribute::Encrypt(true),
    ];
    let secret = session.generate_key(&Mechanism::AesKeyGen, &secret);
    let secret = secret.expect("it is made");
    let block = session.encrypt(&Mechanism::AesEcb, secret, &[7; 16]);
    let block = block.expect("it encrypts");
    let tells = |handle, kind| {
        let told = session.get_attributes(handle, &[kind]).expect("it tells");
        told.into_iter().next()
    };
    let label = Attribute::Label(b"renamed".to_vec());
    refused(
        reads.update_attributes(kept, std::slice::from_ref(&label)),
        RvError::SessionReadOnly,
    );
    session
        .update_attributes(kept, std::slice::from_ref(&label))
        .expect("it may be changed");
    assert_eq!(tells(kept, AttributeType::Label), Some(label));
    assert_eq!(labelled(&session, "renamed"), [kept]);
    assert_eq!(labelled(&session, "data"), []);
    // Another session's object that stays no longer than that.
    let passing = reads.create_object(&[
        Attribute::Class(ObjectClass::DATA),
        Attribute::Label(b"passing".to_vec()),
    ]);
    assert_eq!(
        labelled(&session, "passing"),
        [passing.expect("a session may")]
    );
    let too_much = [Attribute::Value(vec![0; 40_000])];
    refused(
        session.update_attributes(kept, &too_much),
        RvError::DeviceMemory,
    );
    let found = all(&session).len();

    // A service that is killed comes back, and the program is still logged in.
    service.kill();
    service.says(&["service", "start"]);
    assert!(signs(&session, key));
    assert_eq!(all(&session).len(), found);
    assert_eq!(labelled(&session, "renamed"), [kept]);

    // One whose master key is entered after it has started is waited for.
    let file = service.path("store/master.key");
    let digits = std::fs::read_to_string(&file).expect("a development instance has one");
    service.kill();
    std::fs::remove_file(&file).expect("ours");
    let _ = service.outboard(&["service", "start"]).assert();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            let mut enter = service.outboard(&["service", "enter"]);
            enter.write_stdin(digits).assert().success();
        });
        assert_eq!(labelled(&session, "renamed"), [kept]);
        assert!(signs(&session, key));
    });

    // So is a child, and its grandchild.
    assert!(ends_well(|| {
        signs(&session, key)
            && labelled(&session, "renamed") == [kept]
            && ends_well(|| data(&session, "a child's", true).is_ok() && signs(&session, key))
    }));
    let of_child = labelled(&session, "a child's");
    assert_eq!(of_child.len(), 1);
    session.destroy_object(of_child[0]).expect("it is there");

    // Nobody sees private objects after the user has logged out.
    session.logout().expect("somebody was logged in");
    assert!(!signs(&session, key));
    assert!(labelled(&session, "secret").is_empty());
    let public = all(&session);
    assert!(public.contains(&kept) && public.contains(&key.0));
    refused(session.destroy_object(kept), RvError::UserNotLoggedIn);
    session.login(UserType::User, Some(&user())).expect("right");
    assert!(
        !signs(&session, key),
        "a handle of before is no longer good"
    );
    let private = [
        Attribute::Class(ObjectClass::PRIVATE_KEY),
        Attribute::Label(b"pair".to_vec()),
    ];
    let private = session.find_objects(&private).expect("a search");
    assert!(signs(&session, (key.0, private[0])));
    let secret = labelled(&session, "secret");
    let again = session.encrypt(&Mechanism::AesEcb, secret[0], &[7; 16]);
    assert_eq!(again.expect("it encrypts"), block);
    assert_eq!(all(&session).len(), found);
    refused(reads.destroy_object(kept), RvError::SessionReadOnly);
    for object in all(&session) {
        session.destroy_object(object).expect("ours");
    }
    assert_eq!(all(&session).len(), 0);
}

/// A key whose user says before each signature that he is there.
fn consent(module: &Pkcs11, slot: Slot) {
    let session = module.open_rw_session(slot).expect("a session");
    session.login(UserType::User, Some(&user())).expect("right");
    let asks = [Attribute::AlwaysAuthenticate(true)];
    let (_, private) = pair(&session, "asks", &asks).expect("it is made");
    let agree = |pin: &AuthPin| session.login(UserType::ContextSpecific, Some(pin));
    refused(agree(&user()), RvError::OperationNotInitialized);
    let begin = || session.sign_init(&Mechanism::EcdsaSha256, private);
    let end = || {
        session.sign_update(b"a message")?;
        session.sign_final()
    };
    begin().expect("it begins");
    refused(end(), RvError::UserNotLoggedIn);
    for _ in 0..2 {
        begin().expect("it begins");
        refused(agree(&pin("wrong")), RvError::PinIncorrect);
        agree(&user()).expect("right");
        end().expect("a signature");
        refused(agree(&user()), RvError::OperationNotInitialized);
    }
    begin().expect("it begins");
    refused(end(), RvError::UserNotLoggedIn);
}

fn without_pins(module: &Pkcs11, slot: Slot) {
    let info = module.get_token_info(slot).expect("it is there");
    assert!(info.login_required() && info.protected_authentication_path());
    let session = module.open_rw_session(slot).expect("a session");
    session.login(UserType::User, None).expect("a grant");
    let key = pair(&session, "pair", &[]).expect("it is made");
    assert!(signs(&session, key));
    session.logout().expect("somebody was logged in");
    // Some programs give a PIN all the same.
    let given = session.login(UserType::User, Some(&pin("whatever")));
    given.expect("a grant");
    session.logout().expect("somebody was logged in");
    session.login(UserType::So, None).expect("an administrator");
}

fn policy(service: &Service, module: &Pkcs11, slot: Slot) {
    let session = module.open_rw_session(slot).expect("a session");
    session.login(UserType::User, None).expect("a grant");
    let key = pair(&session, "pair", &[]).expect("it is made");
    let policy = TokenPolicy {
        types: Some(vec!["p384".into()]),
        mechanisms: Some(vec![
            "CKM_ECDSA_SHA256".into(),
            "CKM_EC_KEY_PAIR_GEN".into(),
        ]),
    };
    tokens::ask(service, "policy", TokenRequest::Policy { policy });
    let mechanisms = || module.get_mechanism_list(slot).expect("a list").len();
    module.get_token_info(slot).expect("it is there");
    assert_eq!(mechanisms(), 2);
    assert!(signs(&session, key));
    refused(
        session.sign(&Mechanism::Ecdsa, key.1, &[7; 32]),
        RvError::MechanismInvalid,
    );
    refused(
        session.generate_key(&Mechanism::AesKeyGen, &[Attribute::ValueLen(16.into())]),
        RvError::MechanismInvalid,
    );
    refused(pair(&session, "no", &[]), RvError::TemplateInconsistent);
}

/// What another process makes is seen; after a change of the PIN this one is logged out.
fn changes_from_outside(service: &Service, module: &Pkcs11, slot: Slot) {
    let session = module.open_rw_session(slot).expect("a session");
    session.login(UserType::User, Some(&user())).expect("right");
    let key = pair(&session, "pair", &[]).expect("it is made");
    assert!(ends_well(|| data(&session, "of another", true).is_ok()));
    assert_eq!(labelled(&session, "of another").len(), 1);
    set_pin(service, "outside");
    refused(
        session.sign(&Mechanism::EcdsaSha256, key.1, b"a message"),
        RvError::UserNotLoggedIn,
    );
    is_in(&session, SessionState::RwPublic);
    let new = pin("another one");
    session.login(UserType::User, Some(&new)).expect("right");
    assert_eq!(labelled(&session, "of another").len(), 1);
}

/// Another process changes the user's PIN.
fn set_pin(service: &Service, token: &str) {
    let secret = |text: &str| Secret::new(text.as_bytes());
    let set = TokenRequest::SetPin {
        role: Role::User,
        old: secret(tokens::PINS.1),
        new: secret("another one"),
    };
    tokens::ask(service, token, set);
}

/// A signature that the program asks for again is a token's, too: with the ticket, and refused where that is no longer good.
fn asynchronously(service: &Service, module: &Pkcs11, slot: Slot) {
    let session = module.open_rw_session(slot).expect("a session");
    session.login(UserType::User, Some(&user())).expect("right");
    let key = pair(&session, "pair", &[]).expect("it is made");
    let (functions, flags) = (functions(), CKF_SERIAL_SESSION | CKF_ASYNC_SESSION);
    let mut later = 0;
    let opened = call!(
        functions,
        C_OpenSession(slot.id(), flags, null_mut(), None, &raw mut later)
    );
    assert_eq!(opened, CKR_OK);
    let (message, mut signature) = (*b"a message", [0; 64]);
    let mut sign = || {
        let mut ecdsa = mechanism(CKM_ECDSA_SHA256);
        let begun = call!(functions, C_SignInit(later, &raw mut ecdsa, key.1.handle()));
        assert_eq!(begun, CKR_OK);
        let (message, mut length) = (message.as_ptr().cast_mut(), 64);
        let place = signature.as_mut_ptr();
        let mut answer = call!(functions, C_Sign(later, message, 9, place, &raw mut length));
        assert_eq!(answer, CKR_PENDING);
        while answer == CKR_PENDING {
            let mut data = CK_ASYNC_DATA::default();
            let name = c"C_Sign".as_ptr().cast_mut().cast();
            answer = call!(functions, C_AsyncComplete(later, name, &raw mut data));
        }
        answer
    };
    assert_eq!(sign(), CKR_OK);
    set_pin(service, "later");
    assert_eq!(sign(), CKR_USER_NOT_LOGGED_IN);
    is_in(&session, SessionState::RwPublic);
    let verified = session.verify(&Mechanism::EcdsaSha256, key.0, &message, &signature);
    verified.expect("a signature");
    assert_eq!(call!(functions, C_CloseSession(later)), CKR_OK);
}

/// What another process has changed stays so, although this one has not seen it: a key that became sensitive above all.
fn changes_by_two(module: &Pkcs11, slot: Slot) {
    let session = module.open_rw_session(slot).expect("a session");
    session.login(UserType::User, Some(&user())).expect("right");
    let template = [
        Attribute::Token(true),
        Attribute::Label(b"before".to_vec()),
        Attribute::Sensitive(false),
        Attribute::ValueLen(16.into()),
    ];
    let key = session.generate_key(&Mechanism::AesKeyGen, &template);
    let key = key.expect("it is made");
    let sensitive = [Attribute::Sensitive(true)];
    assert!(ends_well(|| session
        .update_attributes(key, &sensitive)
        .is_ok()));
    // The first one changes nothing that this process knows of.
    let changes = [
        Attribute::Sensitive(false),
        Attribute::Label(b"after".to_vec()),
    ];
    session.update_attributes(key, &changes).expect("changed");
    let kinds = [AttributeType::Sensitive, AttributeType::Label];
    let now = || session.get_attributes(key, &kinds).expect("they are told");
    let expected = [
        Attribute::Sensitive(true),
        Attribute::Label(b"after".to_vec()),
    ];
    assert_eq!(now(), expected);
    assert_eq!(labelled(&session, "after"), [key]);
    assert_eq!(now(), expected);
}

/// A login waits until the service has room for one more connection of its user.
fn crowded(service: &Service, module: &Pkcs11, slot: Slot) {
    let session = module.open_rw_session(slot).expect("a session");
    let mut others = Vec::new();
    loop {
        let mut other = Connection::open(service.directory()).expect("it listens");
        if other.ask(&Request::Tokens).is_err() {
            break;
        }
        others.push(other);
    }
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(200));
            drop(others);
        });
        session.login(UserType::User, Some(&user())).expect("right");
    });
    is_in(&session, SessionState::RwUser);
}

fn gone(service: &Service, module: &Pkcs11, slot: Slot) {
    let session = module.open_rw_session(slot).expect("a session");
    session.login(UserType::User, Some(&user())).expect("right");
    let key = pair(&session, "pair", &[]).expect("it is made");
    tokens::ask(service, "gone", TokenRequest::Delete);
    assert!(!signs(&session, key));
    refused(session.find_objects(&[]), RvError::TokenNotPresent);
    assert!(!numbers(module).contains(&slot.id()));
    refused(session.get_session_info(), RvError::SessionHandleInvalid);
    refused(module.open_rw_session(slot), RvError::SlotIdInvalid);
}
