//! Asynchronous sessions of the coprocessor: one thread with eight requests at the service.

mod common;

use std::path::Path;
use std::ptr::null_mut;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use common::asynchronous::{LANES, MESSAGE, Signer, apart, nowhere, open, p384, verify};
use common::calls::{Functions, attribute, call, mechanism, room};
use common::raw::P384;
use cryptoki_sys::*;
use outboard_client::stand_in::{Reply, Service};
use outboard_engine::scalar::ec::Curve;
use outboard_engine::scalar::pair::{Kind, Pair, Private};
use outboard_programs::child::ends_well;
use outboard_wire::{KeyId, Operation, Page, Reference, Request, Status};

/// A service with one key, `site`. Its signatures are what `instead` says, which learns how many were asked for before, or right.
fn service(
    directory: &Path,
    instead: impl Fn(usize) -> Option<Reply> + Send + Sync + 'static,
) -> Service {
    service_with(directory, Kind::Ec(Curve::P384), instead)
}

fn service_with(
    directory: &Path,
    kind: Kind,
    instead: impl Fn(usize) -> Option<Reply> + Send + Sync + 'static,
) -> Service {
    let pair = Pair::generate(kind).expect("a key");
    let key = pair.private;
    let reference = Reference {
        id: KeyId([7; 16]),
        name: "site".into(),
        public: pair.public,
    };
    let reference = reference.to_der().expect("a reference");
    let asked = AtomicUsize::new(0);
    let answer = move |_, request: &Request<'_>| match &request.operation {
        Operation::List { after, .. } => {
            let mut page = Page::begin(1);
            if after.is_empty() {
                assert!(Page::add(&mut page, &reference, &[]));
            }
            Reply::Say(Status::Done, page)
        }
        Operation::Ecdsa { value, .. } => {
            instead(asked.fetch_add(1, SeqCst)).unwrap_or_else(|| {
                let Private::Ec(key) = &key else {
                    return Reply::Close;
                };
                let mut signature = vec![0; 200];
                let length = key.sign(value, &mut signature).expect("a signature");
                signature.truncate(length);
                Reply::Say(Status::Done, signature)
            })
        }
        Operation::Decrypt { .. } => {
            let mut answer = Vec::new();
            outboard_wire::message::encode(MESSAGE, MESSAGE.len() as u16, &mut answer);
            Reply::Say(Status::Done, answer)
        }
        _ => Reply::Say(Status::NotAllowed, Vec::new()),
    };
    Service::start(directory, answer).expect("a service")
}

/// The half of the service's key that is of that class.
fn find(
    functions: &Functions,
    session: CK_SESSION_HANDLE,
    class: CK_OBJECT_CLASS,
) -> CK_OBJECT_HANDLE {
    let class = [class];
    let mut template = [attribute(CKA_CLASS, &class)];
    let began = call!(
        functions,
        C_FindObjectsInit(session, template.as_mut_ptr(), 1)
    );
    assert_eq!(began, CKR_OK);
    let (mut handle, mut count) = (0, 0);
    let found = call!(
        functions,
        C_FindObjects(session, &raw mut handle, 1, &raw mut count)
    );
    assert_eq!((found, count), (CKR_OK, 1));
    assert_eq!(call!(functions, C_FindObjectsFinal(session)), CKR_OK);
    handle
}

/// The halves of the service's key, the public one in slot 1, where it verifies.
fn site(functions: &Functions) -> (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE) {
    let session = open(functions, 0, 0);
    let mut point = vec![0; 99];
    let mut wanted = [room(CKA_EC_POINT, &mut point)];
    let public = find(functions, session, CKO_PUBLIC_KEY);
    let told = call!(
        functions,
        C_GetAttributeValue(session, public, wanted.as_mut_ptr(), 1)
    );
    assert_eq!(told, CKR_OK);
    let (class, kind) = ([CKO_PUBLIC_KEY], [CKK_EC]);
    let mut template = [
        attribute(CKA_CLASS, &class),
        attribute(CKA_KEY_TYPE, &kind),
        attribute(CKA_EC_PARAMS, P384),
        attribute(CKA_EC_POINT, &point),
    ];
    let mut verifies = 0;
    let made = call!(
        functions,
        C_CreateObject(
            open(functions, 1, 0),
            template.as_mut_ptr(),
            template.len() as CK_ULONG,
            &raw mut verifies
        )
    );
    assert_eq!(made, CKR_OK);
    (verifies, find(functions, session, CKO_PRIVATE_KEY))
}

/// The service answers nobody before eight have asked: one thread is all eight of them.
#[test]
fn one_thread_has_eight_requests_at_the_service() {
    let directory = nowhere();
    let together = Barrier::new(LANES);
    let _service = service(directory.path(), move |_| {
        together.wait();
        None
    });
    apart(directory.path(), |functions| {
        let (public, private) = site(functions);
        let mut signers: Vec<Signer> = (0..LANES).map(|_| Signer::new(functions, 0)).collect();
        for _ in 0..3 {
            for signer in &mut signers {
                assert_eq!(signer.begin(CKM_ECDSA_SHA384, private), CKR_PENDING);
            }
            for signer in &mut signers {
                let signature = signer.signature(CKR_PENDING);
                verify(functions, CKM_ECDSA_SHA384, public, signature);
            }
        }
    });
}

