//! The provider that is stood in for.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use outboard_libcrypto::Library;
use outboard_provider_abi::Core;
use outboard_provider_abi::raw::{Algorithm, CoreHandle, Dispatch, core, provider};

use crate::within::CurrentJob;

/// The provider that is stood in for, alive.
pub(crate) struct Inner {
    /// Its context, which its functions want.
    pub(crate) context: *mut c_void,
    /// Its functions, a table that ends with id 0 and lives as long as this.
    pub(crate) functions: *const Dispatch,
    /// Tells threads' jobs apart.
    pub(crate) current_job: CurrentJob,
    end: End,
}

/// How it ends.
enum End {
    /// A module, which is ours alone: by its own function.
    Teardown,
    /// libcrypto's default provider: libcrypto ends it when nobody holds it any more.
    Free(Free, *const CoreHandle),
}

// SAFETY: providers may be asked from any thread.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

type ProviderInit = unsafe extern "C" fn(
    *const CoreHandle,
    *const Dispatch,
    *mut *const Dispatch,
    *mut *mut c_void,
) -> c_int;
type QueryOperation = unsafe extern "C" fn(*mut c_void, c_int, *mut c_int) -> *const Algorithm;
type Teardown = unsafe extern "C" fn(*mut c_void);
type LibraryContext = unsafe extern "C" fn(*const CoreHandle) -> *mut c_void;
type ContextOf = unsafe extern "C" fn(*const CoreHandle) -> *mut c_void;
type FunctionsOf = unsafe extern "C" fn(*const CoreHandle) -> *const Dispatch;
type Free = unsafe extern "C" fn(*const CoreHandle, c_int) -> c_int;
/// `OSSL_PROVIDER_try_load`.
type TryLoad = unsafe extern "C" fn(*mut c_void, *const c_char, c_int) -> *const CoreHandle;

/// One of the functions that libcrypto offers to providers; ends the function where it is missing.
macro_rules! upcall {
    ($table:expr, $id:ident, $type:ty) => {
        std::mem::transmute::<unsafe extern "C" fn(), $type>(find($table, core::$id)?)
    };
}

impl Inner {
    /// The default provider of the library context that loads us: so all that it uses is the
    /// program's own, and a program pays for no second one. None where that libcrypto cannot be reached.
    ///
    /// It is loaded, and unless it shall be active `beside` us, deactivated at once; but it is held.
    /// A provider that is not active offers nothing, and works for who has its functions until the last
    /// that holds it lets it go (`ossl_provider_free`).
    ///
    /// # Safety
    /// `handle` and `dispatch` are what libcrypto gave to `OSSL_provider_init`, in the same call.
    pub(crate) unsafe fn default(
        core: &Core,
        handle: *const CoreHandle,
        dispatch: *const Dispatch,
        beside: bool,
    ) -> Option<Self> {
        let [try_load, current_job] = Library::functions_beside(
            core.address()?,
            [c"OSSL_PROVIDER_try_load", c"ASYNC_get_current_job"],
        )?;
        // SAFETY: by the caller's word: the table ends with id 0; the functions of those ids and names
        // have those types (core_dispatch.h, openssl/provider.h, openssl/async.h).
        unsafe {
            let try_load = std::mem::transmute::<*mut c_void, TryLoad>(try_load.as_ptr());
            let library_context = upcall!(dispatch, GET_LIBCTX, LibraryContext);
            let context_of = upcall!(dispatch, PROVIDER_GET0_PROVIDER_CTX, ContextOf);
            let functions_of = upcall!(dispatch, PROVIDER_GET0_DISPATCH, FunctionsOf);
            let free = upcall!(dispatch, PROVIDER_FREE, Free);
            // Whether it is active where nothing is configured stays as it is.
            const RETAIN_FALLBACKS: c_int = 1;
            let default = try_load(
                library_context(handle),
                c"default".as_ptr(),
                RETAIN_FALLBACKS,
            );
            if default.is_null() {
                return None;
            }
            const DEACTIVATE: c_int = 1;
            if !beside {
                free(default, DEACTIVATE);
            }
            Some(Self {
                context: context_of(default),
                functions: functions_of(default),
                current_job: std::mem::transmute::<*mut c_void, CurrentJob>(current_job.as_ptr()),
                end: End::Free(free, default),
            })
        }
    }

