//! What is worth knowing of a key: its length, or its curve or group.

use std::ffi::{c_int, c_void};

use outboard_provider_abi::raw::Param;

use crate::params;

/// `OSSL_FUNC_keymgmt_get_params`.
pub(crate) type GetParams = unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;

/// The key type of an algorithm whose keys differ in more than their type; none where the algorithm's
/// name says all (X25519, Ed25519, ML-KEM-768).
pub(crate) fn type_of(algorithm: &str) -> Option<&'static str> {
    let is = |prefix: &str| {
        algorithm
            .get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    if is("RSA") {
        Some("RSA")
    } else if is("ECDSA") || algorithm.eq_ignore_ascii_case("EC") || is("ECDH") {
        Some("EC")
    } else if is("DSA") {
        Some("DSA")
    } else if is("DHX") {
        Some("DHX")
    } else if algorithm.eq_ignore_ascii_case("DH") {
        Some("DH")
    } else {
        None
    }
}

/// How to ask about the keys of an algorithm.
#[derive(Clone, Copy)]
pub(crate) struct Questions {
    pub(crate) get: GetParams,
    /// Whether they have groups, or only a length.
    pub(crate) have_groups: bool,
}

impl Questions {
    pub(crate) fn is_like(self, other: Self) -> bool {
        (self.get as usize, self.have_groups) == (other.get as usize, other.have_groups)
    }
}

/// The length of a key in bits, or the name of its group.
///
/// # Safety
/// `questions` are those of the key management that made the key, which is alive or null.
pub(crate) unsafe fn describe(
    questions: Questions,
    key: *mut c_void,
    into: &mut [u8; 32],
) -> usize {
    if key.is_null() {
        return 0;
    }
    // SAFETY: by the caller's word; each question is an ended array of live room.
    let get = |params| unsafe { (questions.get)(key, params) } == 1;
    if questions.have_groups {
        let group = params::group(get);
        let length = group.iter().position(|&byte| byte == 0).unwrap_or(0);
        if length > 0 {
            into[..length].copy_from_slice(&group[..length]);
            return length;
        }
    }
    let Ok(mut bits) = u32::try_from(params::bits(get)) else {
        return 0;
    };
    let mut digits = [0; 10];
    let mut start = digits.len();
    while bits > 0 {
        start -= 1;
        digits[start] = b'0' + (bits % 10) as u8;
        bits /= 10;
    }
    let digits = &digits[start..];
    into[..digits.len()].copy_from_slice(digits);
    digits.len()
}
