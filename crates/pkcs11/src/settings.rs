//! What the environment variable `OUTBOARD_PKCS11` says: the settings that Outboard has in `openssl.cnf`, by the same names,
//! such as `service=/tmp/keys, cards=2`.

use std::path::PathBuf;
use std::time::Duration;

use outboard_engine::profile::{Decision, SYSTEM_PATH};
use outboard_engine::{Machine, ledger, settings};

/// The module has no libcrypto to compare itself with: the oldest one that Outboard knows stands for it.
const OLDEST: &str = "3.0";

/// The settings of a process.
pub(crate) struct Settings {
    /// Where to count.
    pub(crate) ledger: PathBuf,
    /// How many cards at most; none for one per core.
    pub(crate) cards: Option<usize>,
    /// The card service's directory.
    pub(crate) service: PathBuf,
    /// How long the service is asked.
    pub(crate) limit: Option<Duration>,
    profile: PathBuf,
}

impl Settings {
    /// Reads them. What makes no sense is passed over.
    pub(crate) fn of_environment() -> Self {
        // A program that has more rights than its user takes nothing from him.
        // SAFETY: has no preconditions.
        let text = match unsafe { libc::getauxval(libc::AT_SECURE) } {
            0 => std::env::var("OUTBOARD_PKCS11").ok(),
            _ => None,
        };
        Self::read(&text.unwrap_or_default())
    }

    fn read(text: &str) -> Self {
        let mut settings = Self {
            // SAFETY: has no preconditions.
            ledger: ledger::default_path(unsafe { libc::geteuid() }),
            cards: None,
            service: outboard_wire::SYSTEM_DIRECTORY.into(),
            limit: None,
            profile: SYSTEM_PATH.into(),
        };
        for setting in text.split(',') {
            let Some((name, value)) = setting.split_once('=') else {
                continue;
            };
            match (name.trim(), value.trim()) {
                ("ledger", file) => settings.ledger = file.into(),
                ("profile", file) => settings.profile = file.into(),
                ("service", directory) => settings.service = directory.into(),
                ("service-limit", value) => settings.limit = settings::service_limit(value).ok(),
                ("cards", value) => settings.cards = settings::cards(value).unwrap_or_default(),
                _ => {}
            }
        }
        settings
    }

    /// What the profile says of this machine.
    pub(crate) fn decision(&self) -> Decision {
        let machine = Machine::glance();
        let decision = Decision::load_any(&self.profile, &machine);
        decision.unwrap_or_else(|_| Decision::built_in(&machine, OLDEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_nonsense_is_passed_over() {
        let settings =
            Settings::read("service = /tmp/keys,cards=2, , what, cards, limit=3,ledger=/dev/shm/l");
        assert_eq!(settings.service, PathBuf::from("/tmp/keys"));
        assert_eq!(settings.cards, Some(2));
        assert_eq!(settings.ledger, PathBuf::from("/dev/shm/l"));
        let none = Settings::read("");
        assert_eq!(none.service, PathBuf::from("/run/outboard"));
        assert_eq!(none.cards, None);
    }
}
