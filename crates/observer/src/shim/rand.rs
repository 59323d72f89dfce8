//! Random generators (provider-rand(7)) pass unobserved, and so does what they use within. Their
//! contexts are not wrapped: generators know each other's.

use std::ffi::c_int;

use super::{Shim, passing};

pub(super) fn shim(id: c_int) -> Shim {
    match id {
        3 => passing::instantiate(),
        5 => passing::generate(),
        6 => passing::reseed(),
        16 => passing::set_params(),
        _ => Shim::Kept,
    }
}
