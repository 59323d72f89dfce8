//! How careful an advice is.

use serde::Serialize;
use std::fmt;

/// How careful an advice is, and so for which peers it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Safe algorithms, the fastest first; then tolerated ones.
    #[default]
    Modern,
    /// All algorithms that are configured today and not broken, the fastest first.
    Compatible,
    /// Only what FIPS 140-3 modules may use.
    Fips,
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Modern => "modern",
            Self::Compatible => "compatible",
            Self::Fips => "fips",
        })
    }
}
