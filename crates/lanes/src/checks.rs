//! The checks that stand between a fault and a result, and why they find it.
//!
//! # What is defended against
//! The processor or its memory disturbs a value once, and goes on as if nothing had happened. A wrong result would
//! not only be wrong: an RSA result that is right modulo one prime gives away the other, a pair of ECDSA or Ed25519
//! signatures with the same nonce gives away the key, and so does a product with a disturbed point, bit by bit. So
//! nothing leaves that was not checked. A second fault that undoes the first is not defended against.
//!
//! # Why a fault is found
//! The same four rules hold for RSA, the NIST curves and Curve25519:
//!
//! 1. **Another way back.** A check holds the result against the operands along another path than the one that led
//!    to it: a disturbed value takes part in one side of the comparison only. (A computation that is merely repeated
//!    shows less: what both runs read wrong stays unseen.)
//! 2. **Operands are read anew** from memory, [`reread`](crate::vector::reread), so that a copy in a register that
//!    was disturbed does not stand on both sides.
//! 3. **What is compared is what is released.** After the comparison nothing changes the result any more.
//! 4. **Each lane answers for itself.** What lanes share, a table or an inversion, is checked in each.
//!
//! | operation | along which other way |
//! |---|---|
//! | RSA | the result to the power of e is the input: it undoes CRT, both powers and the recombination |
//! | P-256, P-384 | the point is on the curve; the entries that were looked up add up to the scalar; s k = z + r d: `weierstrass/check.rs` |
//! | X25519 with a peer | three points of the ladder satisfy a relation, and each bit that steers is read twice: `curve25519/montgomery.rs` |
//! | Curve25519's base point | twice the multiple by half the scalar is the same point: `curve25519/edwards.rs` |
//! | Ed25519 sign | the nonce that s and the hash lead back to is the one that is hashed anew, and its point is R: `ed25519/sign.rs` |
//!
//! # That each is needed
//! A result is released in the lanes in which all of its checks passed. Each check sends its verdict through
//! [`Check::verdict`]. There a test (`tests/*_faults.rs`) can make it say yes to everything: then some fault
//! has to release a wrong result, or the check is worth nothing.

use crate::vector::Mask;

/// A check, named for what it compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "fault"),
    expect(unreachable_pub, reason = "tests of faults name checks")
)]
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
