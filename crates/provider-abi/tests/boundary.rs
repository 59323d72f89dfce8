//! No panic passes into C, and every error reaches the error queue with its reason.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use outboard_provider_abi::cipher::Piece;
use outboard_provider_abi::params::END;
use outboard_provider_abi::raw::{self, Algorithm, CoreHandle, Dispatch, Param};
use outboard_provider_abi::{
    Cipher, Core, Direction, Error, Kind, Params, ParamsMut, Provider, Reason, Result, cipher, init,
};

thread_local! {
    /// What reached the queue: reason and text.
    static QUEUE: RefCell<Vec<(u32, String)>> = const { RefCell::new(Vec::new()) };
    /// How the provider shall behave.
    static BEHAVIOUR: RefCell<&'static str> = const { RefCell::new("well") };
}

unsafe extern "C" fn new_error(_handle: *const CoreHandle) {}

unsafe extern "C" fn vset_error(
    _handle: *const CoreHandle,
    reason: u32,
    format: *const c_char,
    _arguments: *mut c_void,
) {
    let text = if format.is_null() {
        String::new()
    } else {
        // SAFETY: a format is NUL-terminated.
        unsafe { CStr::from_ptr(format) }
            .to_string_lossy()
            .into_owned()
    };
    QUEUE.with_borrow_mut(|queue| queue.push((reason, text)));
}

fn core() -> Vec<Dispatch> {
    let entry = |function_id, function: *const ()| Dispatch {
        function_id,
        // SAFETY: a function pointer stays one; the provider casts it back by its id.
        function: Some(unsafe {
            std::mem::transmute::<*const (), unsafe extern "C" fn()>(function)
        }),
    };
    vec![
        entry(raw::core::NEW_ERROR, new_error as *const ()),
        entry(raw::core::VSET_ERROR, vset_error as *const ()),
        Dispatch::END,
    ]
}

fn queue() -> Vec<(u32, String)> {
    QUEUE.take()
}

fn behave(how: &'static str) {
    BEHAVIOUR.set(how);
}

fn act() -> Result<()> {
    match BEHAVIOUR.with_borrow(|how| *how) {
        "panic" => panic!("must not pass"),
        "fail" => Err(Error::new(Reason::InvalidIv, "100 % wrong")),
        "fail silently" => Err(Error::silent()),
        _ => Ok(()),
    }
}

struct Odd;

impl Provider for Odd {
    const NAME: &'static CStr = c"Odd";
    const VERSION: &'static CStr = c"1";

    fn new(_core: Core) -> Result<Self> {
        act().map(|()| Self)
    }

    fn algorithms(&self, _kind: Kind) -> &[Algorithm] {
        &[Algorithm::END]
    }

    fn capabilities(&self, _: &CStr, _: &mut dyn FnMut(*const Param) -> bool) -> Result<()> {
        act()
    }
}

struct OddCipher;

impl Cipher for OddCipher {
    type Provider = Odd;

    fn new(_provider: &Odd) -> Result<Self> {
        act().map(|()| Self)
    }
    fn duplicate(&self) -> Result<Self> {
        act().map(|()| Self)
    }
    fn init(&mut self, _: Direction, _: Option<&[u8]>, _: Option<&[u8]>) -> Result<()> {
        act()
    }
    fn process(&mut self, input: Piece<'_>) -> Result<usize> {
        act().map(|()| match input {
            Piece::Associated(data) => data.len(),
            Piece::Text(data) => data.len(),
            Piece::End => 0,
        })
    }
    fn set(&mut self, _: Params<'_>) -> Result<()> {
        act()
    }
    fn get(&mut self, _: ParamsMut<'_>) -> Result<()> {
        act()
    }
    fn gettable(_: &Odd) -> &'static [Param] {
        &[END]
    }
    fn settable(_: &Odd) -> &'static [Param] {
        &[END]
    }
    fn describable(_: &Odd) -> &'static [Param] {
        &[END]
    }
    fn describe(_: ParamsMut<'_>, _: bool) -> Result<()> {
        act()
    }
}

