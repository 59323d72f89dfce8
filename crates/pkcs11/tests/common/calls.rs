//! The module as C has it: pointers and numbers.

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStringExt;
use std::ptr;

use cryptoki_sys::*;

/// The functions of the newest version.
pub(crate) type Functions = CK_FUNCTION_LIST_3_2;

/// Calls a function of a table, which has them all.
macro_rules! call {
    ($functions:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let function = $functions.$name.expect("it has all functions");
        // SAFETY: what each pointer leads to is what the test says.
        unsafe { function($($argument),*) }
    }};
}
#[allow(unused_imports, reason = "each test uses its part")]
pub(crate) use call;

/// Loads the module, and answers its handle.
pub(crate) fn load(flags: i32) -> *mut c_void {
    let file = CString::new(super::token().into_os_string().into_vec()).expect("a name");
    // SAFETY: a name; the module's constructors are its own.
    unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | flags) }
}

/// The module's functions.
pub(crate) fn functions() -> &'static Functions {
    let module = load(0);
    assert!(!module.is_null(), "it is a module");
    let mut found: *mut CK_INTERFACE = ptr::null_mut();
    // SAFETY: the symbol is the standard's; the interface and its table are there as long as the module.
    unsafe {
        let symbol = libc::dlsym(module, c"C_GetInterface".as_ptr());
        let get: unsafe extern "C" fn(
            *mut u8,
            *mut CK_VERSION,
            *mut *mut CK_INTERFACE,
            CK_FLAGS,
        ) -> CK_RV = std::mem::transmute(symbol);
        assert_eq!(
            get(ptr::null_mut(), ptr::null_mut(), &raw mut found, 0),
            CKR_OK
        );
        &*(*found).pFunctionList.cast()
    }
}

/// The functions of the module, initialised, and a session of the slot that computes in this process.
pub(crate) fn session() -> (&'static Functions, CK_SESSION_HANDLE) {
    let functions = functions();
    // Another test of this process may have done so.
    call!(functions, C_Initialize(ptr::null_mut()));
    (functions, open(functions))
}

/// A session of the slot that computes in this process.
pub(crate) fn open(functions: &Functions) -> CK_SESSION_HANDLE {
    let mut session = 0;
    let flags = CKF_SERIAL_SESSION | CKF_RW_SESSION;
    let opened = call!(
        functions,
        C_OpenSession(1, flags, ptr::null_mut(), None, &raw mut session)
    );
    assert_eq!(opened, CKR_OK);
    session
}

/// An attribute with the bytes of a value.
pub(crate) fn attribute<T>(kind: CK_ATTRIBUTE_TYPE, value: &[T]) -> CK_ATTRIBUTE {
    CK_ATTRIBUTE {
        type_: kind,
        pValue: value.as_ptr().cast_mut().cast(),
        ulValueLen: size_of_val(value) as CK_ULONG,
    }
}

/// An attribute that is asked for, with room for its value.
pub(crate) fn room(kind: CK_ATTRIBUTE_TYPE, value: &mut [u8]) -> CK_ATTRIBUTE {
    CK_ATTRIBUTE {
        type_: kind,
        pValue: value.as_mut_ptr().cast(),
        ulValueLen: value.len() as CK_ULONG,
    }
}

/// A mechanism without a parameter.
pub(crate) fn mechanism(kind: CK_MECHANISM_TYPE) -> CK_MECHANISM {
    CK_MECHANISM {
        mechanism: kind,
        pParameter: ptr::null_mut(),
        ulParameterLen: 0,
    }
}
