//! `OSSL_PARAM` arrays: made for a call, and told from one.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use crate::library::text;
use crate::transcript::{Arg, Transcript};

/// `OSSL_PARAM`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Param {
    pub(crate) key: *const c_char,
    pub(crate) kind: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) size: usize,
    pub(crate) returned: usize,
}

pub(crate) const INTEGER: c_uint = 1;
pub(crate) const UNSIGNED: c_uint = 2;
pub(crate) const TEXT: c_uint = 4;
pub(crate) const OCTETS: c_uint = 5;
const UNMODIFIED: usize = usize::MAX;

const END: Param = Param {
    key: ptr::null(),
    kind: 0,
    data: ptr::null_mut(),
    size: 0,
    returned: 0,
};

/// An array with all that it points at.
pub(crate) struct Params {
    array: Vec<Param>,
    _names: Vec<CString>,
    _values: Vec<Vec<u8>>,
}

impl Params {
    pub(crate) fn new() -> Self {
        Self {
            array: vec![END],
            _names: Vec::new(),
            _values: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, name: &str, kind: c_uint, mut value: Vec<u8>) -> Self {
        let name = CString::new(name).unwrap_or_default();
        let last = self.array.len() - 1;
        self.array.insert(
            last,
            Param {
                key: name.as_ptr(),
                kind,
                data: value.as_mut_ptr().cast(),
                // A text has its end, which does not count.
                size: value.len() - usize::from(kind == TEXT),
                returned: UNMODIFIED,
            },
        );
        self._names.push(name);
        self._values.push(value);
        self
    }

    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        let value = CString::new(value).unwrap_or_default();
        self.with(name, TEXT, value.into_bytes_with_nul())
    }

    pub(crate) fn octets(self, name: &str, value: &[u8]) -> Self {
        let mut value = value.to_vec();
        // So that the data of an empty one can be pointed at.
        value.reserve(1);
        self.with(name, OCTETS, value)
    }

    pub(crate) fn int(self, name: &str, value: c_int) -> Self {
        self.with(name, INTEGER, value.to_ne_bytes().to_vec())
    }

    pub(crate) fn uint(self, name: &str, value: c_uint) -> Self {
        self.with(name, UNSIGNED, value.to_ne_bytes().to_vec())
    }

    pub(crate) fn size(self, name: &str, value: usize) -> Self {
        self.with(name, UNSIGNED, value.to_ne_bytes().to_vec())
    }

    /// One of another array.
    pub(crate) fn copy(self, name: &str, param: &Param) -> Self {
        // SAFETY: a parameter of that array, whose data has so many bytes.
        let mut value =
            unsafe { std::slice::from_raw_parts(param.data.cast::<u8>(), param.size) }.to_vec();
        if param.kind == TEXT {
            value.push(0);
        }
        self.with(name, param.kind, value)
    }

    /// What is in it.
    pub(crate) fn shown(&self) -> String {
        // SAFETY: our own array, which is whole.
        unsafe { values(self.array.as_ptr(), false) }
    }

    pub(crate) fn arg(&self) -> Arg<'static> {
        Arg::Place(self.array.as_ptr().cast())
    }

    /// A parameter as it was answered.
    pub(crate) fn answer(&self, index: usize) -> String {
        let param = &self.array[index];
        if param.returned == UNMODIFIED {
            return "untouched".into();
        }
        format!(
            "{} bytes {}",
            param.returned,
            self.value(index)
                .map_or("?".into(), |value| tell(param.kind, &value))
        )
    }

    /// The value that was answered.
    pub(crate) fn value(&self, index: usize) -> Option<Vec<u8>> {
        let param = &self.array[index];
        if param.returned == UNMODIFIED || param.returned > param.size {
            return None;
        }
        // SAFETY: our own place of at least so many bytes.
        Some(
            unsafe { std::slice::from_raw_parts(param.data.cast::<u8>(), param.returned) }.to_vec(),
        )
    }
}

/// The parameters of an array that OpenSSL keeps, by name.
///
/// # Safety
/// Null or a whole array.
pub(crate) unsafe fn elements(mut array: *const Param) -> Vec<(String, Param)> {
    let mut list = Vec::new();
    if array.is_null() {
        return list;
    }
    // SAFETY: the caller's promise: the array ends with a null name.
    while let (param, Some(name)) = unsafe { (*array, text((*array).key)) } {
        list.push((name, param));
        // SAFETY: not at its end yet.
        array = unsafe { array.add(1) };
    }
    list.sort_by(|one, other| one.0.cmp(&other.0));
    list
}

/// What a list of descriptors says: names and types, sorted.
///
/// # Safety
/// Null or a whole array.
pub(crate) unsafe fn descriptors(array: *const Param) -> String {
    if array.is_null() {
        return "NULL".into();
    }
    // SAFETY: the caller's promise.
    let list = unsafe { elements(array) };
    let list: Vec<_> = list
        .iter()
        .map(|(name, param)| format!("{name}:{}/{}", param.kind, param.size))
        .collect();
    list.join(" ")
}

/// What an array with values says; only their sizes where they are random.
///
/// # Safety
/// Null or a whole array.
pub(crate) unsafe fn values(array: *const Param, random: bool) -> String {
    if array.is_null() {
        return "NULL".into();
    }
    // SAFETY: the caller's promise.
    let list = unsafe { elements(array) };
    let list: Vec<_> = list
        .iter()
        .map(|(name, param)| {
            if random && matches!(param.kind, UNSIGNED | OCTETS) && param.size > 8 {
                return format!("{name}:{}/random", param.kind);
            }
            if param.data.is_null() {
                return format!("{name}:{}/null", param.kind);
            }
            // SAFETY: a parameter's data has so many bytes.
            let value = unsafe { std::slice::from_raw_parts(param.data.cast::<u8>(), param.size) };
            format!("{name}:{}={}", param.kind, tell(param.kind, value))
        })
        .collect();
    list.join(" ")
}

fn tell(kind: c_uint, value: &[u8]) -> String {
    match kind {
        INTEGER | UNSIGNED => {
            let number: Vec<u8> = value
                .iter()
                .rev()
                .copied()
                .skip_while(|&byte| byte == 0)
                .collect();
            hex(&number)
        }
        TEXT | 6 => format!(
            "{:?}",
            String::from_utf8_lossy(value).trim_end_matches('\0')
        ),
        _ => hex(value),
    }
}

/// Bytes in a line: all of a few, else their number and a checksum.
pub(crate) fn hex(bytes: &[u8]) -> String {
    if bytes.len() <= 40 {
        return bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    // FNV-1a: to be compared, not to be relied on.
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{}#{sum:016x}", bytes.len())
}

/// Asks `get` (such as `EVP_PKEY_get_params`) for one parameter of that name and type, and writes down the answer.
pub(crate) fn ask(
    t: &Transcript,
    get: &'static str,
    object: Arg<'_>,
    name: &CStr,
    kind: c_uint,
    random: bool,
) -> Option<Vec<u8>> {
    let name = name.to_string_lossy();
    let room = match kind {
        INTEGER => 8,
        _ => 1025,
    };
    let params = Params::new().with(&name, kind, vec![0; room]);
    let answer = t.quietly(get, &[object, params.arg()]) as i32;
    let errors = t.errors();
    let value = if random
        && answer > 0
        && !matches!(kind, INTEGER | TEXT)
        && params.value(0).is_some_and(|value| value.len() > 8)
    {
        "random".to_owned()
    } else {
        params.answer(0)
    };
    t.say(&format!("{get}({name}:{kind}) -> {answer} {value}{errors}"));
    params.value(0).filter(|_| answer > 0)
}
