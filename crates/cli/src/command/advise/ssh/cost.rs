//! The measured cost of algorithms, and its document, which a later run can read.

use super::algorithm::{Kind, measured_as};
use crate::Failure;
use crate::command::advise::{document, order::Measured};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The cost of one algorithm: time in user mode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// What it is for.
    pub(crate) kind: Kind,
    /// OpenSSH's name.
    pub(crate) name: String,
    /// The client's seconds: for 1 GiB (ciphers and MACs) or for a login.
    pub(crate) client_seconds: f64,
    /// The server's seconds.
    pub(crate) server_seconds: f64,
    /// The least and the most of both together in the pairs; `None` where these are too few to say.
    #[serde(default)]
    pub(crate) scatter_seconds: Option<[f64; 2]>,
    /// From how many pairs.
    pub(crate) pairs: u32,
}

/// The measurements and their conditions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Costs {
    /// OpenSSH's version.
    pub(crate) openssh: String,
    /// Whether Outboard served its libcrypto.
    pub(crate) with_outboard: bool,
    /// Whether it knows the remedy against Terrapin (CVE-2023-48795).
    pub(crate) strict_key_exchange: bool,
    /// The MAC with which ciphers were measured that need one.
    pub(crate) mac_of_ciphers: String,
    /// The cipher with which MACs were measured.
    pub(crate) cipher_of_macs: String,
    /// One for each algorithm.
    pub(crate) costs: Vec<Cost>,
}

impl Cost {
    /// The time of client and server together, in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.client_seconds + self.server_seconds
    }

    /// The same with its scatter.
    pub(crate) fn measured(&self) -> Measured {
        Measured::new(self.seconds(), self.scatter_seconds)
    }
}

impl Costs {
    /// Reads them from a document that `outboard advise ssh --json` printed.
    ///
    /// # Errors
    /// In words.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        document::measured(file, super::SCHEMA, "outboard advise ssh --json")
    }

    /// The cost of an algorithm, if it was measured.
    pub(crate) fn of(&self, kind: Kind, name: &str) -> Option<&Cost> {
        let name = measured_as(name);
        let same = |cost: &&Cost| cost.kind == kind && measured_as(&cost.name) == name;
        self.costs.iter().find(same)
    }
}