#[test]
fn signatures_in_parts_can_be_outstanding_too() {
    let directory = nowhere();
    let _service = service(directory.path(), |_| None);
    apart(directory.path(), |functions| {
        let (public, private) = site(functions);
        let mut signer = Signer::new(functions, 0);
        assert_eq!(signer.init(CKM_ECDSA_SHA384, private), CKR_OK);
        for part in MESSAGE.chunks(4) {
            let (part, length) = (part.as_ptr().cast_mut(), part.len() as CK_ULONG);
            let taken = call!(functions, C_SignUpdate(signer.session, part, length));
            assert_eq!(taken, CKR_OK);
        }
        let room = signer.room.as_mut_ptr();
        let mut length = 95;
        let mut end = || {
            call!(
                functions,
                C_SignFinal(signer.session, room, &raw mut length)
            )
        };
        // That is never left for later.
        assert_eq!(end(), CKR_BUFFER_TOO_SMALL);
        assert_eq!(end(), CKR_PENDING);
        assert_eq!(length, 96);
        let (answer, data) = signer.complete(c"C_SignFinal");
        assert_eq!((answer, data.ulValue), (CKR_OK, 96));
        let signature = &signer.room[..96];
        verify(functions, CKM_ECDSA_SHA384, public, signature);
    });
}

#[test]
fn decryptions_can_be_outstanding_too() {
    let directory = nowhere();
    let _service = service_with(directory.path(), Kind::Rsa(2048), |_| None);
    apart(directory.path(), |functions| {
        let mut signer = Signer::new(functions, 0);
        let key = find(functions, signer.session, CKO_PRIVATE_KEY);
        let mut mechanism = mechanism(CKM_RSA_PKCS);
        let init = |mechanism: *mut CK_MECHANISM| {
            call!(functions, C_DecryptInit(signer.session, mechanism, key))
        };
        assert_eq!(init(&raw mut mechanism), CKR_OK);
        let ciphertext = [1; 256];
        let room = signer.room.as_mut_ptr();
        let mut length = signer.room.len() as CK_ULONG;
        let decrypted = call!(
            functions,
            C_Decrypt(
                signer.session,
                ciphertext.as_ptr().cast_mut(),
                ciphertext.len() as CK_ULONG,
                room,
                &raw mut length
            )
        );
        assert_eq!(decrypted, CKR_PENDING);
        assert_eq!(init(&raw mut mechanism), CKR_OPERATION_ACTIVE);
        let (answer, data) = signer.complete(c"C_Decrypt");
        assert_eq!(answer, CKR_OK);
        assert_eq!(&signer.room[..data.ulValue as usize], MESSAGE);
    });
}

#[test]
fn a_connection_that_ends_loses_no_signature() {
    let directory = nowhere();
    let _service = service(directory.path(), |asked| {
        (asked < LANES).then_some(Reply::Close)
    });
    apart(directory.path(), |functions| {
        let (public, private) = site(functions);
        let mut signers: Vec<Signer> = (0..LANES).map(|_| Signer::new(functions, 0)).collect();
        for signer in &mut signers {
            assert_eq!(signer.begin(CKM_ECDSA_SHA384, private), CKR_PENDING);
        }
        for signer in &mut signers {
            let signature = signer.signature(CKR_PENDING);
            verify(functions, CKM_ECDSA_SHA384, public, signature);
        }
    });
}

#[test]
fn what_the_service_refuses_is_told_with_the_buffer() {
    let directory = nowhere();
    let _service = service(directory.path(), |_| {
        Some(Reply::Say(Status::Denied, b"not yours".to_vec()))
    });
    apart(directory.path(), |functions| {
        let (_, private) = site(functions);
        let mut signer = Signer::new(functions, 0);
        assert_eq!(signer.begin(CKM_ECDSA_SHA384, private), CKR_PENDING);
        let (answer, data) = signer.complete(c"C_Sign");
        assert_eq!(answer, CKR_KEY_FUNCTION_NOT_PERMITTED);
        assert_eq!(data.pValue, signer.room.as_mut_ptr());
        assert_eq!(data.ulValue, 0);
        // It is over.
        assert_eq!(signer.ask(c"C_Sign").0, CKR_OPERATION_NOT_INITIALIZED);
        assert_eq!(signer.init(CKM_ECDSA_SHA384, private), CKR_OK);
    });
}

