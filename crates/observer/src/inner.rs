//! The provider that is stood in for.

use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::mem::{self, ManuallyDrop};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Mutex;

use outboard_libcrypto::{Context, Functions, Library, Provider};
use outboard_provider_abi::Core;
use outboard_provider_abi::raw::{Algorithm, Callback, CoreHandle, Dispatch, Param, provider};

/// The provider that is stood in for, alive.
pub(crate) enum Inner {
    /// libcrypto's own default provider.
    Default(ManuallyDrop<Own>),
    /// A module.
    Module {
        /// Its context.
        context: *mut c_void,
        /// Its functions, a table that ends with id 0 and lives as long as the module: for ever.
        functions: *const Dispatch,
    },
}

/// A default provider in a library context of our own.
pub(crate) struct Own {
    /// Before the context, so that it is unloaded first.
    provider: Provider,
    context: Context,
    /// An address within the libcrypto that has it.
    library: usize,
}

/// Those that are not used now, for who makes library contexts again and again. None is ever freed: a
/// thread that used one has its random generators in it until it ends, and the program, which knows
/// nothing of it, cannot end them before (OPENSSL_thread_stop_ex(3)).
static SPARES: Mutex<Vec<Own>> = Mutex::new(Vec::new());

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

impl Inner {
    /// A default provider of the libcrypto that loaded us, in a library context of our own; none
    /// where that libcrypto cannot be reached.
    pub(crate) fn default(core: &Core) -> Option<Self> {
        let address = core.address()?;
        // Never waited for: a fork in another thread may have left it locked.
        let spare = SPARES.try_lock().ok().and_then(|mut spares| {
            // A process may have two libcryptos.
            let fits = |spare: &Own| spare.library == address as usize;
            spares
                .iter()
                .position(fits)
                .map(|fit| spares.swap_remove(fit))
        });
        let own = match spare {
            Some(own) => own,
            None => {
                let library = Library::containing(address).ok()?;
                let context = Context::new(&library).ok()?;
                Own {
                    provider: context.load_provider("default").ok()?,
                    context,
                    library: address as usize,
                }
            }
        };
        Some(Self::Default(ManuallyDrop::new(own)))
    }

    /// The module of that name or path, told what we were told, so that it finds its settings in our section.
    ///
    /// # Safety
    /// `handle` and `dispatch` are what libcrypto gave to `OSSL_provider_init`, in the same call.
    pub(crate) unsafe fn module(
        core: &Core,
        name: &str,
        handle: *const CoreHandle,
        dispatch: *const Dispatch,
    ) -> Option<Self> {
        let path = path_of_module(core, name)?;
        let name = CString::new(path.into_os_string().into_encoded_bytes()).ok()?;
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
        (outcome == 1 && !functions.is_null()).then_some(Self::Module { context, functions })
    }

    /// Its own context, which its functions want.
    pub(crate) fn context(&self) -> *mut c_void {
        match self {
            // SAFETY: a live provider.
            Self::Default(own) => unsafe {
                (functions(&own.context).OSSL_PROVIDER_get0_provider_ctx)(own.provider.as_ptr())
            },
            Self::Module { context, .. } => *context,
        }
    }

    /// Its algorithms of an operation, a list that ends with a null name or null itself; and whether
    /// libcrypto must ask again each time.
    pub(crate) fn algorithms(&self, operation: c_int) -> (*const Algorithm, c_int) {
        let mut no_cache = 0;
        let list = match self {
            // SAFETY: a live provider; the type is OSSL_ALGORITHM's.
            Self::Default(own) => unsafe {
                let query = functions(&own.context).OSSL_PROVIDER_query_operation;
                query(own.provider.as_ptr(), operation, &mut no_cache).cast()
            },
            Self::Module { context, functions } => {
                // SAFETY: a table that ends with id 0.
                match unsafe { find(*functions, provider::QUERY_OPERATION) } {
                    None => std::ptr::null(),
                    // SAFETY: the function of that id has that type.
                    Some(query) => unsafe {
                        let query =
                            std::mem::transmute::<unsafe extern "C" fn(), QueryOperation>(query);
                        query(*context, operation, &mut no_cache)
                    },
                }
            }
        };
        (list, no_cache)
    }

    /// The functions of a module, which take its own context and so can be libcrypto's as they are.
    pub(crate) fn functions(&self) -> Option<*const Dispatch> {
        match self {
            Self::Default(_) => None,
            Self::Module { functions, .. } => Some(*functions),
        }
    }

    /// What it says of itself.
    ///
    /// # Safety
    /// `params` is an ended array that the provider may write to.
    pub(crate) unsafe fn get_params(&self, params: *mut Param) -> c_int {
        match self {
            // SAFETY: a live provider; by the caller's word.
            Self::Default(own) => unsafe {
                (functions(&own.context).OSSL_PROVIDER_get_params)(
                    own.provider.as_ptr(),
                    params.cast(),
                )
            },
            Self::Module { .. } => 0,
        }
    }

