//! The C interface itself, for what the crate `cryptoki` does not wrap, and for thousands of vectors.

#![allow(dead_code, reason = "each test uses its part")]

use std::ffi::c_void;
use std::ptr::{self, null_mut};

use cryptoki_sys::*;

pub(crate) const P256: &[u8] = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
pub(crate) const P384: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x22";
pub(crate) const P521: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x23";
pub(crate) const ED25519: &[u8] = b"\x06\x03\x2b\x65\x70";
pub(crate) const X25519: &[u8] = b"\x06\x03\x2b\x65\x6e";

/// What a call answers if it fails.
pub(crate) type Result<T> = std::result::Result<T, CK_RV>;

type Init =
    Option<unsafe extern "C" fn(CK_SESSION_HANDLE, *mut CK_MECHANISM, CK_OBJECT_HANDLE) -> CK_RV>;
type Once = Option<
    unsafe extern "C" fn(
        CK_SESSION_HANDLE,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
    ) -> CK_RV,
>;
type Part = Option<unsafe extern "C" fn(CK_SESSION_HANDLE, *mut CK_BYTE, CK_ULONG) -> CK_RV>;
type Last = Option<unsafe extern "C" fn(CK_SESSION_HANDLE, *mut CK_BYTE, *mut CK_ULONG) -> CK_RV>;

/// A session of the accelerator slot.
pub(crate) struct Raw {
    pub(crate) functions: &'static CK_FUNCTION_LIST_3_0,
    pub(crate) session: CK_SESSION_HANDLE,
}

/// What a program does with a key, by the functions that do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Encrypt,
    Decrypt,
    Sign,
}

/// A mechanism with a parameter.
pub(crate) fn mechanism<T>(kind: CK_MECHANISM_TYPE, parameter: &T) -> CK_MECHANISM {
    CK_MECHANISM {
        mechanism: kind,
        pParameter: ptr::from_ref(parameter).cast_mut().cast(),
        ulParameterLen: size_of::<T>() as CK_ULONG,
    }
}

/// A mechanism without one.
pub(crate) fn bare(kind: CK_MECHANISM_TYPE) -> CK_MECHANISM {
    CK_MECHANISM {
        mechanism: kind,
        pParameter: null_mut(),
        ulParameterLen: 0,
    }
}

/// A template: values by type.
pub(crate) fn template(values: &[(CK_ATTRIBUTE_TYPE, &[u8])]) -> Vec<CK_ATTRIBUTE> {
    let attribute = |&(kind, value): &(CK_ATTRIBUTE_TYPE, &[u8])| CK_ATTRIBUTE {
        type_: kind,
        pValue: value.as_ptr().cast_mut().cast(),
        ulValueLen: value.len() as CK_ULONG,
    };
    values.iter().map(attribute).collect()
}

/// The bytes of a number.
pub(crate) fn number(value: CK_ULONG) -> [u8; 8] {
    value.to_ne_bytes()
}

fn result(code: CK_RV) -> Result<()> {
    match code {
        CKR_OK => Ok(()),
        code => Err(code),
    }
}

/// The functions of the module.
fn functions() -> &'static CK_FUNCTION_LIST_3_0 {
    let file = super::token();
    let file = std::ffi::CString::new(file.to_str().expect("a path")).expect("a path");
    // SAFETY: the module's file; the function has the standard's type; the structures live as long as they are used.
    unsafe {
        let module = libc::dlopen(file.as_ptr(), libc::RTLD_NOW);
        assert!(!module.is_null());
        let interface = libc::dlsym(module, c"C_GetInterface".as_ptr());
        let interface: unsafe extern "C" fn(
            *mut CK_UTF8CHAR,
            *mut CK_VERSION,
            *mut *mut CK_INTERFACE,
            CK_FLAGS,
        ) -> CK_RV = std::mem::transmute(interface);
        let mut version = CK_VERSION { major: 3, minor: 0 };
        let mut found = null_mut();
        let code = interface(null_mut(), &raw mut version, &raw mut found, 0);
        assert_eq!(code, CKR_OK);
        &*(*found).pFunctionList.cast::<CK_FUNCTION_LIST_3_0>()
    }
}

