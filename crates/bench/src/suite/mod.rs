//! Workloads, one after another: each writes one result file.
//!
//! ```text
//! run       chooses workloads, looks for their programs, takes the lock, then for each
//!   ├─ Workload::plan   steps with their estimated time ──▶ Progress (time left)
//!   └─ Workload::run(&mut Session)
//!        ├─ alternate   setups take turns ──▶ Comparison
//!        └─ record      ──▶ rows of the ResultFile, saved at once: an interruption loses nothing
//! ```

mod comparison;
mod lock;
mod options;
mod peer;
mod progress;
mod run;
mod session;
mod stop;
mod summary;

pub use comparison::{Comparison, Measure, Rounds};
pub use lock::Lock;
pub use options::Options;
pub use peer::Peer;
pub use progress::{Progress, Step};
pub use run::{Arguments, ListArguments, list, run};
pub use session::Session;

use crate::Failure;

/// Something that real programs, or real callers of a library, do: measured with several setups.
pub trait Workload {
    /// Its name on the command line and of its result file.
    fn name(&self) -> &'static str;

    /// What it does, in a sentence without its period.
    fn summary(&self) -> &'static str;

    /// The programs that it starts, as [`outboard_programs::find`] knows them.
    fn programs(&self) -> &'static [&'static str] {
        &[]
    }

    /// The parts of it that can run alone (`--only`).
    fn parts(&self) -> &'static [&'static str] {
        &[]
    }

    /// How many bytes of files it keeps at once.
    fn space(&self, options: &Options) -> u64 {
        let _ = options;
        0
    }

    /// Whether it can measure that peer beside stock and Outboard.
    fn takes(&self, peer: &Peer) -> bool {
        let _ = peer;
        false
    }

    /// Its steps in order, with how long each takes, about.
    fn plan(&self, options: &Options) -> Vec<Step>;

    /// Does them: [`Session::step`] before each, [`Session::record`] after each. Returns with
    /// nothing left running.
    ///
    /// # Errors
    /// What stopped it. What was recorded until then is kept.
    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure>;
}
