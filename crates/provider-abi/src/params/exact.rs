//! libcrypto's own `OSSL_PARAM_get_…` and `OSSL_PARAM_set_…`, to the letter: what each takes, what it leaves in
//! the parameter, and what it finds wrong. (OpenSSL puts that into the queue since 3.2.)

use std::slice;

use super::number::{self, Number};
use super::read::ParamRef;
use super::write::ParamMut;
use crate::error::Reason;
use crate::raw;

/// What was wrong with a parameter; `Reason::Parameter…`.
pub type Exact<T> = Result<T, Reason>;

impl<'a> ParamRef<'a> {
    /// `OSSL_PARAM_get_size_t`.
    pub fn exact_size(&self) -> Exact<usize> {
        let param = self.raw();
        if param.data.is_null() {
            return Err(Reason::ParameterIsNull);
        }
        match param.data_type {
            raw::PARAM_UNSIGNED_INTEGER | raw::PARAM_INTEGER => {
                let number = Number(self.bytes().map_err(|_| Reason::ParameterTooLarge)?);
                if param.data_type == raw::PARAM_INTEGER && number.is_negative() {
                    return Err(Reason::ParameterNegative);
                }
                let number = number.unsigned().ok_or(Reason::ParameterTooLarge)?;
                Ok(number as usize)
            }
            raw::PARAM_REAL if param.data_size == size_of::<f64>() => {
                // SAFETY: not null, and C says that eight bytes are there.
                let real = unsafe { param.data.cast::<f64>().read_unaligned() };
                let whole = (0.0..18_446_744_073_709_551_616.0).contains(&real);
                if whole && real.fract() == 0.0 {
                    Ok(real as usize)
                } else {
                    Err(Reason::ParameterInexact)
                }
            }
            raw::PARAM_REAL => Err(Reason::ParameterReal),
            _ => Err(Reason::ParameterType),
        }
    }

    /// `OSSL_PARAM_get_octet_string` into room for so many bytes.
    pub fn exact_octets(&self, room: usize) -> Exact<&'a [u8]> {
        let octets = self.raw_octets().ok_or(Reason::ParameterType)?;
        let octets = octets.ok_or(Reason::ParameterIsNull)?;
        if self.raw().data_size > room {
            return Err(Reason::ParameterTooSmall);
        }
        // SAFETY: not null, and C says that `data_size` bytes are there, which are few.
        Ok(unsafe { slice::from_raw_parts(octets, self.raw().data_size) })
    }

    /// Where octets are, as the parameter says without any check: none where it is of another type, then none
    /// where it is null.
    pub fn raw_octets(&self) -> Option<Option<*const u8>> {
        let param = self.raw();
        let data: *const u8 = param.data.cast();
        (param.data_type == raw::PARAM_OCTET_STRING).then(|| (!data.is_null()).then_some(data))
    }

    /// How many bytes it says to hold.
    pub fn size(&self) -> usize {
        self.raw().data_size
    }
}

