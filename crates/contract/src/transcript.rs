//! The transcript: a line for each call, with what it answered and what it left in the error queue.

use std::cell::{OnceCell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::ptr;

use crate::library::{Library, text};

/// An object of OpenSSL's. A call that is to have one, and has none since an earlier call failed, is passed over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Object(pub(crate) *mut c_void);

impl Object {
    pub(crate) const NONE: Self = Self(ptr::null_mut());

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// An argument of a call.
#[derive(Clone, Copy)]
pub(crate) enum Arg<'a> {
    Int(i64),
    Size(usize),
    Text(&'a CStr),
    Object(Object),
    /// A place in memory, or null.
    Place(*const c_void),
}

/// A null pointer that is meant.
pub(crate) const NULL: Arg<'static> = Arg::Place(ptr::null());

macro_rules! integers {
    ($($type:ty)*) => { $(
        impl From<$type> for Arg<'_> {
            fn from(value: $type) -> Self {
                Self::Int(value as i64)
            }
        }
    )* };
}

integers!(i32 u32 i64);

/// A size, which may be that of something random, and is not written down.
impl From<usize> for Arg<'_> {
    fn from(size: usize) -> Self {
        Self::Size(size)
    }
}

impl<'a> From<&'a CStr> for Arg<'a> {
    fn from(text: &'a CStr) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<Option<&'a CStr>> for Arg<'a> {
    fn from(text: Option<&'a CStr>) -> Self {
        text.map_or(NULL, Self::Text)
    }
}

impl From<Object> for Arg<'_> {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T> From<*const T> for Arg<'_> {
    fn from(place: *const T) -> Self {
        Self::Place(place.cast())
    }
}

impl<T> From<*mut T> for Arg<'_> {
    fn from(place: *mut T) -> Self {
        Self::Place(place.cast())
    }
}

impl From<&[u8]> for Arg<'_> {
    fn from(bytes: &[u8]) -> Self {
        Self::Place(bytes.as_ptr().cast())
    }
}

impl From<&Vec<u8>> for Arg<'_> {
    fn from(bytes: &Vec<u8>) -> Self {
        Self::Place(bytes.as_ptr().cast())
    }
}

impl From<&mut Vec<u8>> for Arg<'_> {
    fn from(bytes: &mut Vec<u8>) -> Self {
        Self::Place(bytes.as_mut_ptr().cast())
    }
}

impl<const N: usize> From<&mut [u8; N]> for Arg<'_> {
    fn from(bytes: &mut [u8; N]) -> Self {
        Self::Place(bytes.as_mut_ptr().cast())
    }
}

impl<const N: usize> From<&[u8; N]> for Arg<'_> {
    fn from(bytes: &[u8; N]) -> Self {
        Self::Place(bytes.as_ptr().cast())
    }
}

impl From<&mut usize> for Arg<'_> {
    fn from(place: &mut usize) -> Self {
        Self::Place(ptr::from_mut(place).cast())
    }
}

impl From<&mut c_int> for Arg<'_> {
    fn from(place: &mut c_int) -> Self {
        Self::Place(ptr::from_mut(place).cast())
    }
}

impl From<&mut Object> for Arg<'_> {
    fn from(place: &mut Object) -> Self {
        Self::Place(ptr::from_mut(place).cast())
    }
}

/// In place of the answer of a call that was not made.
pub(crate) const PASSED_OVER: i32 = -99;

/// Makes calls and writes them down.
pub(crate) struct Transcript {
    library: Library,
    scene: RefCell<String>,
    plain: OnceCell<Object>,
    /// The lines, where they are kept and not written to the process's output.
    kept: Option<RefCell<Vec<String>>>,
}

impl Transcript {
    pub(crate) fn new(library: Library) -> Self {
        Self {
            library,
            scene: RefCell::default(),
            plain: OnceCell::new(),
            kept: None,
        }
    }

    /// One that keeps its lines in memory.
    pub(crate) fn keeping(library: Library) -> Self {
        Self {
            kept: Some(RefCell::default()),
            ..Self::new(library)
        }
    }

    /// The lines that were kept since it was last asked.
    pub(crate) fn take(&self) -> Vec<String> {
        self.kept.as_ref().map(RefCell::take).unwrap_or_default()
    }

    pub(crate) fn address(&self, name: &str) -> *mut c_void {
        self.library.address(name)
    }

    /// Begins a scene: lines are compared scene by scene, so that one more in one does not shift the others.
    pub(crate) fn scene(&self, name: impl Into<String>) {
        self.clear();
        *self.scene.borrow_mut() = name.into();
    }

    /// Writes a line, at once: the process may be about to die.
    pub(crate) fn say(&self, what: &str) {
        let mut line = format!("{}: {what}", self.scene.borrow());
        if let Some(kept) = &self.kept {
            return kept.borrow_mut().push(line);
        }
        line.push('\n');
        // SAFETY: so many bytes are there.
        unsafe { libc::write(1, line.as_ptr().cast(), line.len()) };
    }

