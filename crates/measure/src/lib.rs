//! Contenders alternating in one process: what an operation costs on each path.
//!
//! On a shared machine, two runs a few seconds apart differ by tens of percent; two contenders that
//! take turns every few milliseconds meet the same weather, so the median of their ratios holds.
//!
//! ```text
//! Sides ──────────────▶ Workload::prepare ──▶ contest ──▶ Outcome (medians, ratio, quartiles)
//! (stock, outboard:     (the same EVP calls   (ABBA in
//!  two contexts of       on either side)       blocks)
//!  one libcrypto)
//! ```
//!
//! [`layers`] calls one operation at each interface, to see what an interface costs; [`together`] does eight at
//! once by everyone who can.
//! [`calibrate`] does this for every operation; [`validate`] first makes sure that each side
//! accepts what the other makes.

mod calibrate;
mod clock;
mod contest;
mod error;
mod keys;
pub mod lanes;
pub mod layers;
mod load;
mod sides;
pub mod statistics;
pub mod together;
mod validate;
pub mod workload;

pub use calibrate::{Calibration, LeftOut, Progress, Reason, USUAL_TIME, calibrate};
pub use clock::Instant;
pub use contest::{Contender, Outcome, Plan, Score, contest, duel};
pub use error::Error;
pub use keys::{KeyKind, Keys};
pub use load::{Load, Waited};
pub use sides::{Configurations, Offer, Sides};
pub use validate::validate;
pub use workload::Workload;

pub use outboard_libcrypto::{Context, Library};
pub use outboard_operation::Operation;

/// What everything here returns.
pub type Result<T> = std::result::Result<T, Error>;
