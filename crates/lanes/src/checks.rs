//! The checks that stand between a fault and a result: a list, so that tests can leave out one at a time.
//!
//! A result is released in the lanes in which all of its checks passed. Each check sends its verdict through
//! [`Check::verdict`]. There a test (`tests/*_faults.rs`) can make it say yes to everything: then some fault
//! has to release a wrong result, or the check is worth nothing.

use crate::vector::Mask;

/// A check, named for what it compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// RSA's private operation: the result to the power of e is the input.
    RsaPublicPower,
}

impl Check {
    /// The lanes that passed this check.
    #[inline(always)]
    pub(crate) fn verdict(self, passed: Mask) -> Mask {
        #[cfg(feature = "fault")]
        let passed = crate::fault::verdict(self, passed);
        passed
    }
}