impl Raw {
    /// A session of its own.
    pub(crate) fn new() -> Self {
        let functions = functions();
        let mut session = 0;
        // SAFETY: the functions have the standard's types. Another test of this process may have initialised the module.
        let code = unsafe {
            functions.C_Initialize.expect("it is there")(null_mut());
            functions.C_OpenSession.expect("it is there")(
                1,
                CKF_SERIAL_SESSION | CKF_RW_SESSION,
                null_mut(),
                None,
                &raw mut session,
            )
        };
        assert_eq!(code, CKR_OK);
        Self { functions, session }
    }

    /// The session of another.
    pub(crate) fn with(session: &cryptoki::session::Session) -> std::mem::ManuallyDrop<Self> {
        std::mem::ManuallyDrop::new(Self {
            functions: functions(),
            session: session.handle(),
        })
    }

    /// An object of a template.
    pub(crate) fn create(&self, values: &[(CK_ATTRIBUTE_TYPE, &[u8])]) -> Result<CK_OBJECT_HANDLE> {
        let mut template = template(values);
        let mut object = 0;
        // SAFETY: as many attributes as it says, each with as many bytes as it says.
        result(unsafe {
            self.functions.C_CreateObject.expect("it is there")(
                self.session,
                template.as_mut_ptr(),
                template.len() as CK_ULONG,
                &raw mut object,
            )
        })?;
        Ok(object)
    }

    /// A secret key of a type that may be used for all that secret keys are used for.
    pub(crate) fn secret(&self, key_type: CK_KEY_TYPE, value: &[u8]) -> Result<CK_OBJECT_HANDLE> {
        let (class, key_type) = (number(CKO_SECRET_KEY), number(key_type));
        let uses = [
            CKA_ENCRYPT,
            CKA_DECRYPT,
            CKA_WRAP,
            CKA_UNWRAP,
            CKA_EXTRACTABLE,
        ];
        let mut values: Vec<(_, &[u8])> = vec![
            (CKA_CLASS, &class),
            (CKA_KEY_TYPE, &key_type),
            (CKA_VALUE, value),
        ];
        values.extend(uses.map(|usage| (usage, &[CK_TRUE][..])));
        values.push((CKA_SENSITIVE, &[CK_FALSE]));
        self.create(&values)
    }

    pub(crate) fn destroy(&self, object: CK_OBJECT_HANDLE) {
        // SAFETY: takes numbers only.
        let code =
            unsafe { self.functions.C_DestroyObject.expect("it is there")(self.session, object) };
        assert_eq!(code, CKR_OK);
    }

    /// The value of an attribute.
    pub(crate) fn attribute(
        &self,
        object: CK_OBJECT_HANDLE,
        kind: CK_ATTRIBUTE_TYPE,
    ) -> Result<Vec<u8>> {
        let mut value = vec![0; 1 << 14];
        let mut template = template(&[(kind, &value)]);
        template[0].pValue = value.as_mut_ptr().cast();
        // SAFETY: one attribute with room for as many bytes as it says.
        result(unsafe {
            self.functions.C_GetAttributeValue.expect("it is there")(
                self.session,
                object,
                template.as_mut_ptr(),
                1,
            )
        })?;
        value.truncate(template[0].ulValueLen as usize);
        Ok(value)
    }

    fn functions_of(&self, work: Work) -> (Init, Once, Once, Last) {
        let all = self.functions;
        match work {
            Work::Encrypt => (
                all.C_EncryptInit,
                all.C_Encrypt,
                all.C_EncryptUpdate,
                all.C_EncryptFinal,
            ),
            Work::Decrypt => (
                all.C_DecryptInit,
                all.C_Decrypt,
                all.C_DecryptUpdate,
                all.C_DecryptFinal,
            ),
            Work::Sign => (all.C_SignInit, all.C_Sign, None, all.C_SignFinal),
        }
    }

    /// `C_…Init`
    pub(crate) fn begin(
        &self,
        work: Work,
        mechanism: &CK_MECHANISM,
        key: CK_OBJECT_HANDLE,
    ) -> Result<()> {
        let init = self.functions_of(work).0.expect("it is there");
        // SAFETY: a mechanism with its parameter, which the function only reads.
        result(unsafe { init(self.session, ptr::from_ref(mechanism).cast_mut(), key) })
    }

