//! libcrypto as a provider sees it: a handle and a few upcalls.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr;

use crate::error::Error;
use crate::params::read_text;
use crate::raw::{self, CoreHandle, Dispatch, Param};

type GetParams = unsafe extern "C" fn(*const CoreHandle, *mut Param) -> c_int;
type GetLibctx = unsafe extern "C" fn(*const CoreHandle) -> *mut c_void;
type NewError = unsafe extern "C" fn(*const CoreHandle);
type SetErrorDebug = unsafe extern "C" fn(*const CoreHandle, *const c_char, c_int, *const c_char);
type BioReadEx = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut usize) -> c_int;
type BioGets = unsafe extern "C" fn(*mut c_void, *mut c_char, c_int) -> c_int;
type BioWriteEx = unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut usize) -> c_int;
type ObjectCreate =
    unsafe extern "C" fn(*const CoreHandle, *const c_char, *const c_char, *const c_char) -> c_int;
type VsetError = unsafe extern "C" fn(*const CoreHandle, u32, *const c_char, *mut c_void);

/// The handle and the upcalls. Small and copied into every context, so that each can raise errors;
/// libcrypto keeps it valid for as long as any object of the provider lives.
#[derive(Clone, Copy)]
pub struct Core {
    handle: *const CoreHandle,
    get_params: Option<GetParams>,
    get_libctx: Option<GetLibctx>,
    new_error: Option<NewError>,
    set_error_debug: Option<SetErrorDebug>,
    vset_error: Option<VsetError>,
    create_object: Option<ObjectCreate>,
    add_signature: Option<ObjectCreate>,
    pub(crate) bio_read: Option<BioReadEx>,
    pub(crate) bio_gets: Option<BioGets>,
    pub(crate) bio_write: Option<BioWriteEx>,
}

// SAFETY: the handle is only passed back to libcrypto, whose upcalls may come from any thread.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

impl Core {
    /// Reads the table that `OSSL_provider_init` receives.
    ///
    /// # Safety
    /// `dispatch` is null or leads to a table that ends with id 0 and whose functions have the types
    /// that `core_dispatch.h` gives their ids; `handle` belongs to it.
    pub unsafe fn new(handle: *const CoreHandle, mut dispatch: *const Dispatch) -> Self {
        let mut core = Self {
            handle,
            get_params: None,
            get_libctx: None,
            new_error: None,
            set_error_debug: None,
            vset_error: None,
            create_object: None,
            add_signature: None,
            bio_read: None,
            bio_gets: None,
            bio_write: None,
        };
        if dispatch.is_null() {
            return core;
        }
        #[expect(
            clippy::missing_transmute_annotations,
            reason = "the fields give the types"
        )]
        // SAFETY: by the caller's word the table ends with id 0, and each function has its id's type.
        unsafe {
            while (*dispatch).function_id != 0 {
                if let Some(function) = (*dispatch).function {
                    match (*dispatch).function_id {
                        raw::core::GET_PARAMS => core.get_params = Some(transmute(function)),
                        raw::core::GET_LIBCTX => core.get_libctx = Some(transmute(function)),
                        raw::core::NEW_ERROR => core.new_error = Some(transmute(function)),
                        raw::core::SET_ERROR_DEBUG => {
                            core.set_error_debug = Some(transmute(function));
                        }
                        raw::core::VSET_ERROR => core.vset_error = Some(transmute(function)),
                        raw::core::OBJ_CREATE => core.create_object = Some(transmute(function)),
                        raw::core::OBJ_ADD_SIGID => core.add_signature = Some(transmute(function)),
                        raw::core::BIO_READ_EX => core.bio_read = Some(transmute(function)),
                        raw::core::BIO_WRITE_EX => core.bio_write = Some(transmute(function)),
                        raw::core::BIO_GETS => core.bio_gets = Some(transmute(function)),
                        _ => {}
                    }
                }
                dispatch = dispatch.add(1);
            }
        }
        core
    }

    /// The address of one of libcrypto's own functions: leads to the libcrypto that loaded us.
    pub fn address(&self) -> Option<*const c_void> {
        self.get_params.map(|function| function as *const c_void)
    }

    /// libcrypto's handle of this provider: its `OSSL_PROVIDER`.
    pub fn handle(&self) -> *const CoreHandle {
        self.handle
    }

    /// The library context that loaded this provider, an `OSSL_LIB_CTX`; null for the process' default
    /// context.
    pub fn library_context(&self) -> *mut c_void {
        // SAFETY: libcrypto's own function, given its handle.
        self.get_libctx
            .map_or(ptr::null_mut(), |get| unsafe { get(self.handle) })
    }

    /// A setting of the provider's section of the configuration.
    pub fn setting(&self, name: &CStr) -> Option<String> {
        let get_params = self.get_params?;
        let mut value: *const c_char = ptr::null();
        let mut params = [
            Param {
                key: name.as_ptr(),
                data_type: raw::PARAM_UTF8_PTR,
                data: (&raw mut value).cast(),
                data_size: 0,
                return_size: raw::PARAM_UNMODIFIED,
            },
            crate::params::END,
        ];
        // SAFETY: a well-formed array; libcrypto writes at most one pointer, to a string of its own.
        unsafe {
            get_params(self.handle, params.as_mut_ptr());
            read_text(value)
        }
    }

    /// Names an object identifier, in digits, for the process; one that has a name keeps it. Whether it has one now.
    pub fn name_object(&self, number: &CStr, short: &CStr, long: &CStr) -> bool {
        let (number, short, long) = (number.as_ptr(), short.as_ptr(), long.as_ptr());
        // SAFETY: libcrypto's own function, given its handle; terminated texts, which it copies.
        self.create_object
            .is_some_and(|create| unsafe { create(self.handle, number, short, long) } == 1)
    }

    /// Tells the process that the signature of that name is by a key of that name, and that no digest belongs to it.
    pub fn name_signature(&self, signature: &CStr, key: &CStr) -> bool {
        let (signature, digest, key) = (signature.as_ptr(), c"".as_ptr(), key.as_ptr());
        // SAFETY: as above.
        self.add_signature
            .is_some_and(|add| unsafe { add(self.handle, signature, digest, key) } == 1)
    }

    /// Puts the error into this thread's error queue. Entry points do that for the errors they return; this is
    /// for what goes on nevertheless.
    pub fn raise(&self, error: &Error) {
        let (Some(new_error), Some(vset_error)) = (self.new_error, self.vset_error) else {
            return;
        };
        let format = error.format();
        // `va_list` is passed by reference in the ABIs of x86-64 and aarch64, and is never read since
        // the format has no conversions: zeroed room of the larger size stands in for it.
        let mut no_arguments = [0u64; 4];
        // SAFETY: libcrypto copies the format's expansion before it returns.
        unsafe {
            new_error(self.handle);
            if let Some(set_error_debug) = self.set_error_debug {
                set_error_debug(self.handle, c"outboard".as_ptr(), 0, c"".as_ptr());
            }
            vset_error(
                self.handle,
                error.reason() as u32,
                format
                    .as_ref()
                    .map_or(ptr::null(), |format| format.as_ptr()),
                no_arguments.as_mut_ptr().cast(),
            );
        }
    }
}
