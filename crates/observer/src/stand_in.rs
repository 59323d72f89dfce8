//! The provider as libcrypto sees it.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use once_cell::race::OnceBox;
use outboard_libcrypto::Library;
use outboard_observation::Recorder;
use outboard_provider_abi::Core;
use outboard_provider_abi::raw::{Algorithm, Callback, CoreHandle, Dispatch, Param, provider};

use crate::inner::{self, Inner};
use crate::key;
use crate::living::Living;
use crate::mark;
use crate::shim::{Kind, Shim};
use crate::slot::{CurrentJob, FUNCTIONS, Slot};

/// One provider of one library context, stood in for.
struct StandIn {
    inner: Inner,
    /// What it is called in the record.
    name: String,
    /// None where the record can't be used.
    recorder: Option<&'static Recorder>,
    /// What tells whether a job runs, where the provider may pause one.
    current_job: Option<CurrentJob>,
    /// Whether the provider that is stood in for is also there itself, to be preferred to.
    beside: bool,
    /// What libcrypto was given.
    functions: Vec<Dispatch>,
    /// The lists made so far, by kind. No lock: a fork in another thread would leave it locked in the
    /// child. Two threads may make a list at once; one is kept.
    lists: [OnceBox<List>; Kind::ALL.len()],
    /// Whether all was made ready that a TLS handshake needs.
    is_ready_for_tls: AtomicBool,
}

/// The algorithms of one operation as libcrypto sees them.
struct List {
    algorithms: Vec<Algorithm>,
    /// What the algorithms point to.
    _tables: Vec<Box<[Dispatch]>>,
    _properties: Vec<CString>,
}

impl List {
    fn as_ptr(&self) -> *const Algorithm {
        self.algorithms.as_ptr()
    }
}

// SAFETY: the pointers lead to tables that are never written once they are made.
unsafe impl Send for List {}
// SAFETY: as above.
unsafe impl Sync for List {}
// SAFETY: as above.
unsafe impl Send for StandIn {}
// SAFETY: as above.
unsafe impl Sync for StandIn {}

static LIVING: Living<StandIn> = Living::none();

fn living<'a>(context: *mut c_void) -> Option<&'a StandIn> {
    // SAFETY: libcrypto calls nothing of a provider after its teardown.
    unsafe { LIVING.of(context) }
}