impl ParamMut<'_> {
    /// Writes a size where one is asked for as libcrypto itself asks; false where the question is another.
    #[inline]
    pub fn put_size(&mut self, value: usize) -> bool {
        let param = self.raw();
        let usual = (raw::PARAM_UNSIGNED_INTEGER, size_of::<usize>());
        if (param.data_type, param.data_size) != usual || param.data.is_null() {
            return false;
        }
        param.return_size = size_of::<usize>();
        // SAFETY: not null, and C says that there is room for a size.
        unsafe { param.data.cast::<usize>().write_unaligned(value) };
        true
    }

    /// `OSSL_PARAM_set_size_t`.
    pub fn set_exact_size(&mut self, value: usize) -> Exact<()> {
        self.set_exact_number(value as u64, size_of::<u64>())
    }

    /// `OSSL_PARAM_set_uint`.
    pub fn set_exact_uint(&mut self, value: u32) -> Exact<()> {
        self.set_exact_number(value.into(), size_of::<u32>())
    }

    /// `OSSL_PARAM_set_octet_string`. `checks_type_first` as OpenSSL does since 3.2.
    pub fn set_exact_octets(&mut self, value: &[u8], checks_type_first: bool) -> Exact<()> {
        let param = self.raw();
        param.return_size = 0;
        let is_octets = param.data_type == raw::PARAM_OCTET_STRING;
        if checks_type_first && !is_octets {
            return Err(Reason::ParameterType);
        }
        param.return_size = value.len();
        if param.data.is_null() {
            return Ok(());
        }
        if !is_octets {
            return Err(Reason::ParameterType);
        }
        if param.data_size < value.len() {
            return Err(Reason::ParameterTooSmall);
        }
        // SAFETY: not null, and C says that there is room for `data_size` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(value.as_ptr(), param.data.cast(), value.len());
        }
        Ok(())
    }

    /// `OSSL_PARAM_set_octet_ptr`; `checks_type_first` as above.
    ///
    /// # Safety
    /// `value` stays in place for as long as the program may use a pointer to it.
    pub unsafe fn set_exact_octets_pointer(
        &mut self,
        value: &[u8],
        checks_type_first: bool,
    ) -> Exact<()> {
        let param = self.raw();
        let is_pointer = param.data_type == raw::PARAM_OCTET_PTR;
        param.return_size = if is_pointer || !checks_type_first {
            value.len()
        } else {
            0
        };
        if !is_pointer {
            return Err(Reason::ParameterType);
        }
        if !param.data.is_null() {
            // SAFETY: `data` of this type leads to room for a pointer.
            unsafe {
                param
                    .data
                    .cast::<*const u8>()
                    .write_unaligned(value.as_ptr())
            };
        }
        Ok(())
    }

    /// Room for octets, as the parameter says without any check: none where it is of another type or null.
    pub fn raw_octets(&mut self) -> Option<*mut u8> {
        let param = self.raw();
        let data: *mut u8 = param.data.cast();
        (param.data_type == raw::PARAM_OCTET_STRING && !data.is_null()).then_some(data)
    }

    /// Whether its buffer is null: only the size is asked for.
    pub fn is_null(&self) -> bool {
        self.raw_ref().data.is_null()
    }

    /// Whether it asks for a copy of octets.
    pub fn is_octets(&self) -> bool {
        self.raw_ref().data_type == raw::PARAM_OCTET_STRING
    }

    /// Whether it asks for a pointer to octets, not for a copy.
    pub fn is_octets_pointer(&self) -> bool {
        self.raw_ref().data_type == raw::PARAM_OCTET_PTR
    }

    fn set_exact_number(&mut self, value: u64, width: usize) -> Exact<()> {
        let param = self.raw();
        param.return_size = 0;
        let bits = match param.data_type {
            raw::PARAM_UNSIGNED_INTEGER => 8 * param.data_size,
            raw::PARAM_INTEGER => (8 * param.data_size).saturating_sub(1),
            raw::PARAM_REAL => {
                return match (param.data.is_null(), param.data_size) {
                    (true, _) => {
                        param.return_size = size_of::<f64>();
                        Ok(())
                    }
                    (_, 8) if value >> 53 != 0 => Err(Reason::ParameterInexact),
                    (_, 8) => {
                        param.return_size = size_of::<f64>();
                        // SAFETY: not null, and C says that there is room for eight bytes.
                        unsafe { param.data.cast::<f64>().write_unaligned(value as f64) };
                        Ok(())
                    }
                    _ => Err(Reason::ParameterReal),
                };
            }
            _ => return Err(Reason::ParameterType),
        };
        param.return_size = width;
        if param.data.is_null() {
            return Ok(());
        }
        if bits < 64 && value >> bits != 0 {
            return Err(Reason::ParameterTooLarge);
        }
        param.return_size = param.data_size;
        // SAFETY: not null, and C says that there is room for `data_size` bytes.
        unsafe {
            number::write(
                param.data.cast::<u8>(),
                param.data_size,
                &value.to_le_bytes(),
            )
        };
        Ok(())
    }
}
