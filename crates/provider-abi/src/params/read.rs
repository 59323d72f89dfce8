//! Parameters that a program passes in.

use std::ffi::{CStr, c_char, c_uint};
use std::marker::PhantomData;
use std::slice;

use super::number::Number;

use zeroize::Zeroizing;

use crate::error::{Error, Reason, Result};
use crate::raw::{self, Param};

/// An array of parameters to read.
#[derive(Clone, Copy)]
pub struct Params<'a> {
    next: *const Param,
    array: PhantomData<&'a Param>,
}

impl<'a> Params<'a> {
    /// No parameters.
    pub const EMPTY: Params<'static> = Params {
        next: std::ptr::null(),
        array: PhantomData,
    };

    /// The array at `first`.
    ///
    /// # Safety
    /// `first` is null or leads to an array that ends with a null key, all of it valid for `'a`.
    pub unsafe fn new(first: *const Param) -> Self {
        Self {
            next: first,
            array: PhantomData,
        }
    }

    /// What C passed, to pass it on.
    pub fn as_ptr(&self) -> *const Param {
        self.next
    }

    /// The parameter of that name.
    pub fn find(mut self, key: &CStr) -> Option<ParamRef<'a>> {
        Iterator::find(&mut self, |param: &ParamRef<'a>| {
            param.key() == key.to_bytes()
        })
    }

    /// The parameter, where there is only one.
    pub fn only(mut self) -> Option<ParamRef<'a>> {
        let param = self.next()?;
        self.is_empty().then_some(param)
    }

    /// Whether there is none.
    pub fn is_empty(mut self) -> bool {
        self.next().is_none()
    }
}

impl<'a> Iterator for Params<'a> {
    type Item = ParamRef<'a>;

    fn next(&mut self) -> Option<ParamRef<'a>> {
        if self.next.is_null() {
            return None;
        }
        // SAFETY: valid and ended by a null key, as promised to `new`.
        let param = unsafe { &*self.next };
        if param.key.is_null() {
            return None;
        }
        // SAFETY: the array goes on at least to its end mark.
        self.next = unsafe { self.next.add(1) };
        Some(ParamRef { param })
    }
}

/// One parameter to read.
#[derive(Clone, Copy)]
pub struct ParamRef<'a> {
    param: &'a Param,
}

