//! One operation on a curve across all eight lanes: for a caller that has only one.
//!
//! ```text
//! api.rs       what a curve's module offers
//! sign.rs      one signature               keys.rs       one public key
//! derive.rs    one shared secret           multiply.rs   k P: each formula's products side by side
//! comb.rs      k G: eight windows at once  complete.rs   addition without exceptions
//! invert.rs    1/x with scalar instructions    scalar.rs  k and its digits
//! ```
//!
//! What the lanes share is different in each part: windows of the base point's multiple, the products of a formula; the
//! rest, a few products and the checks, is the same in every lane. Results are those of eight at once. Microseconds, Zen
//! 5, one core with neighbours (`make bench-lanes ONLY=wide`):
//!
//! ```text
//!              P-256: AWS-LC   wide           P-384: AWS-LC   wide
//! sign                  11.9    4.9   2.4 x             64.4   11.7   5.5 x
//! public key             6.7    3.8   1.8 x             39      9.2   4.2 x
//! ECDH                  31.5   21.2   1.5 x            107     51     2.1 x
//! ```

pub(crate) mod api;
pub(crate) mod comb;
pub(crate) mod complete;
pub(crate) mod derive;
pub(crate) mod invert;
pub(crate) mod keys;
pub(crate) mod multiply;
mod scalar;
pub(crate) mod sign;
