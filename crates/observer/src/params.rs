//! Looking into parameters that pass by.

use std::ffi::{CStr, c_char, c_void};

use outboard_provider_abi::raw::{
    PARAM_INTEGER, PARAM_UNMODIFIED, PARAM_UNSIGNED_INTEGER, PARAM_UTF8_PTR, PARAM_UTF8_STRING,
    Param,
};

/// The parameters of an array, without the one that ends it.
///
/// # Safety
/// `params` is null or ends with a null key, and outlives what is returned.
#[inline]
pub(crate) unsafe fn each<'a>(params: *const Param) -> impl Iterator<Item = &'a Param> {
    let mut next = params;
    std::iter::from_fn(move || {
        // SAFETY: by the caller's word; never beyond the one with a null key.
        let param = unsafe { next.as_ref() }.filter(|param| !param.key.is_null())?;
        // SAFETY: it was not the last.
        next = unsafe { next.add(1) };
        Some(param)
    })
}

/// What a parameter says that somebody sets.
pub(crate) enum Said<'a> {
    Digest(&'a [u8]),
    Padding(&'a [u8]),
}

/// What a parameter says, if it is one of those that matter.
///
/// # Safety
/// Its key is terminated, and its value whole.
#[inline]
pub(crate) unsafe fn said(param: &Param) -> Option<Said<'_>> {
    // SAFETY: by the caller's word.
    unsafe {
        match param.key.read() as u8 {
            b'd' if is(param.key, c"digest") => text(param).map(Said::Digest),
            b'p' if is(param.key, c"pad-mode") => padding(param).map(Said::Padding),
            _ => None,
        }
    }
}

/// A text up to the zero that may end it: what is behind may be anything, and must not be read.
///
/// # Safety
/// Its value is whole.
#[inline]
unsafe fn text(param: &Param) -> Option<&[u8]> {
    if param.data_type != PARAM_UTF8_STRING || param.data.is_null() {
        return None;
    }
    let data = param.data.cast::<u8>();
    // SAFETY: `data` holds that many bytes, or fewer and a zero.
    let is_end = |&index: &usize| unsafe { data.add(index).read() } == 0;
    let length = (0..param.data_size).find(is_end).unwrap_or(param.data_size);
    // SAFETY: as above, without the zero.
    Some(unsafe { std::slice::from_raw_parts(data, length) })
}

/// The name of a padding, which may be said as one of the numbers of openssl/rsa.h.
///
/// # Safety
/// Its value is whole.
unsafe fn padding(param: &Param) -> Option<&[u8]> {
    let is_number = matches!(param.data_type, PARAM_INTEGER | PARAM_UNSIGNED_INTEGER);
    if !is_number || param.data_size != 4 || param.data.is_null() {
        // SAFETY: by the caller's word.
        return unsafe { text(param) };
    }
    // SAFETY: `data` holds that many bytes, an integer in native order.
    Some(match unsafe { param.data.cast::<i32>().read_unaligned() } {
        1 => b"pkcs1",
        3 => b"none",
        4 => b"oaep",
        5 => b"x931",
        6 => b"pss",
        // What a TLS server uses for RSA key exchange.
        7 => b"tls",
        // As 1, without a random answer to what is not padded (OpenSSL 3.2).
        8 => b"pkcs1",
        _ => b"other",
    })
}

/// Whether a key is that name. (A loop in place: calls of the C library's functions for each parameter
/// would cost more than all else.)
///
/// # Safety
/// `key` is terminated.
#[inline]
unsafe fn is(key: *const c_char, name: &CStr) -> bool {
    let mut bytes = name.to_bytes_with_nul().iter().enumerate();
    // SAFETY: never beyond the first byte that differs, and so not beyond the zero that ends it.
    bytes.all(|(index, &byte)| unsafe { key.add(index).read() } as u8 == byte)
}

/// A copy of an array without the parameter of that name; none if it has no such parameter.
///
/// # Safety
/// `params` is null or an ended array. The copy points to the same values.
pub(crate) unsafe fn without(params: *const Param, key: &CStr) -> Option<Vec<Param>> {
    // SAFETY: by the caller's word; keys are terminated.
    let has_key = |param: &&Param| unsafe { is(param.key, key) };
    // SAFETY: by the caller's word.
    unsafe { each(params) }.find(has_key)?;
    // SAFETY: by the caller's word.
    let others = unsafe { each(params) }.filter(|param| !has_key(param));
    Some(others.copied().chain([END]).collect())
}

/// What a key's length is in bits, or 0; `get` asks it.
pub(crate) fn bits(get: impl FnOnce(*mut Param) -> bool) -> i32 {
    let mut bits = 0;
    let question = Param {
        key: c"bits".as_ptr(),
        data_type: PARAM_INTEGER,
        data: (&raw mut bits).cast::<c_void>(),
        data_size: size_of::<i32>(),
        return_size: PARAM_UNMODIFIED,
    };
    match get([question, END].as_mut_ptr()) {
        true => bits,
        false => 0,
    }
}

/// What a key's group is called, up to the first zero; `get` asks it.
pub(crate) fn group(get: impl FnOnce(*mut Param) -> bool) -> [u8; 32] {
    let mut group = [0; 32];
    let question = Param {
        key: c"group".as_ptr(),
        data_type: PARAM_UTF8_STRING,
        data: group.as_mut_ptr().cast::<c_void>(),
        data_size: group.len() - 1,
        return_size: PARAM_UNMODIFIED,
    };
    match get([question, END].as_mut_ptr()) {
        true => group,
        false => [0; 32],
    }
}

const END: Param = Param {
    key: std::ptr::null(),
    data_type: PARAM_UTF8_PTR,
    data: std::ptr::null_mut(),
    data_size: 0,
    return_size: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_with_its_zero() {
        let mut text = *b"SHA256\0 what the stack held before";
        let param = Param {
            key: c"digest".as_ptr(),
            data_type: PARAM_UTF8_STRING,
            data: text.as_mut_ptr().cast(),
            data_size: text.len(),
            return_size: PARAM_UNMODIFIED,
        };
        // SAFETY: its key is terminated, and its value whole.
        let said = unsafe { said(&param) };
        assert!(matches!(said, Some(Said::Digest(b"SHA256"))));
        let unended = Param {
            data_size: 3,
            ..param
        };
        // SAFETY: as above.
        let said = unsafe { super::said(&unended) };
        assert!(matches!(said, Some(Said::Digest(b"SHA"))));
    }

    #[test]
    fn every_padding_has_a_name() {
        for (mut number, name) in [(1, "pkcs1"), (4, "oaep"), (7, "tls"), (99, "other")] {
            let param = Param {
                key: c"pad-mode".as_ptr(),
                data_type: PARAM_INTEGER,
                data: (&raw mut number).cast(),
                data_size: size_of::<i32>(),
                return_size: PARAM_UNMODIFIED,
            };
            // SAFETY: its key is terminated, and its value whole.
            let said = unsafe { said(&param) };
            let is_named = matches!(said, Some(Said::Padding(text)) if text == name.as_bytes());
            assert!(is_named, "{number}");
        }
    }
}