    /// All in one call, with room for so many bytes: what came out, and the length that was told.
    pub(crate) fn with_room(
        &self,
        work: Work,
        input: &[u8],
        room: usize,
    ) -> (Result<Vec<u8>>, usize) {
        let once = self.functions_of(work).1.expect("it is there");
        self.call(once, input, Some(room))
    }

    /// The length of what all in one call gives.
    pub(crate) fn question(&self, work: Work, input: &[u8]) -> Result<usize> {
        let once = self.functions_of(work).1.expect("it is there");
        let (answer, told) = self.call(once, input, None);
        answer.map(|_| told)
    }

    fn call(
        &self,
        function: unsafe extern "C" fn(
            CK_SESSION_HANDLE,
            *mut CK_BYTE,
            CK_ULONG,
            *mut CK_BYTE,
            *mut CK_ULONG,
        ) -> CK_RV,
        input: &[u8],
        room: Option<usize>,
    ) -> (Result<Vec<u8>>, usize) {
        const GUARD: u8 = 0xa5;
        let mut length = room.unwrap_or_default() as CK_ULONG;
        let mut output = vec![GUARD; room.unwrap_or_default() + 16];
        let to = room.map_or(null_mut(), |_| output.as_mut_ptr());
        // SAFETY: as many bytes as it says, which the function only reads; as much room as it says.
        let code = unsafe {
            function(
                self.session,
                input.as_ptr().cast_mut(),
                input.len() as CK_ULONG,
                to,
                &raw mut length,
            )
        };
        let guard = output.split_off(room.unwrap_or_default());
        assert_eq!(guard, [GUARD; 16]);
        output.truncate(length as usize);
        (result(code).map(|()| output), length as usize)
    }

    /// Begins, asks for the length, and does all in one call.
    pub(crate) fn once(
        &self,
        work: Work,
        mechanism: &CK_MECHANISM,
        key: CK_OBJECT_HANDLE,
        input: &[u8],
    ) -> Result<Vec<u8>> {
        self.begin(work, mechanism, key)?;
        let room = self.question(work, input)?;
        self.with_room(work, input, room).0
    }

    /// `C_…Update`, with room for as much as it can give.
    pub(crate) fn update(&self, work: Work, part: &[u8]) -> Result<Vec<u8>> {
        if work == Work::Sign {
            let update: Part = self.functions.C_SignUpdate;
            // SAFETY: as many bytes as it says, which the function only reads.
            let code = unsafe {
                update.expect("it is there")(
                    self.session,
                    part.as_ptr().cast_mut(),
                    part.len() as CK_ULONG,
                )
            };
            return result(code).map(|()| Vec::new());
        }
        let update = self.functions_of(work).2.expect("it is there");
        let (answer, needed) = self.call(update, part, None);
        answer?;
        self.call(update, part, Some(needed)).0
    }

    /// `C_…Final`
    pub(crate) fn finish(&self, work: Work) -> Result<Vec<u8>> {
        let last = self.functions_of(work).3.expect("it is there");
        let mut length = 0;
        // SAFETY: no room, which is the question for the length.
        result(unsafe { last(self.session, null_mut(), &raw mut length) })?;
        let mut output = vec![0; length as usize];
        let to = output.as_mut_ptr();
        // SAFETY: as much room as it says; the pointer is not null, even where there is none.
        result(unsafe { last(self.session, to, &raw mut length) })?;
        output.truncate(length as usize);
        Ok(output)
    }

    /// All of it in parts of that length.
    pub(crate) fn in_parts(
        &self,
        work: Work,
        mechanism: &CK_MECHANISM,
        key: CK_OBJECT_HANDLE,
        input: &[u8],
        part: usize,
    ) -> Result<Vec<u8>> {
        self.begin(work, mechanism, key)?;
        let mut output = Vec::new();
        for part in input.chunks(part) {
            output.extend(self.update(work, part)?);
        }
        output.extend(self.finish(work)?);
        Ok(output)
    }

