//! The arguments that `advise ssh` and `advise tls` share.

use outboard_advice as advice;
use std::fmt;
use std::path::PathBuf;

/// How careful an advice is, and so for which peers it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Level {
    /// Safe algorithms, the fastest first; then tolerated ones
    #[default]
    Modern,
    /// All algorithms that are configured today and not broken, the fastest first
    Compatible,
    /// Only what FIPS 140-3 modules may use
    Fips,
}

impl From<Level> for advice::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Modern => Self::Modern,
            Level::Compatible => Self::Compatible,
            Level::Fips => Self::Fips,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        advice::Level::from(*self).fmt(formatter)
    }
}

/// The provider of the measured programs.
#[derive(clap::Args)]
pub(super) struct ServingArguments {
    /// Measure with the system's OpenSSL alone, without Outboard
    #[arg(long, conflicts_with_all = ["module", "profile"])]
    stock: bool,
    /// The provider's module, instead of the installed one
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// The profile that Outboard decides by, instead of yours or the system's
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
}

impl From<ServingArguments> for advice::Wanted {
    fn from(arguments: ServingArguments) -> Self {
        match arguments.stock {
            true => Self::Stock,
            false => Self::Outboard {
                module: arguments.module,
                profile: arguments.profile,
            },
        }
    }
}
