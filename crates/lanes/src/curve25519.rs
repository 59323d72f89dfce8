//! What X25519 and Ed25519 share: the field of 2^255 - 19 and its curve, eight at once.
//!
//! ```text
//! words.rs      eight strings of 32 bytes <-> lanes
//! field.rs      the field, in five digits of 52 bits
//! inverse.rs    eight inversions for one ...
//! safegcd.rs    ... done on one number, with divsteps
//! montgomery.rs multiples by u-coordinates: the ladder of X25519
//! edwards.rs    points of the curve in Edwards form: addition, doubling, encoding
//! comb.rs       multiples of the base point from a table
//! wide.rs       one multiple alone, spread across the lanes
//! ```

pub(crate) mod comb;
pub(crate) mod edwards;
pub(crate) mod field;
mod inverse;
pub(crate) mod montgomery;
pub(crate) mod safegcd;
pub(crate) mod wide;
pub(crate) mod words;

#[cfg(test)]
mod bounds;
