//! NIST's curves y² = x³ - 3 x + b of prime order, eight points at once: what P-256 and P-384 share.
//!
//! ```text
//! api.rs          the public types and functions of a curve, the same for each
//! ecdsa.rs        sign                        nonce.rs   its hedged nonces
//! ecdh.rs         public keys, shared secrets
//! comb.rs         k G                         recode.rs  k as odd digits; why no exception occurs
//! window.rs       k P                         multiples.rs  tables of odd multiples
//! point.rs        the two formulas            affine.rs  out of Jacobian coordinates
//! invert.rs       1/x by divsteps             check.rs   the tally of the lookups
//! element.rs      numbers modulo a prime      modulus.rs  the prime and its constants
//! curve.rs        what a curve must say       convert.rs  bytes and digits
//! wide.rs         one operation across the lanes
//! ```
//!
//! A curve is a file with its constants, and one with the reduction modulo its prime.

pub(crate) mod affine;
pub(crate) mod api;
pub(crate) mod bound;
pub(crate) mod check;
pub(crate) mod comb;
pub(crate) mod convert;
pub(crate) mod curve;
pub(crate) mod ecdh;
pub(crate) mod ecdsa;
pub(crate) mod element;
pub(crate) mod invert;
pub(crate) mod modulus;
pub(crate) mod multiples;
pub(crate) mod nonce;
pub(crate) mod point;
pub(crate) mod recode;
pub(crate) mod wide;
pub(crate) mod window;

#[cfg(test)]
mod tests;
