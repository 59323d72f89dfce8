//! Which instructions an x86-64 processor has, and which the system lets programs use.
//!
//! The instruction that tells is CPUID. In a virtual machine the host answers it, which took 13 microseconds where this was
//! measured. Rust's `is_x86_feature_detected` uses it many times, in each process that loads us. glibc has asked when the
//! program started, so we ask glibc.
//!
//! On other architectures this crate is empty.

#![cfg(target_arch = "x86_64")]

mod feature;
mod leaves;

pub use feature::{Feature, has, has_all, has_popcnt, splits_512_bits};
pub use leaves::{numbers, signature};
