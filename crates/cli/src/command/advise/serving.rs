//! The provider of the measured programs: Outboard, if it is installed.

use outboard_programs::{Offer, OpenSsl, Outboard, Workplace};
use std::path::PathBuf;

use crate::{Failure, module, system};

/// How to find it.
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

/// The provider that was found.
pub(super) struct Serving {
    outboard: Option<Outboard>,
    /// Why not Outboard, if it was looked for.
    pub(super) note: Option<String>,
}

impl Serving {
    /// Looks for the module as every command does.
    ///
    /// # Errors
    /// If one was named and is not there.
    pub(super) fn find(arguments: &ServingArguments) -> Result<Self, Failure> {
        let without = |note| {
            Ok(Self {
                outboard: None,
                note,
            })
        };
        if arguments.stock {
            return without(None);
        }
        let library = system::library()?;
        match module::find(arguments.module.as_deref(), Some(&library)) {
            Ok(module) => Ok(Self {
                outboard: Some(Outboard {
                    module,
                    offer: Offer::Profile,
                    profile: Some(arguments.profile.clone().unwrap_or_else(system::profile)),
                }),
                note: None,
            }),
            Err(error) if arguments.module.is_some() => Err(error.into()),
            Err(error) => without(Some(format!("measured without Outboard: {error}"))),
        }
    }

    /// Whether Outboard serves.
    pub(super) fn is_outboard(&self) -> bool {
        self.outboard.is_some()
    }

    /// A configuration for programs that makes it so.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn openssl(&self, workplace: &Workplace) -> Result<OpenSsl, Failure> {
        Ok(match &self.outboard {
            Some(outboard) => OpenSsl::outboard(workplace, outboard, "outboard")?,
            None => OpenSsl::stock(workplace)?,
        })
    }
}
