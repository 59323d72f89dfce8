//! Parameters that go into OpenSSL: names with owned values.

use std::ffi::{CStr, c_uint};

use zeroize::Zeroizing;

use crate::sys::{self, OSSL_PARAM};

/// An array of OpenSSL parameters (OSSL_PARAM(3)) that owns its values and wipes them when dropped.
///
/// ```
/// # use outboard_libcrypto::Params;
/// let params = Params::new().text(c"group", "P-384").unsigned(c"use-cofactor-flag", 0);
/// ```
pub struct Params {
    /// Ends with [`OSSL_PARAM::END`]; each `data` points into `values`.
    array: Vec<OSSL_PARAM>,
    values: Vec<Zeroizing<Box<[u8]>>>,
}

// SAFETY: the pointers lead to memory that the structure owns and that no one else changes.
unsafe impl Send for Params {}
// SAFETY: as above; a shared reference only reads.
unsafe impl Sync for Params {}

impl Params {
    /// No parameters yet.
    pub fn new() -> Self {
        Self {
            array: vec![OSSL_PARAM::END],
            values: Vec::new(),
        }
    }

    /// Adds text. OpenSSL is told its length, and a zero byte follows it in memory.
    pub fn text(self, name: &'static CStr, value: &str) -> Self {
        let mut bytes = Vec::with_capacity(value.len() + 1);
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
        self.push(name, sys::OSSL_PARAM_UTF8_STRING, bytes, value.len())
    }

    /// Adds bytes.
    pub fn bytes(self, name: &'static CStr, value: &[u8]) -> Self {
        // One byte more, so that the address of an empty value is never null or dangling.
        let mut bytes = Vec::with_capacity(value.len() + 1);
        bytes.extend_from_slice(value);
        bytes.push(0);
        self.push(name, sys::OSSL_PARAM_OCTET_STRING, bytes, value.len())
    }

    /// Adds a signed integer of C's `int`.
    pub fn int(self, name: &'static CStr, value: i32) -> Self {
        let bytes = value.to_ne_bytes();
        self.push(name, sys::OSSL_PARAM_INTEGER, bytes.to_vec(), bytes.len())
    }

    /// Adds an unsigned integer of C's `size_t`.
    pub fn unsigned(self, name: &'static CStr, value: usize) -> Self {
        let bytes = value.to_ne_bytes();
        self.push(
            name,
            sys::OSSL_PARAM_UNSIGNED_INTEGER,
            bytes.to_vec(),
            bytes.len(),
        )
    }

    /// Adds an unsigned integer of any length, given big-endian as standards write it.
    pub fn big_endian(self, name: &'static CStr, value: &[u8]) -> Self {
        // An integer of no bytes is not one: zero is one byte.
        let mut bytes = if value.is_empty() {
            vec![0]
        } else {
            value.to_vec()
        };
        if cfg!(target_endian = "little") {
            bytes.reverse();
        }
        let size = bytes.len();
        self.push(name, sys::OSSL_PARAM_UNSIGNED_INTEGER, bytes, size)
    }

    /// The array, ended as OpenSSL asks; valid as long as `self` is neither dropped nor added to.
    pub fn as_ptr(&self) -> *const OSSL_PARAM {
        self.array.as_ptr()
    }

    /// As [`Params::as_ptr`], for the calls whose prototype lacks `const`.
    pub fn as_mut_ptr(&mut self) -> *mut OSSL_PARAM {
        self.array.as_mut_ptr()
    }

    fn push(mut self, name: &'static CStr, kind: c_uint, value: Vec<u8>, size: usize) -> Self {
        let mut value = Zeroizing::new(value.into_boxed_slice());
        let param = OSSL_PARAM {
            key: name.as_ptr(),
            data_type: kind,
            data: value.as_mut_ptr().cast(),
            data_size: size,
            return_size: sys::OSSL_PARAM_UNMODIFIED,
        };
        // Before the end marker, which is always there.
        self.array.insert(self.array.len() - 1, param);
        self.values.push(value);
        self
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_end_and_values_stay_put() {
        let params = Params::new()
            .text(c"group", "P-384")
            .big_endian(c"n", &[1, 2, 3])
            .bytes(c"empty", &[]);
        // SAFETY: three parameters and the end.
        let array = unsafe { std::slice::from_raw_parts(params.as_ptr(), 4) };
        assert_eq!(array[0].data_size, 5);
        // SAFETY: `n` has three bytes.
        let n = unsafe { std::slice::from_raw_parts(array[1].data.cast::<u8>(), 3) };
        assert_eq!(
            n,
            if cfg!(target_endian = "little") {
                [3, 2, 1]
            } else {
                [1, 2, 3]
            }
        );
        assert!(!array[2].data.is_null());
        assert!(array[3].key.is_null());
    }
}
