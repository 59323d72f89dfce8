//! Where a TLS server's time goes: phases of a connection, and the sheet on which they are added up.
//!
//! ```text
//! server ──▶ libssl ──▶ libcrypto
//!        │          │
//!        └─ stopwatch-preload: stands between, measures each call, adds it to its phase
//!                   │
//!                   ▼
//!                 Sheet (a file that both map) ◀── outboard-bench handshake
//! ```
//!
//! The sheet counts ticks of the processor's clock ([`ticks`]), which is the same in all processes. Only a benchmark
//! uses it: the file is trusted.

mod clock;
mod phase;
mod sheet;

pub use clock::{Rate, ticks};
pub use phase::Phase;
pub use sheet::{Counted, Sheet};

/// The variable that names the sheet's file to the server.
pub const VARIABLE: &str = "OUTBOARD_STOPWATCH";