    /// Whether a code or a signature is right.
    pub(crate) fn verify(
        &self,
        mechanism: &CK_MECHANISM,
        key: CK_OBJECT_HANDLE,
        message: &[u8],
        code: &[u8],
    ) -> Result<()> {
        // SAFETY: a mechanism with its parameter; as many bytes as they say. The functions only read.
        unsafe {
            let mechanism = ptr::from_ref(mechanism).cast_mut();
            result(self.functions.C_VerifyInit.expect("it is there")(
                self.session,
                mechanism,
                key,
            ))?;
            result(self.functions.C_Verify.expect("it is there")(
                self.session,
                message.as_ptr().cast_mut(),
                message.len() as CK_ULONG,
                code.as_ptr().cast_mut(),
                code.len() as CK_ULONG,
            ))
        }
    }

    /// Generates a secret key.
    pub(crate) fn generate(
        &self,
        mechanism: &CK_MECHANISM,
        values: &[(CK_ATTRIBUTE_TYPE, &[u8])],
    ) -> Result<CK_OBJECT_HANDLE> {
        let mut template = template(values);
        let mut key = 0;
        // SAFETY: a mechanism with its parameter; as many attributes as it says.
        result(unsafe {
            self.functions.C_GenerateKey.expect("it is there")(
                self.session,
                ptr::from_ref(mechanism).cast_mut(),
                template.as_mut_ptr(),
                template.len() as CK_ULONG,
                &raw mut key,
            )
        })?;
        Ok(key)
    }

    /// Derives a key.
    pub(crate) fn derive(
        &self,
        mechanism: &CK_MECHANISM,
        base: CK_OBJECT_HANDLE,
        values: &[(CK_ATTRIBUTE_TYPE, &[u8])],
    ) -> Result<CK_OBJECT_HANDLE> {
        let mut template = template(values);
        let mut key = 0;
        // SAFETY: a mechanism with its parameter; as many attributes as it says.
        result(unsafe {
            self.functions.C_DeriveKey.expect("it is there")(
                self.session,
                ptr::from_ref(mechanism).cast_mut(),
                base,
                template.as_mut_ptr(),
                template.len() as CK_ULONG,
                &raw mut key,
            )
        })?;
        Ok(key)
    }

    /// Wraps a key.
    pub(crate) fn wrap(
        &self,
        mechanism: &CK_MECHANISM,
        wrapping: CK_OBJECT_HANDLE,
        key: CK_OBJECT_HANDLE,
    ) -> Result<Vec<u8>> {
        let mut wrapped = vec![0; 4096];
        let mut length = wrapped.len() as CK_ULONG;
        // SAFETY: a mechanism with its parameter; as much room as it says.
        result(unsafe {
            self.functions.C_WrapKey.expect("it is there")(
                self.session,
                ptr::from_ref(mechanism).cast_mut(),
                wrapping,
                key,
                wrapped.as_mut_ptr(),
                &raw mut length,
            )
        })?;
        wrapped.truncate(length as usize);
        Ok(wrapped)
    }

    /// Unwraps a key.
    pub(crate) fn unwrap(
        &self,
        mechanism: &CK_MECHANISM,
        unwrapping: CK_OBJECT_HANDLE,
        wrapped: &[u8],
        values: &[(CK_ATTRIBUTE_TYPE, &[u8])],
    ) -> Result<CK_OBJECT_HANDLE> {
        let mut template = template(values);
        let mut key = 0;
        // SAFETY: a mechanism with its parameter; as many bytes and attributes as they say.
        result(unsafe {
            self.functions.C_UnwrapKey.expect("it is there")(
                self.session,
                ptr::from_ref(mechanism).cast_mut(),
                unwrapping,
                wrapped.as_ptr().cast_mut(),
                wrapped.len() as CK_ULONG,
                template.as_mut_ptr(),
                template.len() as CK_ULONG,
                &raw mut key,
            )
        })?;
        Ok(key)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: takes a number only.
        unsafe { self.functions.C_CloseSession.expect("it is there")(self.session) };
    }
}

/// A pointer as parameters have it.
pub(crate) fn pointer(bytes: &[u8]) -> *mut CK_BYTE {
    bytes.as_ptr().cast_mut()
}

/// The same, without a type.
pub(crate) fn untyped(bytes: &[u8]) -> *mut c_void {
    bytes.as_ptr().cast_mut().cast()
}
