//! Parameters that we pass out or keep.

use std::ffi::{CStr, CString, c_uint};
use std::ptr;

use zeroize::Zeroizing;

use super::{END, Params};
use crate::raw::{self, Param};

/// A list of parameters that owns what it holds; wiped when dropped.
#[derive(Clone, Default)]
pub struct ParamList {
    entries: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    key: CString,
    data_type: c_uint,
    data: Zeroizing<Vec<u8>>,
    length: usize,
}

impl ParamList {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a text.
    pub fn text(self, key: &CStr, value: &str) -> Self {
        self.with(key, raw::PARAM_UTF8_STRING, value.as_bytes())
    }

    /// Adds bytes.
    pub fn octets(self, key: &CStr, value: &[u8]) -> Self {
        self.with(key, raw::PARAM_OCTET_STRING, value)
    }

    /// Adds a number given most significant byte first.
    pub fn big_endian(mut self, key: &CStr, value: &[u8]) -> Self {
        let mut little: Zeroizing<Vec<u8>> = Zeroizing::new(value.to_vec());
        little.reverse();
        if little.is_empty() {
            little.push(0);
        }
        let entry = Entry::new(key.to_owned(), raw::PARAM_UNSIGNED_INTEGER, &little);
        self.entries.push(entry);
        self
    }

    /// Adds copies of those parameters; one that is there already is replaced where it stands, since
    /// OpenSSL reads them in order. Pointers are copied by value.
    pub fn record(&mut self, params: Params<'_>) {
        for param in params {
            if let (Some((data_type, bytes)), Ok(key)) = (param.copied(), CString::new(param.key()))
            {
                let entry = Entry::new(key, data_type, bytes);
                match self.entries.iter_mut().find(|known| known.key == entry.key) {
                    Some(known) => *known = entry,
                    None => self.entries.push(entry),
                }
            }
        }
    }

    /// Adds a value of that type, behind one of the same name if there is one.
    pub fn value(self, key: &CStr, data_type: c_uint, value: &[u8]) -> Self {
        self.with(key, data_type, value)
    }

    /// A copy without the parameters of those names.
    pub fn without(&self, unwanted: impl Fn(&CStr) -> bool) -> Self {
        let wanted = self.entries.iter().filter(|entry| !unwanted(&entry.key));
        Self {
            entries: wanted.cloned().collect(),
        }
    }

    /// Calls `body` with the list as C wants it.
    pub fn with_array<R>(&self, body: impl FnOnce(*const Param) -> R) -> R {
        let mut array: Vec<Param> = self
            .entries
            .iter()
            .map(|entry| Param {
                key: entry.key.as_ptr(),
                data_type: entry.data_type,
                data: ptr::from_ref(entry.data.as_slice())
                    .cast::<u8>()
                    .cast_mut()
                    .cast(),
                data_size: entry.length,
                return_size: raw::PARAM_UNMODIFIED,
            })
            .collect();
        array.push(END);
        body(array.as_ptr())
    }

    fn with(mut self, key: &CStr, data_type: c_uint, value: &[u8]) -> Self {
        self.entries
            .push(Entry::new(key.to_owned(), data_type, value));
        self
    }
}

impl Entry {
    /// Texts keep a NUL behind their length, which C code may rely on.
    fn new(key: CString, data_type: c_uint, value: &[u8]) -> Self {
        let mut data = Zeroizing::new(Vec::with_capacity(value.len() + 1));
        data.extend_from_slice(value);
        data.push(0);
        Self {
            key,
            data_type,
            data,
            length: value.len(),
        }
    }
}
