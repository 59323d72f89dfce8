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
unsafe fn each<'a>(params: *const Param) -> impl Iterator<Item = &'a Param> {
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
    Text(&'a [u8]),
    Number(i64),
}

/// Calls `with` for each parameter of one of `keys`.
///
/// # Safety
/// `params` is null or an ended array, whole for the call.
#[inline]
pub(crate) unsafe fn look(
    params: *const Param,
    keys: &[&CStr],
    mut with: impl FnMut(&CStr, Said<'_>),
) {
    // SAFETY: by the caller's word.
    for param in unsafe { each(params) } {
        // SAFETY: keys are terminated.
        let Some(key) = keys.iter().find(|key| unsafe { is(param.key, key) }) else {
            continue;
        };
        if param.data.is_null() {
            continue;
        }
        match param.data_type {
            PARAM_UTF8_STRING => {
                // SAFETY: `data` holds that many bytes.
                let text =
                    unsafe { std::slice::from_raw_parts(param.data.cast::<u8>(), param.data_size) };
                let length = text.iter().position(|&byte| byte == 0);
                with(key, Said::Text(&text[..length.unwrap_or(text.len())]));
            }
            PARAM_INTEGER | PARAM_UNSIGNED_INTEGER if param.data_size == 4 => {
                // SAFETY: `data` holds that many bytes, an integer in native order.
                let number = unsafe { param.data.cast::<i32>().read_unaligned() };
                with(key, Said::Number(number.into()));
            }
            _ => {}
        }
    }
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

/// Room for the answers about a key.
pub(crate) struct Question {
    pub(crate) bits: i32,
    pub(crate) group: [u8; 32],
    params: [Param; 3],
}

impl Question {
    /// Asks for the length in bits, and for the group.
    pub(crate) fn ask(get: impl FnOnce(*mut Param) -> bool) -> Self {
        let mut question = Self {
            bits: 0,
            group: [0; 32],
            params: [END; 3],
        };
        question.params[0] = Param {
            key: c"bits".as_ptr(),
            data_type: PARAM_INTEGER,
            data: (&raw mut question.bits).cast::<c_void>(),
            data_size: size_of::<i32>(),
            return_size: PARAM_UNMODIFIED,
        };
        question.params[1] = Param {
            key: c"group".as_ptr(),
            data_type: PARAM_UTF8_STRING,
            data: question.group.as_mut_ptr().cast::<c_void>(),
            data_size: question.group.len() - 1,
            return_size: PARAM_UNMODIFIED,
        };
        if !get(question.params.as_mut_ptr()) {
            question.group = [0; 32];
        }
        question
    }
}

const END: Param = Param {
    key: std::ptr::null(),
    data_type: PARAM_UTF8_PTR,
    data: std::ptr::null_mut(),
    data_size: 0,
    return_size: 0,
};
