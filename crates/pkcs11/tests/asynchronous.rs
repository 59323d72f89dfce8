//! Asynchronous sessions of the accelerator: one thread with eight operations outstanding.

mod common;

use std::path::Path;
use std::ptr::null_mut;

use common::asynchronous::{LANES, Signer, YES, apart, key_pair, nowhere, open, p384, verify};
use common::calls::{attribute, call, room};
use cryptoki_sys::*;
use outboard_engine::ledger::Snapshot;

const MODULUS: CK_ULONG = 2048;

#[test]
fn a_token_and_its_sessions_say_what_they_are() {
    apart(nowhere().path(), |functions| {
        let mut token = CK_TOKEN_INFO::default();
        assert_eq!(call!(functions, C_GetTokenInfo(1, &raw mut token)), CKR_OK);
        assert_ne!(token.flags & CKF_ASYNC_SESSION_SUPPORTED, 0);
        for flag in [0, CKF_ASYNC_SESSION] {
            let session = open(functions, 1, flag);
            let mut info = CK_SESSION_INFO::default();
            let told = call!(functions, C_GetSessionInfo(session, &raw mut info));
            assert_eq!(told, CKR_OK);
            assert_eq!(info.flags & CKF_ASYNC_SESSION, flag);
        }
    });
}

/// What the ledger in a directory has counted in lanes, in batches of cards.
fn in_lanes(directory: &Path) -> (u64, u64) {
    let snapshot = Snapshot::read(&directory.join("ledger")).expect("a ledger");
    let processes = snapshot.processes.iter();
    let cards = processes.flat_map(|process| &process.cards);
    cards.fold((0, 0), |(lanes, batches), card| {
        (lanes + card.work.in_lanes, batches + card.work.batches)
    })
}

#[test]
fn one_thread_with_eight_signatures_outstanding_shares_the_lanes() {
    if !outboard_engine::card::are_there() {
        eprintln!("skipped: this processor has no lanes");
        return;
    }
    let directory = nowhere();
    apart(directory.path(), |functions| {
        let owner = open(functions, 1, CKF_RW_SESSION);
        let bits = [MODULUS];
        let rsa = key_pair(
            functions,
            owner,
            CKM_RSA_PKCS_KEY_PAIR_GEN,
            &mut [attribute(CKA_MODULUS_BITS, &bits)],
            &mut [attribute(CKA_SIGN, YES)],
        );
        let ec = p384(functions, owner);
        let mut signers: Vec<Signer> = (0..LANES).map(|_| Signer::new(functions, 1)).collect();
        for (kind, (public, private)) in [(CKM_SHA256_RSA_PKCS, rsa), (CKM_ECDSA_SHA384, ec)] {
            let before = in_lanes(directory.path()).0;
            for _ in 0..12 {
                let begin = |signer: &mut Signer| signer.begin(kind, private);
                let answers: Vec<CK_RV> = signers.iter_mut().map(begin).collect();
                for (signer, answer) in signers.iter_mut().zip(answers) {
                    verify(functions, kind, public, signer.signature(answer));
                }
            }
            let shared = in_lanes(directory.path()).0 - before;
            assert_eq!(shared, 12 * LANES as u64);
        }
        let (lanes, batches) = in_lanes(directory.path());
        assert_eq!(lanes, batches * LANES as u64);
    });
}

#[test]
fn agreements_share_the_lanes_too() {
    if !outboard_engine::card::are_there() {
        eprintln!("skipped: this processor has no lanes");
        return;
    }
    let directory = nowhere();
    apart(directory.path(), |functions| {
        let owner = open(functions, 1, CKF_RW_SESSION);
        let (public, private) = p384(functions, owner);
        let mut point = vec![0; 99];
        let mut wanted = [room(CKA_EC_POINT, &mut point)];
        let told = call!(
            functions,
            C_GetAttributeValue(owner, public, wanted.as_mut_ptr(), 1)
        );
        assert_eq!(told, CKR_OK);
        let parameters = CK_ECDH1_DERIVE_PARAMS {
            kdf: CKD_NULL,
            ulSharedDataLen: 0,
            pSharedData: null_mut(),
            ulPublicDataLen: point.len() as CK_ULONG,
            pPublicData: point.as_mut_ptr(),
        };
        let signers: Vec<Signer> = (0..LANES).map(|_| Signer::new(functions, 1)).collect();
        for _ in 0..3 {
            let derive = |signer: &Signer| {
                let mut mechanism = common::raw::mechanism(CKM_ECDH1_DERIVE, &parameters);
                let label = *b"a secret";
                // The template is the program's again when the call returns.
                let mut template = [
                    attribute(CKA_LABEL, &label),
                    attribute(CKA_SENSITIVE, &[CK_FALSE]),
                    attribute(CKA_EXTRACTABLE, YES),
                ];
                let mut handle = 0;
                let answer = call!(
                    functions,
                    C_DeriveKey(
                        signer.session,
                        &raw mut mechanism,
                        private,
                        template.as_mut_ptr(),
                        template.len() as CK_ULONG,
                        &raw mut handle
                    )
                );
                (answer, handle)
            };
            let answers: Vec<_> = signers.iter().map(derive).collect();
            let mut secrets = Vec::new();
            for (signer, (answer, handle)) in signers.iter().zip(answers) {
                assert_eq!((answer, handle), (CKR_PENDING, 0));
                let (answer, data) = signer.complete(c"C_DeriveKey");
                assert_eq!(answer, CKR_OK);
                let handle = data.hObject;
                let (mut value, mut label) = ([0; 48], [0; 8]);
                let mut wanted = [room(CKA_VALUE, &mut value), room(CKA_LABEL, &mut label)];
                let told = call!(
                    functions,
                    C_GetAttributeValue(owner, handle, wanted.as_mut_ptr(), 2)
                );
                assert_eq!(told, CKR_OK);
                assert_eq!(&label, b"a secret");
                secrets.push(value);
            }
            assert!(secrets.iter().all(|secret| *secret == secrets[0]));
        }
        assert_eq!(in_lanes(directory.path()), (3 * LANES as u64, 3));
    });
}
