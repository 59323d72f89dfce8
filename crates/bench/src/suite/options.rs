//! The user's options for workloads.

use super::Peer;
use crate::result::Extent;

/// How much to run, and the peers to compare with.
#[derive(Clone, Debug)]
pub struct Options {
    /// How much of each workload.
    pub extent: Extent,
    /// Every combination of what a workload varies, not only those that tell something new.
    pub all: bool,
    /// The parts of workloads to run; all where none is named.
    pub only: Vec<String>,
    /// Others to be measured beside stock and Outboard, where a workload can.
    pub peers: Vec<Peer>,
}

impl Options {
    /// Whether a part of a workload is to run.
    pub fn runs(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == part)
    }

    /// One of three by how much is to be run.
    pub fn pick<T>(&self, full: T, quick: T, tiny: T) -> T {
        match self.extent {
            Extent::Full => full,
            Extent::Quick => quick,
            Extent::Tiny => tiny,
        }
    }
}
