//! One thread with eight signatures outstanding, each in an asynchronous session (PKCS #11 3.2, 5.21). Cryptoki, the crate, has no
//! such sessions yet.

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, null_mut};

use cryptoki_sys::*;

use crate::Failure;

/// As many as there are lanes.
const SESSIONS: usize = 8;
/// The longest signature.
const ROOM: usize = 512;

/// See the module.
pub(super) struct Outstanding {
    functions: &'static CK_FUNCTION_LIST_3_2,
    signers: Vec<Signer>,
    key: CK_OBJECT_HANDLE,
}

struct Signer {
    session: CK_SESSION_HANDLE,
    /// Where the module writes, perhaps after the call that was told of it.
    signature: Box<[u8; ROOM]>,
    length: Box<CK_ULONG>,
}

/// Calls a function of a table, which has them all. An answer other than that it is done is a failure, or what is said.
macro_rules! call {
    ($functions:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $functions.$name.ok_or(concat!("the module has no ", stringify!($name)))?;
        // SAFETY: each pointer leads to what the standard wants there, as long as it wants it.
        unsafe { function($($argument),*) }
    }};
}

impl Outstanding {
    /// Opens the sessions, in a module that is initialised.
    pub(super) fn new(module: &Path, slot: u64, key: CK_OBJECT_HANDLE) -> Result<Self, Failure> {
        let functions = functions(module)?;
        let mut signers = Vec::new();
        for _ in 0..SESSIONS {
            let mut session = 0;
            let flags = CKF_SERIAL_SESSION | CKF_RW_SESSION | CKF_ASYNC_SESSION;
            let opened = call!(
                functions,
                C_OpenSession(
                    slot as CK_SLOT_ID,
                    flags,
                    null_mut(),
                    None,
                    &raw mut session
                )
            );
            done("C_OpenSession", opened)?;
            signers.push(Signer {
                session,
                signature: Box::new([0; ROOM]),
                length: Box::new(0),
            });
        }
        Ok(Self {
            functions,
            signers,
            key,
        })
    }

    /// One signature in each session, all of them outstanding at once. Answers how many there were.
    pub(super) fn sign(
        &mut self,
        mechanism: CK_MECHANISM_TYPE,
        input: &[u8],
    ) -> Result<u64, Failure> {
        let mut pending = Vec::with_capacity(SESSIONS);
        for signer in &mut self.signers {
            let mut mechanism = CK_MECHANISM {
                mechanism,
                pParameter: null_mut(),
                ulParameterLen: 0,
            };
            let begun = call!(
                self.functions,
                C_SignInit(signer.session, &raw mut mechanism, self.key)
            );
            done("C_SignInit", begun)?;
            *signer.length = ROOM as CK_ULONG;
            let answer = call!(
                self.functions,
                C_Sign(
                    signer.session,
                    input.as_ptr().cast_mut(),
                    input.len() as CK_ULONG,
                    signer.signature.as_mut_ptr(),
                    &raw mut *signer.length
                )
            );
            match answer {
                CKR_PENDING => pending.push(signer.session),
                answer => done("C_Sign", answer)?,
            }
        }
        for session in pending {
            let mut result = CK_ASYNC_DATA::default();
            loop {
                let name = c"C_Sign".as_ptr().cast_mut().cast();
                let answer = call!(
                    self.functions,
                    C_AsyncComplete(session, name, &raw mut result)
                );
                match answer {
                    CKR_PENDING => std::thread::yield_now(),
                    answer => break done("C_AsyncComplete", answer)?,
                }
            }
        }
        Ok(SESSIONS as u64)
    }
}

fn done(function: &str, answer: CK_RV) -> Result<(), Failure> {
    match answer {
        CKR_OK => Ok(()),
        answer => Err(format!("{function} answers {answer:#x}").into()),
    }
}

/// The functions of version 3.2 of a module that is loaded.
fn functions(module: &Path) -> Result<&'static CK_FUNCTION_LIST_3_2, Failure> {
    let file = CString::new(module.as_os_str().as_bytes())?;
    // SAFETY: a name; the module is loaded already.
    let module = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW) };
    if module.is_null() {
        return Err("the module cannot be loaded again".into());
    }
    // SAFETY: a module and a name.
    let symbol = unsafe { libc::dlsym(module, c"C_GetInterface".as_ptr()) };
    if symbol.is_null() {
        return Err("the module has no C_GetInterface".into());
    }
    type GetInterface =
        unsafe extern "C" fn(*mut u8, *mut CK_VERSION, *mut *mut CK_INTERFACE, CK_FLAGS) -> CK_RV;
    // SAFETY: the standard's function of that name.
    let get = unsafe { std::mem::transmute::<*mut c_void, GetInterface>(symbol) };
    let mut version = CK_VERSION { major: 3, minor: 2 };
    let mut found: *mut CK_INTERFACE = ptr::null_mut();
    // SAFETY: room for what is asked for.
    let answer = unsafe { get(null_mut(), &raw mut version, &raw mut found, 0) };
    done("C_GetInterface", answer)?;
    // SAFETY: the interface and its table are there as long as the module, which nobody unloads.
    Ok(unsafe { &*(*found).pFunctionList.cast() })
}