    /// A call that answers an `int`; [`PASSED_OVER`] where it was passed over or does not exist.
    pub(crate) fn int(&self, name: &'static str, arguments: &[Arg<'_>]) -> i32 {
        self.line(name, arguments, |answer| (answer as i32).to_string())
            .map_or(PASSED_OVER, |answer| answer as i32)
    }

    /// A call that answers an object.
    pub(crate) fn object(&self, name: &'static str, arguments: &[Arg<'_>]) -> Object {
        let answer = self.line(name, arguments, |answer| {
            if answer == 0 { "NULL" } else { "object" }.to_owned()
        });
        Object(answer.unwrap_or(0) as *mut c_void)
    }

    /// A call that answers a text that OpenSSL keeps.
    pub(crate) fn text(&self, name: &'static str, arguments: &[Arg<'_>]) -> Option<String> {
        let answer = self.line(name, arguments, |answer| {
            // SAFETY: the function answers null or a text.
            let text = unsafe { text(answer as *const c_char) };
            text.map_or("NULL".to_owned(), |text| format!("{text:?}"))
        });
        // SAFETY: as above.
        unsafe { text(answer.unwrap_or(0) as *const c_char) }
    }

    /// A call that is not written down: what prepares a scene, and cleans up behind it.
    pub(crate) fn quietly(&self, name: &'static str, arguments: &[Arg<'_>]) -> usize {
        words(arguments)
            .and_then(|words| self.library.call(name, &words))
            .unwrap_or(0)
    }

    /// As [`Transcript::quietly`], of a function that answers an `int`.
    pub(crate) fn quiet_int(&self, name: &'static str, arguments: &[Arg<'_>]) -> i32 {
        let answer = words(arguments).and_then(|words| self.library.call(name, &words));
        answer.map_or(PASSED_OVER, |answer| answer as i32)
    }

    /// As [`Transcript::quietly`], of a function that answers a text.
    pub(crate) fn text_quietly(&self, name: &'static str, arguments: &[Arg<'_>]) -> Option<String> {
        // SAFETY: the function answers null or a text.
        unsafe { text(self.quietly(name, arguments) as *const c_char) }
    }

    /// A library context with OpenSSL's own provider alone: what a program without Outboard says.
    pub(crate) fn plain(&self) -> Object {
        let make = || Object(self.quietly("OSSL_LIB_CTX_new", &[]) as *mut c_void);
        *self.plain.get_or_init(make)
    }

    /// Empties the error queue.
    pub(crate) fn clear(&self) {
        self.library.call("ERR_clear_error", &[]);
    }

    /// What the error queue holds, oldest first, and empties it: library, reason, data.
    pub(crate) fn errors(&self) -> String {
        let mut told = String::new();
        loop {
            let (mut data, mut flags) = (ptr::null::<c_char>(), 0_i32);
            let code = self.quietly(
                "ERR_get_error_all",
                &[
                    NULL,
                    NULL,
                    NULL,
                    Arg::from(&raw mut data),
                    Arg::from(&raw mut flags),
                ],
            );
            if code == 0 {
                return told;
            }
            // SAFETY: texts that OpenSSL keeps, or null.
            let (library, reason, data) = unsafe {
                (
                    text(self.quietly("ERR_lib_error_string", &[code.into()]) as *const c_char),
                    text(self.quietly("ERR_reason_error_string", &[code.into()]) as *const c_char),
                    // ERR_TXT_STRING
                    if flags & 2 == 0 { None } else { text(data) },
                )
            };
            let reason = reason.unwrap_or_else(|| format!("reason({})", code & 0x7f_ffff));
            let _ = write!(told, " [{}; {reason}", library.unwrap_or("?".into()));
            if let Some(data) = data.filter(|data| !data.is_empty()) {
                let _ = write!(told, "; {}", data.replace('\n', " "));
            }
            told.push(']');
        }
    }

    fn line(
        &self,
        name: &'static str,
        arguments: &[Arg<'_>],
        describe: impl Fn(usize) -> String,
    ) -> Option<usize> {
        let mut told = format!(
            "{name}({})",
            arguments.iter().map(shown).collect::<Vec<_>>().join(", ")
        );
        let Some(words) = words(arguments) else {
            self.say(&format!("{told} -> passed over"));
            return None;
        };
        let answer = self.library.call(name, &words);
        match answer {
            Some(answer) => {
                let _ = write!(told, " -> {}", describe(answer));
            }
            None => told.push_str(" -> absent"),
        }
        told.push_str(&self.errors());
        self.say(&told);
        answer
    }
}

fn words(arguments: &[Arg<'_>]) -> Option<Vec<usize>> {
    arguments
        .iter()
        .map(|argument| match *argument {
            Arg::Int(value) => Some(value as usize),
            Arg::Size(value) => Some(value),
            Arg::Text(text) => Some(text.as_ptr() as usize),
            Arg::Object(object) => (!object.is_null()).then_some(object.0 as usize),
            Arg::Place(place) => Some(place as usize),
        })
        .collect()
}

fn shown(argument: &Arg<'_>) -> String {
    match argument {
        Arg::Int(value) => value.to_string(),
        Arg::Size(_) => "#".into(),
        Arg::Text(text) => format!("{:?}", text.to_string_lossy()),
        Arg::Object(_) => "*".into(),
        Arg::Place(place) if place.is_null() => "NULL".into(),
        Arg::Place(_) => "&".into(),
    }
}

/// A call that answers an `int`: `int!(t, EVP_PKEY_sign_init(context))`.
macro_rules! int {
    ($t:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $t.int(stringify!($name), &[$($crate::transcript::Arg::from($argument)),*])
    };
}

/// A call that answers an object.
macro_rules! object {
    ($t:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $t.object(stringify!($name), &[$($crate::transcript::Arg::from($argument)),*])
    };
}

/// A call that is not written down.
macro_rules! quietly {
    ($t:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $t.quietly(stringify!($name), &[$($crate::transcript::Arg::from($argument)),*])
    };
}

pub(crate) use {int, object, quietly};
