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

/// The objects that a session finds.
pub(crate) fn found(
    functions: &Functions,
    session: CK_SESSION_HANDLE,
    template: &mut [CK_ATTRIBUTE],
) -> Vec<CK_OBJECT_HANDLE> {
    let length = template.len() as CK_ULONG;
    let begun = call!(
        functions,
        C_FindObjectsInit(session, template.as_mut_ptr(), length)
    );
    assert_eq!(begun, CKR_OK);
    let mut objects = [0; 64];
    let mut count = 0;
    let answer = call!(
        functions,
        C_FindObjects(session, objects.as_mut_ptr(), 64, &raw mut count)
    );
    assert_eq!(answer, CKR_OK);
    assert_eq!(call!(functions, C_FindObjectsFinal(session)), CKR_OK);
    objects[..count as usize].to_vec()
}

/// The value of an attribute: its length is asked for first.
pub(crate) fn value(
    functions: &Functions,
    session: CK_SESSION_HANDLE,
    object: CK_OBJECT_HANDLE,
    kind: CK_ATTRIBUTE_TYPE,
) -> Vec<u8> {
    let mut value = Vec::new();
    for _ in 0..2 {
        let mut asked = room(kind, &mut value);
        if value.is_empty() {
            asked.pValue = ptr::null_mut();
        }
        let answer = call!(
            functions,
            C_GetAttributeValue(session, object, &raw mut asked, 1)
        );
        assert_eq!(answer, CKR_OK, "{kind:#x}");
        value.resize(asked.ulValueLen as usize, 0);
    }
    value
}

/// The profiles that the objects of a session's slot tell.
pub(crate) fn profiles(functions: &Functions, session: CK_SESSION_HANDLE) -> Vec<CK_PROFILE_ID> {
    let mut class = [attribute(CKA_CLASS, &[CKO_PROFILE])];
    let objects = found(functions, session, &mut class).into_iter();
    let told = objects.map(|object| value(functions, session, object, CKA_PROFILE_ID));
    told.map(|told| CK_PROFILE_ID::from_ne_bytes(told.try_into().expect("a number")))
        .collect()
}