/// The body of `OSSL_provider_init`. Settings of our section of the configuration:
///
/// - `inner`: the module of the provider that is stood in for, by its path or by its name where libcrypto seeks
///   modules; unless said, libcrypto's own default provider;
/// - `record`: the file to count in; unless said, that of the user;
/// - `beside`: `yes` if the default provider is active too, and `?outboard.observed=yes` is preferred.
///
/// (No value may be the name of a section, or OpenSSL takes it for one.)
///
/// Where the record can't be used, everything passes as it is.
///
/// # Safety
/// Called with what libcrypto passes to `OSSL_provider_init`.
pub(crate) unsafe fn init(
    handle: *const CoreHandle,
    dispatch: *const Dispatch,
    out: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> Option<()> {
    // SAFETY: by the caller's word.
    let core = unsafe { Core::new(handle, dispatch) };
    let (inner, name) = match core.setting(c"inner") {
        None => (Inner::default(&core)?, "default".to_owned()),
        // SAFETY: by the caller's word.
        Some(path) => (
            unsafe { Inner::module(&core, &path, handle, dispatch) }?,
            name_of_module(&path),
        ),
    };
    let recorder = outboard_observation::open(&record(&core)).ok();
    // The default provider pauses nothing.
    let current_job = match inner.functions() {
        None => None,
        Some(_) => core.address().and_then(|address| {
            let library = Library::containing(address).ok()?;
            Some(library.functions().ASYNC_get_current_job)
        }),
    };
    let stand_in = StandIn {
        name,
        current_job,
        beside: core.setting(c"beside").as_deref() == Some("yes"),
        functions: functions(&inner),
        recorder,
        inner,
        lists: [const { OnceBox::new() }; Kind::ALL.len()],
        is_ready_for_tls: AtomicBool::new(false),
    };
    let inner_context = stand_in.inner.context();
    // SAFETY: libcrypto passes room for both. The table lives until the teardown.
    unsafe {
        *out = stand_in.functions.as_ptr();
        *context = inner_context;
    }
    LIVING.enter(inner_context, stand_in);
    Some(())
}

/// `outboard` of `/usr/lib/ossl-modules/outboard.so`, or of `target/release/liboutboard.so`.
fn name_of_module(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = file.strip_suffix(".so").unwrap_or(file);
    name.strip_prefix("lib").unwrap_or(name).to_owned()
}

fn record(core: &Core) -> PathBuf {
    match core.setting(c"record").filter(|path| !path.is_empty()) {
        Some(path) => path.into(),
        // SAFETY: has no preconditions.
        None => outboard_observation::default_path(unsafe { libc::geteuid() }),
    }
}

/// What libcrypto gets: a module's own functions but for two, or those that ask libcrypto's own
/// default provider.
fn functions(inner: &Inner) -> Vec<Dispatch> {
    let entry = |function_id, function: *const ()| Dispatch {
        function_id,
        // SAFETY: a function pointer stays one; libcrypto casts it back by its id.
        function: Some(unsafe {
            std::mem::transmute::<*const (), unsafe extern "C" fn()>(function)
        }),
    };
    let mut functions = vec![
        entry(provider::TEARDOWN, teardown as *const ()),
        entry(provider::QUERY_OPERATION, query as *const ()),
    ];
    match inner.functions() {
        Some(table) => {
            // SAFETY: a module's table ends with id 0.
            let theirs = unsafe { inner::entries(table) }.filter(|entry| {
                !matches!(
                    entry.function_id,
                    provider::TEARDOWN | provider::QUERY_OPERATION
                )
            });
            functions.extend(theirs);
        }
        None => functions.extend([
            entry(provider::GETTABLE_PARAMS, gettable_params as *const ()),
            entry(provider::GET_PARAMS, get_params as *const ()),
            entry(provider::GET_CAPABILITIES, get_capabilities as *const ()),
            entry(SELF_TEST, self_test as *const ()),
        ]),
    }
    functions.push(Dispatch::END);
    functions
}

/// `OSSL_FUNC_PROVIDER_SELF_TEST`
const SELF_TEST: c_int = 1031;

unsafe extern "C" fn teardown(context: *mut c_void) {
    drop(LIVING.leave(context));
}

unsafe extern "C" fn query(
    context: *mut c_void,
    operation: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    let Some(stand_in) = living(context) else {
        return std::ptr::null();
    };
    let list = std::panic::catch_unwind(AssertUnwindSafe(|| stand_in.algorithms(operation)));
    let Ok((list, temporary)) = list else {
        return std::ptr::null();
    };
    if !no_cache.is_null() {
        // SAFETY: libcrypto passes room for it.
        unsafe { *no_cache = temporary };
    }
    list
}

unsafe extern "C" fn gettable_params(context: *mut c_void) -> *const Param {
    living(context).map_or(std::ptr::null(), |stand_in| {
        stand_in.inner.gettable_params()
    })
}

unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: as it came.
    living(context).map_or(0, |stand_in| unsafe { stand_in.inner.get_params(params) })
}

unsafe extern "C" fn get_capabilities(
    context: *mut c_void,
    name: *const c_char,
    callback: Callback,
    argument: *mut c_void,
) -> c_int {
    let Some(stand_in) = living(context) else {
        return 0;
    };
    // libssl asks when it makes an SSL_CTX.
    // SAFETY: a name is null or terminated.
    if !name.is_null() && unsafe { CStr::from_ptr(name) } == c"TLS-GROUP" {
        let prepared = AssertUnwindSafe(|| stand_in.prepare_for_tls());
        // What could not be made ready is made when it is needed.
        let _ = std::panic::catch_unwind(prepared);
    }
    // SAFETY: everything as it came.
    unsafe { stand_in.inner.capabilities(name, callback, argument) }
}

unsafe extern "C" fn self_test(context: *mut c_void) -> c_int {
    living(context).map_or(0, |stand_in| stand_in.inner.self_test())
}

impl StandIn {
    /// Makes ready what handshakes need, once: in a server that forks for each connection, before it does.
    fn prepare_for_tls(&self) {
        if self.is_ready_for_tls.swap(true, Relaxed) {
            return;
        }
        self.inner.prepare_for_tls();
        mark::prepare_for_tls();
        for operation in [
            Kind::Mac,
            Kind::Kdf,
            Kind::KeyExchange,
            Kind::Signature,
            Kind::AsymmetricCipher,
        ] {
            self.algorithms(operation.id());
        }
    }

    /// The algorithms of an operation, and whether libcrypto must ask again each time.
    fn algorithms(&self, operation: c_int) -> (*const Algorithm, c_int) {
        if self.recorder.is_none() {
            // A program must not lose its cryptography for want of a place to count.
            return match self.beside {
                true => (std::ptr::null(), 0),
                false => self.inner.algorithms(operation),
            };
        }
        let kind = match Kind::of_operation(operation) {
            // Beside the provider itself, what is not observed is left to it; but for random generators,
            // whose ciphers would be taken for the program's.
            None if self.beside => return (std::ptr::null(), 0),
            None => return self.inner.algorithms(operation),
            // A module lives in the program's own library context.
            Some(Kind::Random) if self.inner.functions().is_some() => {
                return self.inner.algorithms(operation);
            }
            Some(kind) => kind,
        };
        let place = &self.lists[kind as usize];
        if let Some(list) = place.get() {
            return (list.as_ptr(), 0);
        }
        let (theirs, no_cache) = self.inner.algorithms(operation);
        if theirs.is_null() || no_cache != 0 {
            // Nothing, or what may be something else the next time: that passes as it is.
            return (theirs, no_cache);
        }
        // SAFETY: a list that the provider keeps, ended by a null name.
        let list =
            place.get_or_init(|| Box::new(self.list(kind, unsafe { inner::algorithms(theirs) })));
        (list.as_ptr(), 0)
    }

