//! The measured cost of algorithms, and its document, which a later run can read.

use super::algorithm::{Kind, measured_as};
use crate::Error;
use crate::{document, order::Measured};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The cost of one algorithm: time in user mode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// What it is for.
    pub kind: Kind,
    /// OpenSSH's name.
    pub name: String,
    /// The client's seconds: for 1 GiB (ciphers and MACs) or for a login.
    pub client_seconds: f64,
    /// The server's seconds.
    pub server_seconds: f64,
    /// The least and the most of both together in the pairs; `None` where these are too few to say.
    #[serde(default)]
    pub scatter_seconds: Option<[f64; 2]>,
    /// From how many pairs.
    pub pairs: u32,
}

/// The measurements and their conditions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// OpenSSH's version.
    pub openssh: String,
    /// Whether Outboard served its libcrypto.
    pub with_outboard: bool,
    /// Whether it knows the remedy against Terrapin (CVE-2023-48795).
    pub strict_key_exchange: bool,
    /// The MAC with which ciphers were measured that need one.
    pub mac_of_ciphers: String,
    /// The cipher with which MACs were measured.
    pub cipher_of_macs: String,
    /// One for each algorithm.
    pub costs: Vec<Cost>,
}

impl Cost {
    /// The time of client and server together, in seconds.
    pub fn seconds(&self) -> f64 {
        self.client_seconds + self.server_seconds
    }

    /// The same with its scatter.
    pub fn measured(&self) -> Measured {
        Measured::new(self.seconds(), self.scatter_seconds)
    }
}

impl Costs {
    /// Reads them from a document that `outboard advise ssh --json` printed.
    ///
    /// # Errors
    /// In words.
    pub(super) fn read(file: &Path) -> Result<Self, Error> {
        document::measured(file, super::SCHEMA, "outboard advise ssh --json")
    }

    /// The cost of an algorithm, if it was measured.
    pub fn of(&self, kind: Kind, name: &str) -> Option<&Cost> {
        let name = measured_as(name);
        let same = |cost: &&Cost| cost.kind == kind && measured_as(&cost.name) == name;
        self.costs.iter().find(same)
    }
}
