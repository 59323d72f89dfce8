//! The measured cost of TLS for a server and its clients.

use super::policy::Kind;
use crate::Failure;
use crate::command::advise::{document, order::Measured};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The cost of one choice: CPU seconds for a full handshake, or for 1 GiB (suites).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// The server's, under the system's OpenSSL alone.
    pub(crate) stock_seconds: f64,
    /// The server's, with Outboard; `None` if that is not installed.
    pub(crate) outboard_seconds: Option<f64>,
    /// Median of the pairs' ratios stock / Outboard.
    pub(crate) ratio: Option<f64>,
    /// The client's, under the system's OpenSSL alone.
    pub(crate) client_seconds: f64,
    /// The least and the most that the server took in the pairs, with Outboard where that is; `None` where these
    /// are too few to say.
    #[serde(default)]
    pub(crate) scatter_seconds: Option<[f64; 2]>,
    /// From how many pairs.
    pub(crate) pairs: u32,
}

/// The measurements and their conditions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Costs {
    /// The output of `openssl version`.
    pub(crate) openssl: String,
    /// One for each choice that this OpenSSL has.
    pub(crate) costs: Vec<Cost>,
}

impl Cost {
    /// The server's, as it will be: with Outboard where that is.
    pub(crate) fn server_seconds(&self) -> f64 {
        self.outboard_seconds.unwrap_or(self.stock_seconds)
    }

    /// The same with its scatter.
    pub(crate) fn measured(&self) -> Measured {
        Measured::new(self.server_seconds(), self.scatter_seconds)
    }
}

impl Costs {
    /// Reads them from a document that `outboard advise tls --json` printed.
    ///
    /// # Errors
    /// In words.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        document::measured(file, super::SCHEMA, "outboard advise tls --json")
    }

    /// Of one kind.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = &Cost> {
        self.costs.iter().filter(move |cost| cost.kind == kind)
    }
}
