//! The provider of the measured programs: Outboard, if it is installed.

use outboard_installation::{self as installation, module};
use outboard_programs::{Offer, OpenSsl, Outboard, Workplace};
use std::path::PathBuf;

use crate::Error;

/// The provider that the caller wants.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// The system's OpenSSL alone.
    Stock,
    /// Outboard, if it is installed.
    Outboard {
        /// Its module, instead of the installed one.
        module: Option<PathBuf>,
        /// The profile that it decides by, instead of the user's or the system's.
        profile: Option<PathBuf>,
    },
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
    pub(super) fn find(wanted: &Wanted) -> Result<Self, Error> {
        let without = |note| {
            Ok(Self {
                outboard: None,
                note,
            })
        };
        let Wanted::Outboard {
            module: named,
            profile,
        } = wanted
        else {
            return without(None);
        };
        let library = installation::library()?;
        match module::find(named.as_deref(), Some(&library)) {
            Ok(module) => Ok(Self {
                outboard: Some(Outboard {
                    module,
                    offer: Offer::Profile,
                    profile: Some(profile.clone().unwrap_or_else(installation::profile)),
                }),
                note: None,
            }),
            Err(error) if named.is_some() => Err(error.into()),
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
    pub(super) fn openssl(&self, workplace: &Workplace) -> Result<OpenSsl, Error> {
        Ok(match &self.outboard {
            Some(outboard) => OpenSsl::outboard(workplace, outboard, "outboard")?,
            None => OpenSsl::stock(workplace)?,
        })
    }

    /// The same with the keys and groups that Outboard adds.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn post_quantum(&self, workplace: &Workplace) -> Result<OpenSsl, Error> {
        Ok(match &self.outboard {
            Some(outboard) => {
                let settings = "post-quantum = yes\n";
                OpenSsl::outboard_with(workplace, outboard, "post-quantum", settings)?
            }
            None => OpenSsl::stock(workplace)?,
        })
    }
}