type Update =
    unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;

fn function(table: &[Dispatch], id: c_int) -> unsafe extern "C" fn() {
    let entry = table.iter().find(|entry| entry.function_id == id);
    entry
        .and_then(|entry| entry.function)
        .expect("the table has it")
}

/// A provider's context.
fn load() -> (c_int, *mut c_void) {
    let (core, mut table, mut context) = (core(), ptr::null(), ptr::null_mut());
    // SAFETY: what libcrypto would pass.
    let answer =
        unsafe { init::<Odd>(ptr::null(), core.as_ptr(), &raw mut table, &raw mut context) };
    (answer, context)
}

#[test]
fn a_provider_that_panics_is_not_loaded() {
    for (how, expected) in [
        ("well", vec![]),
        (
            "panic",
            vec![(
                Reason::Internal as u32,
                "a panic was stopped at the boundary",
            )],
        ),
        ("fail", vec![(Reason::InvalidIv as u32, "100 %% wrong")]),
        ("fail silently", vec![]),
    ] {
        behave(how);
        let (answer, _) = load();
        assert_eq!(answer, c_int::from(how == "well"), "{how}");
        let told = queue();
        let told: Vec<_> = told
            .iter()
            .map(|(reason, text)| (*reason, text.as_str()))
            .collect();
        assert_eq!(told, expected, "{how}");
    }
}

#[test]
fn a_cipher_that_panics_fails() {
    behave("well");
    let (_, provider) = load();
    let table = table();
    // SAFETY: the functions have the types of their ids, and get what libcrypto would pass.
    unsafe {
        let new: unsafe extern "C" fn(*mut c_void) -> *mut c_void =
            std::mem::transmute(function(table, raw::cipher::NEWCTX));
        let update: Update = std::mem::transmute(function(table, raw::cipher::UPDATE));
        let duplicate: unsafe extern "C" fn(*mut c_void) -> *mut c_void =
            std::mem::transmute(function(table, raw::cipher::DUPCTX));
        let context = new(provider);
        assert!(!context.is_null());
        let (mut data, mut length) = ([1, 2, 3], 0);
        // Where an update fails, stock tells what failed within it as well.
        for (how, told) in [("panic", 3), ("fail", 4)] {
            behave(how);
            let buffer = data.as_mut_ptr();
            assert_eq!(update(context, buffer, &raw mut length, 3, buffer, 3), 0);
            assert!(duplicate(context).is_null());
            assert!(new(provider).is_null());
            assert_eq!(queue().len(), told, "{how}");
        }
        behave("well");
        let buffer = data.as_mut_ptr();
        assert_eq!(update(context, buffer, &raw mut length, 3, buffer, 3), 1);
        assert_eq!(length, 3);
        assert_eq!(queue(), []);
    }
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    behave("well");
    let (_, provider) = load();
    let table = table();
    // SAFETY: as above; no buffer is touched that is not there.
    unsafe {
        let new: unsafe extern "C" fn(*mut c_void) -> *mut c_void =
            std::mem::transmute(function(table, raw::cipher::NEWCTX));
        let update: Update = std::mem::transmute(function(table, raw::cipher::UPDATE));
        let context = new(provider);
        let (mut data, mut length) = ([0; 32], 0);
        let start = data.as_mut_ptr();
        let input = start.cast_const();
        assert_eq!(update(context, start, &raw mut length, 15, input, 16), 0);
        assert_eq!(queue()[0].0, Reason::BufferTooSmall as u32);
        // Apart, in place, and nothing at all.
        let apart = start.add(16);
        assert_eq!(update(context, apart, &raw mut length, 16, start, 16), 1);
        assert_eq!(update(context, start, &raw mut length, 32, start, 32), 1);
        assert_eq!(
            update(context, start, &raw mut length, 0, ptr::null(), 0),
            1
        );
        assert_eq!(length, 0);
    }
}

fn table() -> &'static [Dispatch] {
    cipher::table::<OddCipher, false>()
}
