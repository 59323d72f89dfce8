//! One multiple of one point, spread across the eight lanes: for a caller that has only one.
//!
//! ```text
//! field.rs    eight numbers of one operation, in five digits of 51 bits
//! ladder.rs   multiples by u-coordinates: a step of the ladder is two products
//! comb.rs     multiples of the base point: eight of a scalar's digits in each lane
//! ```
//!
//! The ladder waits for one product after the other, so its field is made for a short wait. The comb has seven products
//! at a time, which keep the multipliers busy: it uses the field and the formulas of the batch. Both end with one
//! inversion (`safegcd.rs`), by scalar instructions.

pub(crate) mod comb;
pub(crate) mod field;
pub(crate) mod ladder;
