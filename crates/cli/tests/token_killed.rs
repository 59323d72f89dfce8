//! Keys of the card service in the PKCS #11 module, while the service is killed and the keys are renamed and taken away.

mod common;

use common::service::{Service, us};
use common::token;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;

fn private(session: &Session, label: &str) -> Option<ObjectHandle> {
    let template = [
        Attribute::Class(ObjectClass::PRIVATE_KEY),
        Attribute::Label(label.into()),
    ];
    let found = session.find_objects(&template).expect("a search");
    found.first().copied()
}

fn sign(session: &Session, key: ObjectHandle) -> Result<Vec<u8>, Error> {
    session.sign(&Mechanism::EcdsaSha256, key, b"a message")
}

/// In one process, which has one module, and that module one service.
#[test]
fn keys_of_the_service_are_used_until_they_are_taken_away() {
    let service = Service::start();
    for key in ["site", "spare"] {
        service.key(key, "p256");
    }
    let directory = service.directory().display();
    let settings = format!("service={directory}, ledger={directory}/ledger, service-limit=60");
    // SAFETY: this process has one test, and nobody else reads the environment now.
    unsafe { std::env::set_var("OUTBOARD_PKCS11", settings) };
    let module = Pkcs11::new(token()).expect("it is a module");
    let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
    module.initialize(arguments).expect("it begins");
    let slots = module.get_slots_with_token().expect("it has slots");
    let coprocessor = slots.iter().find(|slot| slot.id() == 0);
    let coprocessor = *coprocessor.expect("there is a service");
    let open = || module.open_ro_session(coprocessor).expect("a session");
    let session = open();
    let key = private(&session, "site").expect("it may be used");

    // Eight threads sign while the service is killed.
    let (ended, signed) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            let session = open();
            let (ended, signed) = (&ended, &signed);
            scope.spawn(move || {
                while !ended.load(Relaxed) {
                    sign(&session, key).expect("a signature");
                    signed.fetch_add(1, Relaxed);
                }
            });
        }
        for _ in 0..5 {
            let before = signed.load(Relaxed);
            while signed.load(Relaxed) < before + 50 && !ended.load(Relaxed) {
                thread::yield_now();
            }
            service.kill();
            service.says(&["service", "start"]);
        }
        ended.store(true, Relaxed);
    });

    // By its new name it is a new object. What was begun with the old one is done.
    service.says(&["keys", "rename", "site", "shop"]);
    sign(&session, key).expect("it is the same key");
    assert_eq!(private(&session, "site"), None);
    let renamed = private(&session, "shop").expect("it is there");
    sign(&session, renamed).expect("a signature");
    let refused = |key| match sign(&session, key) {
        Err(Error::Pkcs11(error, _)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(key), RvError::KeyHandleInvalid);

    service.says(&["keys", "revoke", "shop", "--user", &us()]);
    assert_eq!(refused(renamed), RvError::KeyFunctionNotPermitted);
    assert_eq!(private(&session, "shop"), None);
    let spare = private(&session, "spare").expect("it is another key");
    service.says(&["keys", "delete", "spare", "--yes"]);
    assert_eq!(refused(spare), RvError::KeyHandleInvalid);
    assert_eq!(private(&session, "spare"), None);
    module.finalize().expect("it ends");
}
