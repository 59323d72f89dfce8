//! Parameters that a program asks for.

use std::ffi::CStr;
use std::marker::PhantomData;

use super::number;
use crate::error::{Error, Reason, Result};
use crate::raw::{self, Param};

/// An array of parameters to answer.
pub struct ParamsMut<'a> {
    next: *mut Param,
    array: PhantomData<&'a mut Param>,
}

impl<'a> ParamsMut<'a> {
    /// The array at `first`.
    ///
    /// # Safety
    /// `first` is null or leads to an array that ends with a null key, all of it valid and ours to
    /// write for `'a`.
    pub unsafe fn new(first: *mut Param) -> Self {
        Self {
            next: first,
            array: PhantomData,
        }
    }

    /// What C passed, to pass it on.
    pub fn as_mut_ptr(&mut self) -> *mut Param {
        self.next
    }

    /// The parameter, where there is only one.
    #[inline]
    pub fn only(&mut self) -> Option<ParamMut<'_>> {
        // SAFETY: valid and ended by a null key, as promised to `new`.
        unsafe {
            let param = self.next.as_mut().filter(|param| !param.key.is_null())?;
            let is_last = (*self.next.add(1)).key.is_null();
            is_last.then_some(ParamMut { param })
        }
    }

    /// Answers each parameter by `answer`, which says whether it knows it. Whether it knew them all.
    pub fn answer(
        &mut self,
        mut answer: impl FnMut(&mut ParamMut<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let mut all = true;
        let mut next = self.next;
        // SAFETY: valid and ended by a null key, as promised to `new`.
        unsafe {
            while !next.is_null() && !(*next).key.is_null() {
                all &= answer(&mut ParamMut { param: &mut *next })?;
                next = next.add(1);
            }
        }
        Ok(all)
    }
}

/// One parameter to answer. Where its buffer is null only the size is told, as OpenSSL does it.
pub struct ParamMut<'a> {
    param: &'a mut Param,
}