    fn list<'a>(&self, kind: Kind, theirs: impl Iterator<Item = &'a Algorithm>) -> List {
        let mut list = List {
            algorithms: Vec::new(),
            _tables: Vec::new(),
            _properties: Vec::new(),
        };
        for algorithm in theirs {
            let mut ours = *algorithm;
            if let Some(table) = self.wrap(kind, algorithm) {
                ours.implementation = table.as_ptr();
                list._tables.push(table);
            }
            if self.beside
                && let Some(properties) = observed(algorithm)
            {
                ours.properties = properties.as_ptr();
                list._properties.push(properties);
            }
            list.algorithms.push(ours);
        }
        list.algorithms.push(Algorithm::END);
        list
    }

    /// The table of an algorithm with our functions; none where it passes as it is. (Called for hundreds of
    /// algorithms when a program begins, which a short one feels.)
    fn wrap(&self, kind: Kind, algorithm: &Algorithm) -> Option<Box<[Dispatch]>> {
        // SAFETY: an algorithm's table ends with id 0.
        let theirs = || unsafe { inner::entries(algorithm.implementation) };
        // Before it takes a slot: is everything known?
        let (mut count, mut largest) = (0, 0);
        for entry in theirs() {
            if matches!(kind.shim(entry.function_id, 0), Shim::Unknown) {
                return None;
            }
            count += 1;
            largest = largest.max(usize::try_from(entry.function_id).ok()?);
        }
        if largest >= FUNCTIONS {
            return None;
        }
        let mut functions = vec![None; largest + 1].into_boxed_slice();
        // libcrypto takes the first where an id is there twice (ED25519ph of OpenSSL 3.5).
        for entry in theirs() {
            let function = &mut functions[entry.function_id as usize];
            *function = function.or(entry.function);
        }
        let name = inner::first_name(algorithm);
        let key_questions = self.key_questions(name);
        let slot = Slot::new(
            kind,
            functions,
            &self.name,
            name,
            key_questions,
            self.recorder?,
            self.current_job,
        );
        let number = slot.register()?;
        let mut ours = Vec::with_capacity(count + 1);
        ours.extend(theirs().map(|entry| {
            Dispatch {
                function_id: entry.function_id,
                function: entry
                    .function
                    .map(|own| match kind.shim(entry.function_id, number) {
                        Shim::Wrapped(function) => function,
                        Shim::Kept | Shim::Unknown => own,
                    }),
            }
        }));
        ours.push(Dispatch::END);
        Some(ours.into_boxed_slice())
    }

    /// How to ask about the keys of an algorithm.
    fn key_questions(&self, algorithm: &str) -> Option<key::Questions> {
        const KEY_MANAGEMENT: c_int = 10;
        const GET_PARAMS: c_int = 11;
        let key_type = key::type_of(algorithm)?;
        let (list, _) = self.inner.algorithms(KEY_MANAGEMENT);
        // SAFETY: a list that the provider keeps, ended by a null name.
        let management =
            unsafe { inner::algorithms(list) }.find(|known| inner::has_name(known, key_type))?;
        // SAFETY: an algorithm's table ends with id 0.
        let function = unsafe { inner::entries(management.implementation) }
            .find(|entry| entry.function_id == GET_PARAMS)?
            .function?;
        // SAFETY: the function of that id has that type.
        let get =
            unsafe { std::mem::transmute::<unsafe extern "C" fn(), key::GetParams>(function) };
        Some(key::Questions {
            get,
            have_groups: ["EC", "DH", "DHX"].contains(&key_type),
        })
    }
}

/// The properties of an algorithm that is observed beside the provider itself: those that it has, and
/// one to prefer it by (a name that OpenSSL does not know needs a dot). An algorithm that names no
/// provider is not to be preferred.
fn observed(algorithm: &Algorithm) -> Option<CString> {
    if algorithm.properties.is_null() {
        return None;
    }
    // SAFETY: a property definition is terminated.
    let properties = unsafe { CStr::from_ptr(algorithm.properties) };
    let properties = properties.to_str().ok()?;
    properties
        .contains("provider=")
        .then(|| CString::new(format!("{properties},outboard.observed=yes")).ok())?
}
