//! Functions that are passed on as they are, while what they use within is told apart. They get nothing
//! that would lead to their algorithm's slot; but all they need is the provider's function, and many
//! algorithms share one: so each such function has one of ours.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, PoisonError};

use outboard_provider_abi::raw::{Callback, Param};

use super::Shim;
use crate::slot::{self, Function, Pointer};
use crate::within::{self, CurrentJob, Pausing};

/// The function of the provider that stands behind one of ours.
pub(super) struct Place {
    function: AtomicPtr<()>,
    current_job: AtomicPtr<()>,
}

impl Place {
    pub(super) const fn empty() -> Self {
        Self {
            function: AtomicPtr::new(ptr::null_mut()),
            current_job: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The provider's function.
    pub(super) fn function(&self) -> Function {
        let function = self.function.load(Acquire);
        // SAFETY: our function of a place is given out only after it was filled, for ever.
        unsafe { std::mem::transmute::<*mut (), Function>(function) }
    }

    /// Calls it.
    pub(super) fn within<T>(&self, call: impl FnOnce(Function) -> T) -> T {
        let function = self.function();
        let current_job = self.current_job.load(Relaxed);
        // SAFETY: as above.
        let current_job = unsafe { std::mem::transmute::<*mut (), CurrentJob>(current_job) };
        within::within(current_job, Pausing::Never, || call(function))
    }

    /// The number of the place of a function; none if all are taken.
    pub(super) fn of(places: &[Self], function: Function, job: CurrentJob) -> Option<usize> {
        static FILLING: Mutex<()> = Mutex::new(());
        let _filling = FILLING.lock().unwrap_or_else(PoisonError::into_inner);
        let first = (function as usize >> 4) % places.len();
        for number in (first..places.len()).chain(0..first) {
            let place = &places[number];
            let known = place.function.load(Acquire);
            if known.is_null() {
                place.current_job.store(job as *mut (), Relaxed);
                place.function.store(function as *mut (), Release);
                return Some(number);
            }
            if known == function as *mut () {
                return Some(number);
            }
        }
        None
    }
}

macro_rules! passing {
    (
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $result:ty, rows $($row:literal)*
    ) => {
        $(#[$doc])*
        pub(super) fn $name() -> Shim {
            type Type = unsafe extern "C" fn($($type),*) -> $result;
            static FUNCTIONS: &[[Type; 16]] = &slot::table!(passed, 0; $($row)*);
            static PLACES: [Place; FUNCTIONS.len() * 16] =
                [const { Place::empty() }; FUNCTIONS.len() * 16];

            unsafe extern "C" fn passed<const PLACE: usize>($($argument: $type),*) -> $result {
                PLACES[PLACE].within(|function| {
                    // SAFETY: it has the type of the id that it was filled for.
                    let function = unsafe { std::mem::transmute::<Function, Type>(function) };
                    // SAFETY: everything as it came.
                    unsafe { function($($argument),*) }
                })
            }

            Shim::ByFunction(|function, current_job| {
                // Without a place, what it uses is counted as if the program used it.
                let number = Place::of(&PLACES, function, current_job);
                Some(number.map_or(function, |number| {
                    let ours = slot::of(FUNCTIONS, number);
                    // SAFETY: a function pointer stays one; libcrypto casts it back by its id.
                    unsafe { std::mem::transmute::<Type, Function>(ours) }
                }))
            })
        }
    };
}

// provider-rand(7)
passing!(instantiate(context: Pointer, strength: c_uint, prediction_resistance: c_int,
    personalisation: *const u8, length: usize, params: *const Param) -> c_int, rows 0);
passing!(generate(context: Pointer, out: *mut u8, length: usize, strength: c_uint,
    prediction_resistance: c_int, input: *const u8, input_length: usize) -> c_int, rows 0);
passing!(reseed(context: Pointer, prediction_resistance: c_int, entropy: *const u8, length: usize,
    input: *const u8, input_length: usize) -> c_int, rows 0);
passing!(set_params(context: Pointer, params: *const Param) -> c_int, rows 0);

// provider-keymgmt(7)
passing!(load_key(reference: *const c_void, size: usize) -> Pointer, rows 0 16 32);
passing!(import_key(key: Pointer, selection: c_int, params: *const Param) -> c_int,
    rows 0 16 32 48);
passing!(validate_key(key: Pointer, selection: c_int, kind: c_int) -> c_int, rows 0 16 32 48);

// provider-decoder(7)
passing!(decode(context: Pointer, input: *mut c_void, selection: c_int, callback: Callback,
    argument: *mut c_void, passphrase: Option<PassphraseCallback>,
    passphrase_argument: *mut c_void) -> c_int, rows 0);

/// `OSSL_PASSPHRASE_CALLBACK`
type PassphraseCallback =
    unsafe extern "C" fn(*mut c_char, usize, *mut usize, *const Param, *mut c_void) -> c_int;
