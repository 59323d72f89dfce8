//! The measured cost of TLS for a server and its clients.

use super::policy::Kind;
use crate::Error;
use crate::{document, order::Measured};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The cost of one choice: CPU seconds for a full handshake, or for 1 GiB (suites).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cost {
    pub kind: Kind,
    pub name: String,
    /// The server's, under the system's OpenSSL alone.
    pub stock_seconds: f64,
    /// The server's, with Outboard; `None` if that is not installed.
    pub outboard_seconds: Option<f64>,
    /// Median of the pairs' ratios stock / Outboard.
    pub ratio: Option<f64>,
    /// The client's, under the system's OpenSSL alone.
    pub client_seconds: f64,
    /// The least and the most that the server took in the pairs, with Outboard where that is; `None` where these
    /// are too few to say.
    #[serde(default)]
    pub scatter_seconds: Option<[f64; 2]>,
    /// From how many pairs.
    pub pairs: u32,
}

/// What a handshake costs with a group that this OpenSSL lacks, and that `outboard enable --post-quantum` gives it. Server
/// and client both run with Outboard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Added {
    pub name: String,
    pub outboard_seconds: f64,
    pub client_seconds: f64,
    /// The least and the most that the server took; `None` where these are too few to say.
    #[serde(default)]
    pub scatter_seconds: Option<[f64; 2]>,
    /// From how many measurements.
    pub pairs: u32,
}

/// The measurements and their conditions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// The output of `openssl version`.
    pub openssl: String,
    /// One for each choice that this OpenSSL has.
    pub costs: Vec<Cost>,
    /// One for each group that Outboard would add. Empty in documents of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub post_quantum: Vec<Added>,
}

impl Cost {
    /// The server's, as it will be: with Outboard where that is.
    pub fn server_seconds(&self) -> f64 {
        self.outboard_seconds.unwrap_or(self.stock_seconds)
    }

    /// The same with its scatter.
    pub fn measured(&self) -> Measured {
        Measured::new(self.server_seconds(), self.scatter_seconds)
    }
}

impl Costs {
    /// Reads them from a document that `outboard advise tls --json` printed.
    ///
    /// # Errors
    /// In words.
    pub(super) fn read(file: &Path) -> Result<Self, Error> {
        document::measured(file, super::SCHEMA, "outboard advise tls --json")
    }

    /// Of one kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Cost> {
        self.costs.iter().filter(move |cost| cost.kind == kind)
    }
}
