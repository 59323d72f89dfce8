//! Objects that libcrypto is given: what decoders and stores find (provider-object(7)).

use std::ffi::{CStr, c_int};

use crate::params::ParamList;
use crate::raw::{self, Param};

/// `OSSL_OBJECT_PKEY`.
pub(crate) const IS_A_KEY: c_int = 2;

/// A key in a form that another decoder reads.
pub struct Data {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What that decoder calls them in its property `structure`.
    pub structure: &'static CStr,
    /// The type of the key that they hold.
    pub kind: &'static CStr,
}

impl Data {
    /// Gives it to libcrypto's callback, and answers what that answers.
    pub(crate) fn give(&self, give: impl FnOnce(*const Param) -> c_int) -> c_int {
        ParamList::new()
            .text(c"data-type", &self.kind.to_string_lossy())
            .text(c"data-structure", &self.structure.to_string_lossy())
            .octets(c"data", &self.bytes)
            .value(c"type", raw::PARAM_INTEGER, &IS_A_KEY.to_ne_bytes())
            .with_array(give)
    }
}
