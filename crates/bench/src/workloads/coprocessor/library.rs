//! The C library of CCA verbs, as a program that loads it calls it.

use std::ffi::{CString, c_long, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use crate::Failure;

/// The library, loaded. It stays until the process ends.
#[derive(Clone, Copy)]
pub(super) struct Library(*mut c_void);

// SAFETY: a handle of dlopen, which any thread may use.
unsafe impl Send for Library {}
// SAFETY: likewise.
unsafe impl Sync for Library {}

/// A parameter of a verb: what it leads to stays where it is during the call.
pub(super) enum Parameter<'a> {
    Null,
    In(&'a [u8]),
    Out(&'a mut [u8]),
    Number(c_long),
    /// A length that goes in and out.
    Length(&'a mut c_long),
}

/// A verb of the library.
#[derive(Clone, Copy)]
pub(super) struct Verb(*mut c_void);

// SAFETY: the address of a function, which any thread may call.
unsafe impl Send for Verb {}
// SAFETY: likewise.
unsafe impl Sync for Verb {}

impl Library {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a string that ends; the library's initialisation does nothing.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        match handle.is_null() {
            true => Err(format!("cannot load {}", path.display()).into()),
            false => Ok(Self(handle)),
        }
    }

    pub(super) fn verb(&self, name: &str) -> Result<Verb, Failure> {
        let symbol = CString::new(name)?;
        // SAFETY: a handle that was opened, and a string that ends.
        let function = unsafe { libc::dlsym(self.0, symbol.as_ptr()) };
        match function.is_null() {
            true => Err(format!("the library has no {name}").into()),
            false => Ok(Verb(function)),
        }
    }
}

impl Verb {
    /// Calls it with these parameters: as many as it has, each with as much memory as it says. The codes.
    pub(super) fn call<const N: usize>(
        self,
        mut parameters: [Parameter<'_>; N],
    ) -> (c_long, c_long) {
        let (mut code, mut reason) = (-1, -1);
        let mut pointers = [ptr::null_mut::<c_void>(); 32];
        for (pointer, parameter) in pointers.iter_mut().zip(&mut parameters) {
            *pointer = match parameter {
                Parameter::Null => ptr::null_mut(),
                Parameter::In(bytes) => bytes.as_ptr().cast_mut().cast(),
                Parameter::Out(bytes) => bytes.as_mut_ptr().cast(),
                Parameter::Number(number) => ptr::from_mut(number).cast(),
                Parameter::Length(length) => ptr::from_mut(*length).cast(),
            };
        }
        type One = *mut c_void;
        type Number = *mut c_long;
        macro_rules! with {
            ($($place:literal $type:ident),*) => {{
                // SAFETY: the function has that many parameters, all pointers, as its header says.
                let function: unsafe extern "C" fn(Number, Number, One, One $(, $type)*) =
                    unsafe { std::mem::transmute(self.0) };
                let null = ptr::null_mut();
                // SAFETY: each leads to as much memory as the caller says.
                unsafe { function(&raw mut code, &raw mut reason, null, null $(, pointers[$place])*) };
            }};
        }
        match N {
            4 => with!(0 One, 1 One, 2 One, 3 One),
            5 => with!(0 One, 1 One, 2 One, 3 One, 4 One),
            7 => with!(0 One, 1 One, 2 One, 3 One, 4 One, 5 One, 6 One),
            8 => with!(0 One, 1 One, 2 One, 3 One, 4 One, 5 One, 6 One, 7 One),
            9 => with!(0 One, 1 One, 2 One, 3 One, 4 One, 5 One, 6 One, 7 One, 8 One),
            10 => with!(0 One, 1 One, 2 One, 3 One, 4 One, 5 One, 6 One, 7 One, 8 One, 9 One),
            11 => {
                with!(0 One, 1 One, 2 One, 3 One, 4 One, 5 One, 6 One, 7 One, 8 One, 9 One, 10 One)
            }
            13 => with!(
                0 One, 1 One, 2 One, 3 One, 4 One, 5 One, 6 One, 7 One, 8 One, 9 One, 10 One, 11 One, 12 One
            ),
            17 => with!(
                0 One, 1 One, 2 One, 3 One, 4 One, 5 One, 6 One, 7 One, 8 One, 9 One, 10 One, 11 One, 12 One,
                13 One, 14 One, 15 One, 16 One
            ),
            18 => with!(
                0 One, 1 One, 2 One, 3 One, 4 One, 5 One, 6 One, 7 One, 8 One, 9 One, 10 One, 11 One, 12 One,
                13 One, 14 One, 15 One, 16 One, 17 One
            ),
            _ => return (-2, N as c_long),
        }
        (code, reason)
    }
}