    /// What it can say of itself.
    pub(crate) fn gettable_params(&self) -> *const Param {
        match self {
            // SAFETY: a live provider.
            Self::Default(own) => unsafe {
                (functions(&own.context).OSSL_PROVIDER_gettable_params)(own.provider.as_ptr())
                    .cast()
            },
            Self::Module { .. } => std::ptr::null(),
        }
    }

    /// Its capabilities, such as the groups of TLS.
    ///
    /// # Safety
    /// `name` is terminated; `callback` may be called with `argument`.
    pub(crate) unsafe fn capabilities(
        &self,
        name: *const c_char,
        callback: Callback,
        argument: *mut c_void,
    ) -> c_int {
        match self {
            // SAFETY: a live provider; by the caller's word. Both callbacks' types are OSSL_CALLBACK's.
            Self::Default(own) => unsafe {
                let callback = std::mem::transmute::<
                    Callback,
                    outboard_libcrypto::sys::ParamsCallback,
                >(callback);
                (functions(&own.context).OSSL_PROVIDER_get_capabilities)(
                    own.provider.as_ptr(),
                    name,
                    callback,
                    argument,
                )
            },
            Self::Module { .. } => 0,
        }
    }

    /// Makes what the algorithms of a TLS handshake use within ready: digests, HMAC, randomness. Who makes
    /// ready to speak TLS will want it; a server's children find it done, where each would do it anew.
    pub(crate) fn prepare_for_tls(&self) {
        let Self::Default(own) = self else {
            return;
        };
        let functions = functions(&own.context);
        let context = own.context.as_ptr();
        // SAFETY: a live context and terminated names. A fetch that fails leaves nothing but an error,
        // which is taken back: who needs it will see it fail again.
        unsafe {
            (functions.ERR_set_mark)();
            let any = std::ptr::null();
            for digest in [c"SHA2-256", c"SHA2-384"] {
                (functions.EVP_MD_free)((functions.EVP_MD_fetch)(context, digest.as_ptr(), any));
            }
            (functions.EVP_MAC_free)((functions.EVP_MAC_fetch)(context, c"HMAC".as_ptr(), any));
            // Made and seeded, and not asked: a program may have a source of its own for that.
            (functions.RAND_get0_private)(context);
            (functions.ERR_pop_to_mark)();
        }
    }

    /// Whether it passes its own test.
    pub(crate) fn self_test(&self) -> c_int {
        match self {
            // SAFETY: a live provider.
            Self::Default(own) => unsafe {
                (functions(&own.context).OSSL_PROVIDER_self_test)(own.provider.as_ptr())
            },
            Self::Module { .. } => 1,
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        match self {
            Self::Default(own) => {
                // SAFETY: nobody uses it after this.
                let own = unsafe { ManuallyDrop::take(own) };
                match SPARES.try_lock() {
                    Ok(mut spares) => spares.push(own),
                    Err(_) => mem::forget(own),
                }
            }
            Self::Module { context, functions } => {
                // SAFETY: a table that ends with id 0.
                if let Some(teardown) = unsafe { find(*functions, provider::TEARDOWN) } {
                    // SAFETY: the function of that id has that type; the context is never used again.
                    unsafe {
                        std::mem::transmute::<unsafe extern "C" fn(), Teardown>(teardown)(*context);
                    }
                }
            }
        }
    }
}

unsafe extern "C" {
    /// Of the C library: null in a program that has other rights than who started it.
    fn secure_getenv(name: *const c_char) -> *const c_char;
}

/// Where the libcrypto that loaded us would look for a module (DSO_merge): a name without a directory gets an
/// ending, and what is no path from the root begins where that libcrypto has its modules.
fn path_of_module(core: &Core, name: &str) -> Option<PathBuf> {
    if name.starts_with('/') {
        return Some(name.into());
    }
    // SAFETY: a terminated name; the answer, if any, is a terminated text of the environment's.
    let directory = unsafe {
        let variable = secure_getenv(c"OPENSSL_MODULES".as_ptr());
        (!variable.is_null()).then(|| CStr::from_ptr(variable).to_bytes().to_owned())
    };
    let directory = match directory {
        Some(directory) => OsString::from_vec(directory).into(),
        None => Library::containing(core.address()?)
            .ok()?
            .modules_directory()?,
    };
    let has_ending = name.contains('/') || name.ends_with(".so");
    Some(directory.join(match has_ending {
        true => name.to_owned(),
        false => format!("{name}.so"),
    }))
}

fn functions(context: &Context) -> &Functions {
    context.library().functions()
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

/// The first of an algorithm's names, which is the one it is best known by.
pub(crate) fn first_name(algorithm: &Algorithm) -> &str {
    names(algorithm).next().unwrap_or_default()
}

/// Whether that is one of an algorithm's names.
pub(crate) fn has_name(algorithm: &Algorithm, name: &str) -> bool {
    names(algorithm).any(|known| known.eq_ignore_ascii_case(name))
}

/// An algorithm's names; none if they are no text.
fn names(algorithm: &Algorithm) -> impl Iterator<Item = &str> {
    // SAFETY: names are terminated and live as long as the provider.
    let names = unsafe { CStr::from_ptr(algorithm.names) };
    names.to_str().unwrap_or_default().split(':')
}
