//! One function in the place of another.

use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use outboard_stopwatch::{Phase, ticks};

use crate::SHEET;

/// As many arguments as any function here has. Those of pointers and integers lie alike whatever their number, and what a
/// function does not take it does not see.
pub(crate) type Arguments = [usize; 12];

/// A C function of so many arguments.
pub(crate) type Function = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> usize;

/// The function of that name behind this library, found at its first call.
pub(crate) struct Behind {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Behind {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicUsize::new(0),
        }
    }

    pub(crate) fn call(&self, a: Arguments) -> usize {
        let mut address = self.address.load(Ordering::Relaxed);
        if address == 0 {
            // SAFETY: a terminated name.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
            if address == 0 {
                // Whoever calls it was linked with it.
                std::process::abort();
            }
            self.address.store(address, Ordering::Relaxed);
        }
        // SAFETY: the function of that name, with the arguments that it was called with.
        unsafe {
            let function: Function = std::mem::transmute(address);
            function(
                a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
            )
        }
    }
}

thread_local! {
    /// In a server's call of libssl, outside a function of a phase.
    static IN_LIBSSL: Cell<bool> = const { Cell::new(false) };
    /// Time of other phases in this call of libssl.
    static INNER: Cell<u64> = const { Cell::new(0) };
}

/// A call of libssl for a connection.
pub(crate) fn in_connection(behind: &Behind, arguments: Arguments) -> usize {
    let (Some(sheet), false) = (SHEET.get(), IN_LIBSSL.get()) else {
        return behind.call(arguments);
    };
    INNER.set(0);
    IN_LIBSSL.set(true);
    let before = ticks();
    let answer = behind.call(arguments);
    let elapsed = ticks().wrapping_sub(before);
    IN_LIBSSL.set(false);
    sheet.add(Phase::Libssl, elapsed.saturating_sub(INNER.get()), 1);
    answer
}

/// A call of libssl that makes a connection, of a server if `is_server` says so.
pub(crate) fn making(
    behind: &Behind,
    arguments: Arguments,
    is_server: impl FnOnce(usize) -> bool,
) -> usize {
    let before = ticks();
    let answer = behind.call(arguments);
    let elapsed = ticks().wrapping_sub(before);
    if let (Some(sheet), true) = (SHEET.get(), is_server(answer)) {
        sheet.add(Phase::Libssl, elapsed, 1);
    }
    answer
}

/// A call by libssl that belongs to a phase.
pub(crate) fn in_phase(phase: Phase, behind: &Behind, arguments: Arguments) -> usize {
    if !IN_LIBSSL.get() {
        return behind.call(arguments);
    }
    // What a phase calls is its own.
    IN_LIBSSL.set(false);
    let before = ticks();
    let answer = behind.call(arguments);
    let elapsed = ticks().wrapping_sub(before);
    IN_LIBSSL.set(true);
    INNER.set(INNER.get() + elapsed);
    if let Some(sheet) = SHEET.get() {
        sheet.add(phase, elapsed, 1);
    }
    answer
}

/// Exports functions that pass each call to `$by`, with what is behind them.
macro_rules! stand_in {
    ($($by:expr => $($name:ident)+;)+) => { $($(
        #[allow(non_snake_case, reason = "OpenSSL's names")]
        mod $name {
            use super::*;
            use $crate::call::Behind;

            static BEHIND: Behind = Behind::new(
                match ::std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name"),
                },
            );

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                a: usize, b: usize, c: usize, d: usize, e: usize, f: usize,
                g: usize, h: usize, i: usize, j: usize, k: usize, l: usize,
            ) -> usize {
                let by: fn(&Behind, $crate::call::Arguments) -> usize = $by;
                by(&BEHIND, [a, b, c, d, e, f, g, h, i, j, k, l])
            }
        }
    )+)+ };
}
pub(crate) use stand_in;
