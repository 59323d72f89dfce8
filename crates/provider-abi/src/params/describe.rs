//! Descriptors: the lists that say which parameters can be read or set.

use std::ffi::{CStr, c_int, c_uint};
use std::ptr;

use crate::raw::{self, Param};

/// What ends every list.
pub const END: Param = Param {
    key: ptr::null(),
    data_type: 0,
    data: ptr::null_mut(),
    data_size: 0,
    return_size: 0,
};

const fn describe(key: &'static CStr, data_type: c_uint, data_size: usize) -> Param {
    Param {
        key: key.as_ptr(),
        data_type,
        data: ptr::null_mut(),
        data_size,
        return_size: raw::PARAM_UNMODIFIED,
    }
}

/// A signed integer.
pub const fn integer(key: &'static CStr) -> Param {
    describe(key, raw::PARAM_INTEGER, size_of::<c_int>())
}

/// An unsigned integer, as wide as a size.
pub const fn size(key: &'static CStr) -> Param {
    describe(key, raw::PARAM_UNSIGNED_INTEGER, size_of::<usize>())
}

/// An unsigned integer, as wide as C's.
pub const fn unsigned(key: &'static CStr) -> Param {
    describe(key, raw::PARAM_UNSIGNED_INTEGER, size_of::<c_uint>())
}

/// A text.
pub const fn text(key: &'static CStr) -> Param {
    describe(key, raw::PARAM_UTF8_STRING, 0)
}

/// Bytes.
pub const fn octets(key: &'static CStr) -> Param {
    describe(key, raw::PARAM_OCTET_STRING, 0)
}

/// A pointer to bytes.
pub const fn octets_pointer(key: &'static CStr) -> Param {
    describe(key, raw::PARAM_OCTET_PTR, 0)
}

/// A list of descriptors: groups of them one after the other, and what ends it.
#[macro_export]
macro_rules! descriptors {
    ($($group:expr),+ $(,)?) => {{
        const GROUPS: &[&[$crate::raw::Param]] = &[$(&$group),+];
        const LIST: [$crate::raw::Param; $crate::params::length(GROUPS)] =
            $crate::params::joined(GROUPS);
        &LIST
    }};
}

/// How long the list of these groups is.
#[doc(hidden)]
pub const fn length(groups: &[&[Param]]) -> usize {
    let (mut length, mut group) = (1, 0);
    while group < groups.len() {
        length += groups[group].len();
        group += 1;
    }
    length
}

/// The list of these groups. (Loops, as iterators are not yet for constants.)
#[doc(hidden)]
pub const fn joined<const LENGTH: usize>(groups: &[&[Param]]) -> [Param; LENGTH] {
    let mut list = [END; LENGTH];
    let (mut length, mut group) = (0, 0);
    while group < groups.len() {
        let mut index = 0;
        while index < groups[group].len() {
            list[length] = groups[group][index];
            length += 1;
            index += 1;
        }
        group += 1;
    }
    assert!(length + 1 == LENGTH);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_one_after_the_other() {
        const PAIR: [Param; 2] = [octets(c"pub"), octets(c"priv")];
        let list: &[Param] = descriptors!([unsigned(c"bits")], PAIR);
        let [bits, public, private, end] = list else {
            panic!("three and the end");
        };
        assert_eq!(bits.data_type, raw::PARAM_UNSIGNED_INTEGER);
        assert_eq!(
            (public.key, private.key),
            (c"pub".as_ptr(), c"priv".as_ptr())
        );
        assert!(end.key.is_null());
    }
}
