//! Integers to compare with.

use core::ptr::null_mut;

use aws_lc_sys as aws;

use super::to_bytes;
use crate::vector::Digit;

/// An integer of AWS-LC.
pub(super) struct Integer(*mut aws::BIGNUM);

impl Integer {
    /// From digits of 52 bits.
    pub(super) fn new(digits: &[u64]) -> Integer {
        let mut bytes = vec![0; 8 * digits.len()];
        let packed: Vec<Digit> = digits.iter().map(|&digit| Digit::splat(digit)).collect();
        match *packed {
            [a] => to_bytes(&[a], 0, &mut bytes),
            [a, b, c, d, e] => to_bytes(&[a, b, c, d, e], 0, &mut bytes),
            [a, b, c, d, e, f, g, h] => to_bytes(&[a, b, c, d, e, f, g, h], 0, &mut bytes),
            _ => unreachable!("no curve has {} digits", digits.len()),
        }
        // SAFETY: reads the bytes; the result is owned.
        Integer(unsafe { aws::BN_bin2bn(bytes.as_ptr(), bytes.len(), null_mut()) })
    }

    pub(super) fn plus(&self, other: &Integer) -> Integer {
        self.with(other, |r, a, b, _| {
            // SAFETY: three live numbers.
            unsafe { aws::BN_add(r, a, b) }
        })
    }

    pub(super) fn minus(&self, other: &Integer) -> Integer {
        self.with(other, |r, a, b, _| {
            // SAFETY: three live numbers.
            unsafe { aws::BN_sub(r, a, b) }
        })
    }

    pub(super) fn times(&self, other: &Integer) -> Integer {
        self.with(other, |r, a, b, context| {
            // SAFETY: three live numbers and a context.
            unsafe { aws::BN_mul(r, a, b, context) }
        })
    }

    /// The remainder that is not negative.
    pub(super) fn modulo(&self, m: &Integer) -> Integer {
        self.with(m, |r, a, b, context| {
            // SAFETY: three live numbers and a context.
            unsafe { aws::BN_nnmod(r, a, b, context) }
        })
    }

    pub(super) fn is_zero(&self) -> bool {
        // SAFETY: a live number.
        unsafe { aws::BN_is_zero(self.0) == 1 }
    }

    pub(super) fn is_odd(&self) -> bool {
        // SAFETY: a live number.
        unsafe { aws::BN_is_odd(self.0) == 1 }
    }

    fn with(
        &self,
        other: &Integer,
        operation: impl Fn(
            *mut aws::BIGNUM,
            *mut aws::BIGNUM,
            *mut aws::BIGNUM,
            *mut aws::BN_CTX,
        ) -> i32,
    ) -> Integer {
        // SAFETY: owned objects, each freed once.
        unsafe {
            let result = Integer(aws::BN_new());
            let context = aws::BN_CTX_new();
            assert_eq!(operation(result.0, self.0, other.0, context), 1);
            aws::BN_CTX_free(context);
            result
        }
    }
}

impl Drop for Integer {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { aws::BN_free(self.0) }
    }
}

impl PartialEq for Integer {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: two live numbers.
        unsafe { aws::BN_cmp(self.0, other.0) == 0 }
    }
}

impl core::fmt::Debug for Integer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // SAFETY: the text is copied, then freed.
        unsafe {
            let text = aws::BN_bn2hex(self.0);
            let copy = core::ffi::CStr::from_ptr(text)
                .to_string_lossy()
                .into_owned();
            aws::OPENSSL_free(text.cast());
            f.write_str(&copy)
        }
    }
}
