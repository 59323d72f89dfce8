//! The module across forks, threads, and its end.

mod common;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use common::{accelerator, module, session};
use cryptoki::context::{CInitializeArgs, CInitializeFlags};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectHandle};
use cryptoki::session::Session;
use outboard_programs::child::ends_well;

const P256: &[u8] = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";

fn key(session: &Session) -> (ObjectHandle, ObjectHandle) {
    let public = [Attribute::EcParams(P256.to_vec())];
    let made = session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &[]);
    made.expect("a key pair")
}

fn signs(session: &Session, (public, private): (ObjectHandle, ObjectHandle)) -> bool {
    let signed = session.sign(&Mechanism::EcdsaSha256, private, b"a message");
    signed.is_ok_and(|signature| {
        let verified = session.verify(&Mechanism::EcdsaSha256, public, b"a message", &signature);
        verified.is_ok()
    })
}

/// Parent, child and grandchild sign with the same session, which nobody opens again, while other threads sign, too. A child
/// that initialises the module anew, as version 2.40 wants it, is welcome.
#[test]
fn a_fork_loses_nothing() {
    let session = session();
    let keys = key(&session);
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let own = common::session();
                let keys = key(&own);
                while !ended.load(Relaxed) {
                    assert!(signs(&own, keys));
                    let data = own.create_object(&[
                        Attribute::Class(cryptoki::object::ObjectClass::DATA),
                        Attribute::Value(vec![7; 100]),
                    ]);
                    own.destroy_object(data.expect("an object")).expect("ours");
                }
            });
        }
        for round in 0..60 {
            let child = || {
                let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
                let again = round % 2 == 0 || module().initialize(arguments).is_err();
                again && signs(&session, keys) && ends_well(|| signs(&session, keys))
            };
            assert!(ends_well(child), "round {round}");
            assert!(signs(&session, keys));
        }
        ended.store(true, Relaxed);
    });
}

#[test]
fn a_session_ends_with_its_objects() {
    let module = module();
    let slot = accelerator(&module);
    let one = module.open_rw_session(slot).expect("a session");
    let other = module.open_ro_session(slot).expect("a session");
    let label = Attribute::Label(b"of one session".to_vec());
    let keys = one
        .generate_key_pair(
            &Mechanism::EccKeyPairGen,
            &[Attribute::EcParams(P256.to_vec()), label.clone()],
            std::slice::from_ref(&label),
        )
        .expect("a key pair");
    assert_eq!(
        other
            .find_objects(std::slice::from_ref(&label))
            .expect("a search"),
        [keys.0, keys.1]
    );
    assert!(signs(&other, keys));
    one.close().expect("it closes");
    assert_eq!(other.find_objects(&[label]).expect("a search"), []);
    assert!(!signs(&other, keys));
}

/// Initialised twice by one process: the standard's error. Whoever finalises it finds it gone.
#[test]
fn the_module_begins_and_ends() {
    assert!(ends_well(|| {
        let module = module();
        let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
        // Where this process's parent did so, this process may do so once.
        let _ = module.initialize(arguments);
        let again = module.initialize(arguments);
        if !matches!(
            again,
            Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _))
        ) {
            return false;
        }
        module.finalize().is_ok()
    }));
}