    /// The module at `path`, told what we were told, so that it finds its settings in our section.
    ///
    /// # Safety
    /// `handle` and `dispatch` are what libcrypto gave to `OSSL_provider_init`, in the same call.
    pub(crate) unsafe fn module(
        core: &Core,
        path: &Path,
        handle: *const CoreHandle,
        dispatch: *const Dispatch,
    ) -> Option<Self> {
        let [current_job] = Library::functions_beside(core.address()?, [c"ASYNC_get_current_job"])?;
        let name = CString::new(path.as_os_str().as_bytes()).ok()?;
        // SAFETY: loading runs its initialisers; the configuration chose a provider. It stays loaded.
        let module = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if module.is_null() {
            return None;
        }
        // SAFETY: a valid handle and a terminated name.
        let init = unsafe { libc::dlsym(module, c"OSSL_provider_init".as_ptr()) };
        if init.is_null() {
            return None;
        }
        let mut functions = std::ptr::null();
        let mut context = std::ptr::null_mut();
        // SAFETY: the function of that name has that type (provider-base(7)); it gets what we got.
        let outcome = unsafe {
            let init = std::mem::transmute::<*mut c_void, ProviderInit>(init);
            init(handle, dispatch, &mut functions, &mut context)
        };
        (outcome == 1 && !functions.is_null()).then_some(Self {
            context,
            functions,
            // SAFETY: the function of that name has that type (openssl/async.h).
            current_job: unsafe {
                std::mem::transmute::<*mut c_void, CurrentJob>(current_job.as_ptr())
            },
            end: End::Teardown,
        })
    }

    /// Whether it is libcrypto's own default provider.
    pub(crate) fn is_default(&self) -> bool {
        matches!(self.end, End::Free(..))
    }

    /// Its algorithms of an operation, a list that ends with a null name or null itself; and whether
    /// libcrypto must ask again each time.
    pub(crate) fn algorithms(&self, operation: c_int) -> (*const Algorithm, c_int) {
        let mut no_cache = 0;
        // SAFETY: a table that ends with id 0.
        let list = match unsafe { find(self.functions, provider::QUERY_OPERATION) } {
            None => std::ptr::null(),
            // SAFETY: the function of that id has that type.
            Some(query) => unsafe {
                let query = std::mem::transmute::<unsafe extern "C" fn(), QueryOperation>(query);
                query(self.context, operation, &mut no_cache)
            },
        };
        (list, no_cache)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        match self.end {
            End::Free(free, default) => {
                const KEEP_ACTIVE: c_int = 0;
                // SAFETY: held since it was loaded, and never used again.
                unsafe { free(default, KEEP_ACTIVE) };
            }
            End::Teardown => {
                // SAFETY: a table that ends with id 0.
                if let Some(teardown) = unsafe { find(self.functions, provider::TEARDOWN) } {
                    // SAFETY: the function of that id has that type; the context is never used again.
                    unsafe {
                        std::mem::transmute::<unsafe extern "C" fn(), Teardown>(teardown)(
                            self.context,
                        );
                    }
                }
            }
        }
    }
}

/// The function of that id.
///
/// # Safety
/// `table` ends with id 0.
unsafe fn find(table: *const Dispatch, id: c_int) -> Option<unsafe extern "C" fn()> {
    // SAFETY: by the caller's word.
    unsafe { entries(table) }
        .find(|entry| entry.function_id == id)?
        .function
}

/// The entries of a table, without the one that ends it.
///
/// # Safety
/// `table` ends with id 0 and outlives what is returned.
pub(crate) unsafe fn entries<'a>(table: *const Dispatch) -> impl Iterator<Item = &'a Dispatch> {
    let mut next = table;
    std::iter::from_fn(move || {
        // SAFETY: by the caller's word; never beyond the entry with id 0.
        let entry = unsafe { &*next };
        if entry.function_id == 0 {
            return None;
        }
        // SAFETY: it was not the last.
        next = unsafe { next.add(1) };
        Some(entry)
    })
}

/// The algorithms of a list, without the one that ends it.
///
/// # Safety
/// `list` is null or ends with a null name, and outlives what is returned.
pub(crate) unsafe fn algorithms<'a>(list: *const Algorithm) -> impl Iterator<Item = &'a Algorithm> {
    let mut next = list;
    std::iter::from_fn(move || {
        // SAFETY: by the caller's word; never beyond the one with a null name.
        let algorithm = unsafe { next.as_ref() }.filter(|next| !next.names.is_null())?;
        // SAFETY: it was not the last.
        next = unsafe { next.add(1) };
        Some(algorithm)
    })
}

/// An algorithm's names.
fn names(algorithm: &Algorithm) -> impl Iterator<Item = &[u8]> {
    // SAFETY: names are terminated and live as long as the provider.
    let names = unsafe { CStr::from_ptr(algorithm.names) };
    names.to_bytes().split(|&byte| byte == b':')
}

/// The first of an algorithm's names, which is the one it is best known by.
pub(crate) fn first_name(algorithm: &Algorithm) -> &str {
    let name = names(algorithm).next().unwrap_or_default();
    std::str::from_utf8(name).unwrap_or_default()
}

/// Whether that is one of an algorithm's names.
pub(crate) fn has_name(algorithm: &Algorithm, name: &str) -> bool {
    names(algorithm).any(|known| known.eq_ignore_ascii_case(name.as_bytes()))
}