impl<'a> ParamRef<'a> {
    /// Its name.
    pub fn key(&self) -> &'a [u8] {
        // SAFETY: keys are NUL-terminated.
        unsafe { CStr::from_ptr(self.param.key) }.to_bytes()
    }

    /// The same, terminated.
    pub fn name(&self) -> &'a CStr {
        // SAFETY: keys are NUL-terminated.
        unsafe { CStr::from_ptr(self.param.key) }
    }

    /// Whether that is its name: cheaper than to compare [`key`](Self::key), where it counts.
    #[inline]
    pub fn is(&self, name: &CStr) -> bool {
        self.param.is(name)
    }

    pub(super) fn raw(&self) -> &'a Param {
        self.param
    }

    /// A text, up to its first NUL.
    pub fn text(&self) -> Result<&'a str> {
        let bytes = match self.param.data_type {
            raw::PARAM_UTF8_STRING => self.bytes()?,
            raw::PARAM_UTF8_PTR => {
                // SAFETY: `data` of this type leads to a pointer, or is null.
                let text = unsafe { self.param.data.cast::<*const c_char>().as_ref() };
                match text {
                    // SAFETY: the pointer leads to a NUL-terminated string.
                    Some(text) if !text.is_null() => unsafe { CStr::from_ptr(*text) }.to_bytes(),
                    _ => return Err(self.malformed()),
                }
            }
            _ => return Err(self.malformed()),
        };
        let length = bytes
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(bytes.len());
        std::str::from_utf8(&bytes[..length]).map_err(|_| self.malformed())
    }

    /// Bytes.
    pub fn octets(&self) -> Result<&'a [u8]> {
        match self.param.data_type {
            raw::PARAM_OCTET_STRING => self.bytes(),
            raw::PARAM_OCTET_PTR => {
                // SAFETY: `data` of this type leads to a pointer, or is null.
                match unsafe { self.param.data.cast::<*const u8>().as_ref() } {
                    Some(bytes) if !bytes.is_null() => {
                        // SAFETY: the pointer leads to `data_size` bytes.
                        Ok(unsafe { slice::from_raw_parts(*bytes, self.param.data_size) })
                    }
                    _ => Err(self.malformed()),
                }
            }
            _ => Err(self.malformed()),
        }
    }

    /// Bytes, where the length −1 stands for `whole` of them, as in `EVP_CTRL_GCM_SET_IV_FIXED`.
    ///
    /// # Safety
    /// A caller who passes that length has `whole` bytes there.
    pub unsafe fn octets_or(&self, whole: usize) -> Result<&'a [u8]> {
        if self.param.data_type == raw::PARAM_OCTET_STRING
            && self.param.data_size == usize::MAX
            && !self.param.data.is_null()
        {
            // SAFETY: by the caller's word.
            return Ok(unsafe { slice::from_raw_parts(self.param.data.cast(), whole) });
        }
        self.octets()
    }

    /// A number that is not negative.
    pub fn unsigned(&self) -> Result<u64> {
        let number = self.number()?;
        if self.param.data_type == raw::PARAM_INTEGER && number.is_negative() {
            return Err(self.malformed());
        }
        number.unsigned().ok_or_else(|| self.malformed())
    }

    /// A number that may be negative.
    pub fn integer(&self) -> Result<i64> {
        if self.param.data_type != raw::PARAM_INTEGER {
            return i64::try_from(self.unsigned()?).map_err(|_| self.malformed());
        }
        self.number()?.integer().ok_or_else(|| self.malformed())
    }

    /// A number of any length, most significant byte first, as it was padded.
    pub fn big_endian(&self) -> Result<Zeroizing<Vec<u8>>> {
        if self.param.data_type != raw::PARAM_UNSIGNED_INTEGER {
            return Err(self.malformed());
        }
        let number = self.number()?;
        let mut big = Zeroizing::new(vec![0; number.length()]);
        for (place, byte) in big.iter_mut().rev().zip(number.bytes()) {
            *place = byte;
        }
        Ok(big)
    }

    /// Its type and bytes once it is copied; none where it is malformed. A pointer is copied with what it leads to.
    pub fn copied(&self) -> Option<(c_uint, &'a [u8])> {
        match self.param.data_type {
            raw::PARAM_UTF8_PTR => Some((raw::PARAM_UTF8_STRING, self.text().ok()?.as_bytes())),
            raw::PARAM_OCTET_PTR => Some((raw::PARAM_OCTET_STRING, self.octets().ok()?)),
            kind => Some((kind, self.bytes().ok()?)),
        }
    }

    pub(super) fn bytes(&self) -> Result<&'a [u8]> {
        if self.param.data_size == 0 {
            return Ok(&[]);
        }
        if self.param.data.is_null() || self.param.data_size > isize::MAX as usize {
            return Err(self.malformed());
        }
        // SAFETY: not null, and C says that `data_size` bytes are there.
        Ok(unsafe { slice::from_raw_parts(self.param.data.cast(), self.param.data_size) })
    }

    fn number(&self) -> Result<Number<'a>> {
        match self.param.data_type {
            raw::PARAM_INTEGER | raw::PARAM_UNSIGNED_INTEGER => Ok(Number(self.bytes()?)),
            _ => Err(self.malformed()),
        }
    }

    fn malformed(&self) -> Error {
        let key = String::from_utf8_lossy(self.key());
        Error::new(
            Reason::InvalidParameter,
            format!("parameter '{key}' is malformed"),
        )
    }
}
