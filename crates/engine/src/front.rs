//! How a front opens the engine that is not OpenSSL's, and so has no `openssl.cnf`: it is told the settings that Outboard has
//! there, by the same names, such as `service=/tmp/keys, cards=2`.

use std::path::PathBuf;
use std::time::Duration;

use crate::card::{self, Output, Request};
use crate::error::Result;
use crate::profile::{Decision, SYSTEM_PATH};
use crate::{Machine, Operation, Path, ledger, settings};

/// Such a front has no libcrypto to compare itself with: the oldest one that Outboard knows stands for it.
const OLDEST: &str = "3.0";

/// The settings of a process.
pub struct Settings {
    /// The card service's directory, where it is not the system's.
    pub service: Option<PathBuf>,
    /// How long the service is asked, where it is told.
    pub limit: Option<Duration>,
    ledger: PathBuf,
    cards: Option<usize>,
    profile: PathBuf,
}

/// Which path operations take in a process that [`Settings::open`]ed the engine.
pub struct Paths(Decision);

impl Settings {
    /// Reads them. What makes no sense is passed over.
    pub fn read(text: &str) -> Self {
        let mut settings = Self {
            service: None,
            limit: None,
            // SAFETY: has no preconditions.
            ledger: ledger::default_path(unsafe { libc::geteuid() }),
            cards: None,
            profile: SYSTEM_PATH.into(),
        };
        for setting in text.split(',') {
            let Some((name, value)) = setting.split_once('=') else {
                continue;
            };
            match (name.trim(), value.trim()) {
                ("ledger", file) => settings.ledger = file.into(),
                ("profile", file) => settings.profile = file.into(),
                ("service", directory) => settings.service = Some(directory.into()),
                ("service-limit", value) => settings.limit = settings::service_limit(value).ok(),
                ("cards", value) => settings.cards = settings::cards(value).unwrap_or_default(),
                _ => {}
            }
        }
        settings
    }

    /// Opens the ledger and the cards of this process. Threads are started only if that is allowed. Each call wants one
    /// [`close`].
    pub fn open(&self, may_start_threads: bool) -> Paths {
        ledger::open(&self.ledger);
        let machine = Machine::glance();
        let decision = Decision::load_any(&self.profile, &machine);
        let decision = decision.unwrap_or_else(|_| Decision::built_in(&machine, OLDEST));
        card::open(card::Settings {
            limit: match may_start_threads {
                true => self.cards,
                false => Some(0),
            },
            break_even: decision.break_even,
        });
        Paths(decision)
    }
}

/// Says that the caller of [`Settings::open`] asks for nothing more.
pub fn close() {
    card::close();
    ledger::close();
}

impl Paths {
    /// The path of an operation that no card does: ML-KEM's and ML-DSA's.
    pub fn of(&self, operation: Operation) -> Path {
        self.0.choices.path(operation)
    }

    /// Runs a request on this thread where the profile has it run alone; else the request comes back, for a card.
    ///
    /// # Errors
    /// The request.
    pub fn run_alone(&self, request: Request) -> std::result::Result<Result<Output>, Request> {
        match self.0.choices.path(request.operation()) {
            Path::Card => Err(request),
            _ => Ok(request.run_alone(&self.0.break_even)),
        }
    }

    /// Runs a request where the profile says, with others on a card or alone, and waits for its result.
    ///
    /// # Errors
    /// As [`card::run`].
    pub fn run(&self, request: Request) -> Result<Output> {
        self.run_alone(request).unwrap_or_else(card::run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_nonsense_is_passed_over() {
        let settings =
            Settings::read("service = /tmp/keys,cards=2, , what, cards, limit=3,ledger=/dev/shm/l");
        assert_eq!(settings.service, Some(PathBuf::from("/tmp/keys")));
        assert_eq!(settings.cards, Some(2));
        assert_eq!(settings.ledger, PathBuf::from("/dev/shm/l"));
        let none = Settings::read("");
        assert_eq!(none.service, None);
        assert_eq!(none.cards, None);
    }
}