/// The service never answers: each end comes in the midst.
#[test]
fn what_is_outstanding_can_be_given_up() {
    let directory = nowhere();
    let _service = service(directory.path(), |_| Some(Reply::Nothing));
    apart(directory.path(), |functions| {
        let (_, private) = site(functions);
        let outstanding = || {
            let mut signer = Signer::new(functions, 0);
            assert_eq!(signer.begin(CKM_ECDSA_SHA384, private), CKR_PENDING);
            assert_eq!(signer.ask(c"C_Sign").0, CKR_PENDING);
            signer
        };
        let is_over = |signer: &Signer| {
            assert_eq!(signer.ask(c"C_Sign").0, CKR_OPERATION_NOT_INITIALIZED);
            assert_eq!(signer.init(CKM_ECDSA_SHA384, private), CKR_OK);
        };

        let mut signer = outstanding();
        // A second one could not be told from it.
        assert_eq!(signer.init(CKM_ECDSA_SHA384, private), CKR_OPERATION_ACTIVE);
        assert_eq!(signer.sign(), CKR_OPERATION_NOT_INITIALIZED);
        for other in [c"C_SignFinal", c"C_Decrypt", c"C_SignInit", c"nonsense"] {
            assert_eq!(signer.ask(other).0, CKR_OPERATION_NOT_INITIALIZED);
        }
        let cancel = |flags| call!(functions, C_SessionCancel(signer.session, flags));
        assert_eq!(cancel(CKF_DECRYPT), CKR_OK);
        assert_eq!(signer.ask(c"C_Sign").0, CKR_PENDING);
        assert_eq!(cancel(CKF_SIGN), CKR_OK);
        is_over(&signer);

        let signer = outstanding();
        let given_up = call!(functions, C_SignInit(signer.session, null_mut(), 0));
        assert_eq!(given_up, CKR_OK);
        is_over(&signer);

        let signer = outstanding();
        assert_eq!(call!(functions, C_CloseSession(signer.session)), CKR_OK);
        assert_eq!(signer.ask(c"C_Sign").0, CKR_SESSION_HANDLE_INVALID);

        // Nothing outlives its session, so nothing has an id.
        let signer = outstanding();
        let mut id = 0;
        let name = c"C_Sign".as_ptr().cast_mut().cast();
        let kept = call!(functions, C_AsyncGetID(signer.session, name, &raw mut id));
        assert_eq!(kept, CKR_STATE_UNSAVEABLE);
        let joined = call!(
            functions,
            C_AsyncJoin(signer.session, name, 1, null_mut(), 0)
        );
        assert_eq!(joined, CKR_SAVED_STATE_INVALID);
        let other = c"C_Decrypt".as_ptr().cast_mut().cast();
        let kept = call!(functions, C_AsyncGetID(signer.session, other, &raw mut id));
        assert_eq!(kept, CKR_OPERATION_NOT_INITIALIZED);

        // With arguments that make no sense, it goes on.
        let complete = |data| call!(functions, C_AsyncComplete(signer.session, name, data));
        assert_eq!(complete(null_mut()), CKR_ARGUMENTS_BAD);
        let mut newer = CK_ASYNC_DATA {
            ulVersion: 1,
            ..Default::default()
        };
        assert_eq!(complete(&raw mut newer), CKR_ARGUMENTS_BAD);
        assert_eq!(signer.ask(c"C_Sign").0, CKR_PENDING);

        assert_eq!(call!(functions, C_CloseAllSessions(0)), CKR_OK);
        assert_eq!(signer.ask(c"C_Sign").0, CKR_SESSION_HANDLE_INVALID);

        let signer = outstanding();
        assert_eq!(call!(functions, C_Finalize(null_mut())), CKR_OK);
        assert_eq!(signer.ask(c"C_Sign").0, CKR_CRYPTOKI_NOT_INITIALIZED);
    });
}

/// Parent and child both complete what was outstanding at the fork: at the service, and on a card.
#[test]
fn a_fork_in_the_midst_loses_nothing() {
    let directory = nowhere();
    let together = Barrier::new(LANES + 1);
    let _service = service(directory.path(), move |asked| {
        // The parent's requests wait for the first one of the child.
        if asked <= LANES {
            together.wait();
        }
        None
    });
    apart(directory.path(), |functions| {
        let (site_public, site) = site(functions);
        let (public, private) = p384(functions, open(functions, 1, 0));
        let signers =
            |slot| -> Vec<Signer> { (0..LANES).map(|_| Signer::new(functions, slot)).collect() };
        let (mut service, mut card) = (signers(0), signers(1));
        for signer in &mut service {
            assert_eq!(signer.begin(CKM_ECDSA_SHA384, site), CKR_PENDING);
        }
        // By the second round requests are seen to come together.
        for round in 0..3 {
            let begin = |signer: &mut Signer| signer.begin(CKM_ECDSA_SHA384, private);
            let answers: Vec<CK_RV> = card.iter_mut().map(begin).collect();
            let mut complete = || {
                for (signer, &answer) in card.iter_mut().zip(&answers) {
                    let signature = signer.signature(answer);
                    verify(functions, CKM_ECDSA_SHA384, public, signature);
                }
                if round == 2 {
                    for signer in &mut service {
                        let signature = signer.signature(CKR_PENDING);
                        verify(functions, CKM_ECDSA_SHA384, site_public, signature);
                    }
                }
                true
            };
            if round == 2 {
                assert!(ends_well(&mut complete));
            }
            complete();
        }
    });
}
