//! Asynchronous sessions (PKCS #11 3.2, 5.21), each test's in a process that has a module of its own.

#![allow(dead_code, reason = "each test uses its part")]

use std::path::Path;
use std::ptr::null_mut;
use std::thread;

use cryptoki_sys::*;
use outboard_programs::child::ends_well;

use super::calls::{Functions, attribute, call, functions, mechanism};
use super::raw::P384;

pub(crate) const LANES: usize = 8;
pub(crate) const MESSAGE: &[u8] = b"a message";

/// Runs in a process that has a module of its own, with its service and its ledger in that directory.
#[track_caller]
pub(crate) fn apart(directory: &Path, body: impl FnOnce(&'static Functions)) {
    let well = ends_well(|| {
        let directory = directory.display();
        let settings =
            format!("service={directory}, ledger={directory}/ledger, profile={directory}/none");
        // SAFETY: this process has one thread.
        unsafe { std::env::set_var("OUTBOARD_PKCS11", settings) };
        let functions = functions();
        // A child goes on with what its parent has: nothing.
        assert_eq!(call!(functions, C_Initialize(null_mut())), CKR_OK);
        body(functions);
        true
    });
    assert!(well);
}

/// A directory where there is no service.
pub(crate) fn nowhere() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

pub(crate) fn open(functions: &Functions, slot: CK_SLOT_ID, flags: CK_FLAGS) -> CK_SESSION_HANDLE {
    let mut session = 0;
    let flags = CKF_SERIAL_SESSION | flags;
    let opened = call!(
        functions,
        C_OpenSession(slot, flags, null_mut(), None, &raw mut session)
    );
    assert_eq!(opened, CKR_OK);
    session
}

pub(crate) const YES: &[u8] = &[CK_TRUE];

pub(crate) fn key_pair(
    functions: &Functions,
    session: CK_SESSION_HANDLE,
    kind: CK_MECHANISM_TYPE,
    public: &mut [CK_ATTRIBUTE],
    private: &mut [CK_ATTRIBUTE],
) -> (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE) {
    let (mut one, mut other) = (0, 0);
    let made = call!(
        functions,
        C_GenerateKeyPair(
            session,
            &mut mechanism(kind),
            public.as_mut_ptr(),
            public.len() as CK_ULONG,
            private.as_mut_ptr(),
            private.len() as CK_ULONG,
            &raw mut one,
            &raw mut other
        )
    );
    assert_eq!(made, CKR_OK);
    (one, other)
}

pub(crate) fn p384(
    functions: &Functions,
    session: CK_SESSION_HANDLE,
) -> (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE) {
    let mut public = [attribute(CKA_EC_PARAMS, P384)];
    key_pair(
        functions,
        session,
        CKM_EC_KEY_PAIR_GEN,
        &mut public,
        &mut [attribute(CKA_DERIVE, YES), attribute(CKA_SIGN, YES)],
    )
}

/// An asynchronous session, and where it wants its signature.
pub(crate) struct Signer {
    pub(crate) functions: &'static Functions,
    pub(crate) session: CK_SESSION_HANDLE,
    pub(crate) room: Box<[u8; 4096]>,
    pub(crate) length: CK_ULONG,
}

impl Signer {
    pub(crate) fn new(functions: &'static Functions, slot: CK_SLOT_ID) -> Self {
        Self {
            functions,
            session: open(functions, slot, CKF_ASYNC_SESSION),
            room: Box::new([0; 4096]),
            length: 0,
        }
    }

    pub(crate) fn init(&self, kind: CK_MECHANISM_TYPE, key: CK_OBJECT_HANDLE) -> CK_RV {
        let mut mechanism = mechanism(kind);
        call!(
            self.functions,
            C_SignInit(self.session, &raw mut mechanism, key)
        )
    }

    pub(crate) fn sign(&mut self) -> CK_RV {
        self.length = self.room.len() as CK_ULONG;
        call!(
            self.functions,
            C_Sign(
                self.session,
                MESSAGE.as_ptr().cast_mut(),
                MESSAGE.len() as CK_ULONG,
                self.room.as_mut_ptr(),
                &raw mut self.length
            )
        )
    }

    pub(crate) fn begin(&mut self, kind: CK_MECHANISM_TYPE, key: CK_OBJECT_HANDLE) -> CK_RV {
        assert_eq!(self.init(kind, key), CKR_OK);
        self.sign()
    }

    pub(crate) fn ask(&self, function: &std::ffi::CStr) -> (CK_RV, CK_ASYNC_DATA) {
        let mut data = CK_ASYNC_DATA::default();
        let name = function.as_ptr().cast_mut().cast();
        let answer = call!(
            self.functions,
            C_AsyncComplete(self.session, name, &raw mut data)
        );
        (answer, data)
    }

    /// Asks until there is an answer other than that none is there.
    pub(crate) fn complete(&self, function: &std::ffi::CStr) -> (CK_RV, CK_ASYNC_DATA) {
        loop {
            match self.ask(function) {
                (CKR_PENDING, _) => thread::yield_now(),
                answer => return answer,
            }
        }
    }

    /// The signature, after what `C_Sign` answered.
    pub(crate) fn signature(&mut self, answer: CK_RV) -> &[u8] {
        let length = match answer {
            CKR_OK => self.length,
            CKR_PENDING => {
                let (answer, data) = self.complete(c"C_Sign");
                assert_eq!(answer, CKR_OK);
                assert_eq!(data.pValue, self.room.as_mut_ptr());
                assert_eq!(data.ulValue, self.length);
                data.ulValue
            }
            other => panic!("{other:#x}"),
        };
        &self.room[..length as usize]
    }
}

pub(crate) fn verify(
    functions: &Functions,
    kind: CK_MECHANISM_TYPE,
    key: CK_OBJECT_HANDLE,
    signature: &[u8],
) {
    let session = open(functions, 1, 0);
    let mut mechanism = mechanism(kind);
    assert_eq!(
        call!(functions, C_VerifyInit(session, &raw mut mechanism, key)),
        CKR_OK
    );
    let (message, signature) = (MESSAGE.to_vec(), signature.to_vec());
    let verified = call!(
        functions,
        C_Verify(
            session,
            message.as_ptr().cast_mut(),
            message.len() as CK_ULONG,
            signature.as_ptr().cast_mut(),
            signature.len() as CK_ULONG
        )
    );
    assert_eq!(verified, CKR_OK);
    call!(functions, C_CloseSession(session));
}