impl ParamMut<'_> {
    /// Its name.
    pub fn key(&self) -> &[u8] {
        // SAFETY: keys are NUL-terminated.
        unsafe { CStr::from_ptr(self.param.key) }.to_bytes()
    }

    /// Whether that is its name: cheaper than to compare [`key`](Self::key), where it counts.
    #[inline]
    pub fn is(&self, name: &CStr) -> bool {
        self.param.is(name)
    }

    pub(super) fn raw(&mut self) -> &mut Param {
        self.param
    }

    pub(super) fn raw_ref(&self) -> &Param {
        self.param
    }

    /// How many bytes the caller has room for.
    pub fn room(&self) -> usize {
        self.param.data_size
    }

    /// Writes a number.
    pub fn set_unsigned(&mut self, value: u64) -> Result<()> {
        let usual = (raw::PARAM_UNSIGNED_INTEGER, size_of::<u64>());
        if (self.param.data_type, self.param.data_size) == usual && !self.param.data.is_null() {
            self.param.return_size = self.param.data_size;
            // SAFETY: not null, and C says that there is room for `data_size` bytes.
            unsafe { self.param.data.cast::<u64>().write_unaligned(value) };
            return Ok(());
        }
        let bytes = value.to_le_bytes();
        match self.param.data_type {
            raw::PARAM_INTEGER => self.put_number(&bytes, 1),
            raw::PARAM_UNSIGNED_INTEGER => self.put_number(&bytes, 0),
            _ => Err(self.mismatch()),
        }
    }

    /// Writes a number of any length, given most significant byte first.
    pub fn set_big_endian(&mut self, value: &[u8]) -> Result<()> {
        if self.param.data_type != raw::PARAM_UNSIGNED_INTEGER {
            return Err(self.mismatch());
        }
        let little: zeroize::Zeroizing<Vec<u8>> =
            zeroize::Zeroizing::new(value.iter().rev().copied().collect());
        self.put_number(&little, 0)
    }

    /// Writes a text with its NUL where there is room for it.
    pub fn set_text(&mut self, value: &'static CStr) -> Result<()> {
        match self.param.data_type {
            raw::PARAM_UTF8_STRING => {
                let bytes = value.to_bytes();
                self.put(bytes)?;
                if !self.param.data.is_null() && self.param.data_size > bytes.len() {
                    // SAFETY: one more byte of room was just checked.
                    unsafe { self.param.data.cast::<u8>().add(bytes.len()).write(0) };
                }
                Ok(())
            }
            raw::PARAM_UTF8_PTR => {
                self.param.return_size = value.to_bytes().len();
                if !self.param.data.is_null() {
                    // SAFETY: `data` of this type leads to room for a pointer.
                    unsafe {
                        self.param
                            .data
                            .cast::<*const i8>()
                            .write(value.as_ptr().cast())
                    };
                }
                Ok(())
            }
            _ => Err(self.mismatch()),
        }
    }

    /// Writes bytes.
    pub fn set_octets(&mut self, value: &[u8]) -> Result<()> {
        match self.param.data_type {
            raw::PARAM_OCTET_STRING => self.put(value),
            _ => Err(self.mismatch()),
        }
    }

    /// Writes bytes where the length 0 stands for enough room, as in `EVP_CTRL_GCM_IV_GEN`.
    ///
    /// # Safety
    /// A caller who passes that length has room for all of `value`.
    pub unsafe fn set_octets_in_any_room(&mut self, value: &[u8]) -> Result<()> {
        if self.param.data_size == 0 && self.param.data_type == raw::PARAM_OCTET_STRING {
            self.param.data_size = value.len();
        }
        self.set_octets(value)
    }

    /// Writes bytes, or where they are: `value` must then outlive the caller's use of it.
    ///
    /// # Safety
    /// `value` stays in place for as long as the program may use a pointer to it.
    pub unsafe fn set_octets_or_pointer(&mut self, value: &[u8]) -> Result<()> {
        if self.param.data_type != raw::PARAM_OCTET_PTR {
            return self.set_octets(value);
        }
        self.param.return_size = value.len();
        if !self.param.data.is_null() {
            // SAFETY: `data` of this type leads to room for a pointer.
            unsafe { self.param.data.cast::<*const u8>().write(value.as_ptr()) };
        }
        Ok(())
    }

    fn put(&mut self, value: &[u8]) -> Result<()> {
        self.param.return_size = value.len();
        if self.param.data.is_null() {
            return Ok(());
        }
        if self.param.data_size < value.len() {
            return Err(self.too_small());
        }
        // SAFETY: not null, and C says that there is room for `data_size` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(value.as_ptr(), self.param.data.cast(), value.len());
        }
        Ok(())
    }

    /// Writes a number whose least significant byte comes first, padded with zeros; `sign_bits` more must be left free on top.
    fn put_number(&mut self, value: &[u8], sign_bits: u8) -> Result<()> {
        let length = value
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(1, |top| top + 1);
        let needs_sign_byte = sign_bits > 0 && value[length - 1] & 0x80 != 0;
        let needed = length + usize::from(needs_sign_byte);
        if self.param.data.is_null() {
            self.param.return_size = needed;
            return Ok(());
        }
        if self.param.data_size < needed {
            self.param.return_size = needed;
            return Err(self.too_small());
        }
        self.param.return_size = self.param.data_size;
        // SAFETY: not null, and C says that there is room for `data_size` bytes, which is enough.
        unsafe { number::write(self.param.data.cast::<u8>(), self.param.data_size, value) };
        Ok(())
    }

    fn too_small(&self) -> Error {
        let key = String::from_utf8_lossy(self.key()).into_owned();
        Error::new(
            Reason::BufferTooSmall,
            format!("no room for parameter '{key}'"),
        )
    }

    fn mismatch(&self) -> Error {
        let key = String::from_utf8_lossy(self.key()).into_owned();
        Error::new(
            Reason::InvalidParameter,
            format!("parameter '{key}' asked with a wrong type"),
        )
    }
}
