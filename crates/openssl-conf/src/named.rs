//! The providers that a configuration names, and the settings of Outboard's provider.

use super::config::{Assignment, Config, DEFAULT_SECTION};
use super::groups::Place;
use super::{ConfError, Settings, refused};
use std::path::PathBuf;

/// The provider's name in a configuration.
pub(super) const PROVIDER: &str = "outboard";
/// The name of the stand-in of the default provider.
pub const OBSERVED: &str = "observed_default";
/// OpenSSL's provider of what is old.
pub(super) const LEGACY: &str = "legacy";
/// The name of its stand-in where it stays active beside.
pub(super) const OBSERVED_LEGACY: &str = "observed_legacy";

/// The setting that gives programs post-quantum keys and groups.
pub(super) const POST_QUANTUM_SETTING: &str = "post-quantum";

/// Where and how a configuration names Outboard.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// The section of its settings.
    pub section: String,
    /// Whether programs prefer it to the default provider.
    pub preferred: bool,
}

impl Config {
    /// The settings of the provider outboard, if it is configured.
    pub fn outboard_settings(&self) -> Option<Settings> {
        let section = self.outboard()?.section;
        let path = |name| {
            let setting = self.assignment(&section, name)?;
            Some(PathBuf::from(&setting.value))
        };
        let offer = self.assignment(&section, "offer");
        Some(Settings {
            // The observer's own module stands in for the one that it names.
            module: path("inner").or_else(|| path("module")),
            profile: path("profile"),
            ledger: path("ledger"),
            offer: offer.and_then(|offer| clap::ValueEnum::from_str(&offer.value, true).ok()),
            post_quantum: match self.assignment(&section, POST_QUANTUM_SETTING) {
                Some(setting) if !is_false(&setting.value) => {
                    Some(self.post_quantum_groups().unwrap_or(Place::Second))
                }
                _ => None,
            },
            others: self.other_settings(&section),
        })
    }

    /// Where the provider outboard is configured, if it is.
    pub fn outboard(&self) -> Option<Named> {
        let init = &self.assignment(DEFAULT_SECTION, "openssl_conf")?.value;
        let section = modules(self, init, "providers")
            .into_iter()
            .flat_map(|list| self.section(&list.value).unwrap_or_default())
            .filter_map(|entry| Entry::new(self, entry).ok())
            .find(|entry| entry.provider == PROVIDER)?
            .section;
        let properties = modules(self, init, "alg_section").into_iter().next_back();
        let query = properties.and_then(|p| self.assignment(&p.value, "default_properties"));
        Some(Named {
            section,
            preferred: query.is_some_and(|query| query.value.split(',').any(prefers)),
        })
    }

    /// The active providers that are not observed, if others are.
    pub fn unobserved(&self) -> Vec<String> {
        let Some(init) = self.assignment(DEFAULT_SECTION, "openssl_conf") else {
            return Vec::new();
        };
        let entries: Vec<Entry> = modules(self, &init.value, "providers")
            .into_iter()
            .flat_map(|list| self.section(&list.value).unwrap_or_default())
            .filter_map(|entry| Entry::new(self, entry).ok())
            .collect();
        let legacy_is_observed = entries
            .iter()
            .any(|entry| entry.active && entry.provider == OBSERVED_LEGACY);
        let others = entries
            .into_iter()
            .filter(|entry| entry.provider != OBSERVED)
            .filter(|entry| !legacy_is_observed || entry.provider != LEGACY)
            // A stand-in names the provider that it replaces.
            .filter(|entry| self.assignment(&entry.section, "inner").is_none());
        unobserved(&others.collect::<Vec<_>>())
    }
}

/// The active providers with cryptography, except the default provider.
pub(super) fn unobserved(entries: &[Entry]) -> Vec<String> {
    let others = entries
        .iter()
        .filter(|entry| entry.active)
        .filter(|entry| !["default", "base", "null"].contains(&entry.provider.as_str()));
    others.map(|entry| entry.provider.clone()).collect()
}

/// An entry of the list of providers.
pub(super) struct Entry {
    /// What the list calls it.
    pub(super) name: String,
    /// The provider's name, which `identity` in its section may change.
    pub(super) provider: String,
    pub(super) section: String,
    pub(super) active: bool,
    pub(super) origin: String,
}

impl Entry {
    pub(super) fn new(config: &Config, entry: &Assignment) -> Result<Self, ConfError> {
        let section = referenced(config, entry)?.to_owned();
        let setting = |name: &str| {
            let mut settings = config.section(&section).unwrap_or_default().iter();
            settings.rfind(|setting| after_dot(&setting.name) == name)
        };
        Ok(Self {
            name: entry.name.clone(),
            provider: setting("identity")
                .map_or(after_dot(&entry.name), |identity| &identity.value)
                .to_owned(),
            // OpenSSL 3.0 and 3.1 read any value as yes. But a user who wrote "no" meant no.
            active: setting("activate").is_some_and(|activate| !is_false(&activate.value)),
            origin: entry.origin.to_string(),
            section,
        })
    }
}

/// The assignments that run a configuration module, which may be called `name` or `name.anything`.
pub(super) fn modules<'a>(config: &'a Config, init: &str, name: &str) -> Vec<&'a Assignment> {
    let module = |assignment: &Assignment| {
        assignment
            .name
            .rsplit_once('.')
            .map_or(assignment.name.as_str(), |(module, _)| module)
            == name
    };
    let init = config.section(init).unwrap_or_default();
    init.iter()
        .filter(|assignment| module(assignment))
        .collect()
}

/// The section that an assignment names, if it exists and can be opened again.
pub(super) fn referenced<'a>(
    config: &Config,
    reference: &'a Assignment,
) -> Result<&'a str, ConfError> {
    let section = reference.value.as_str();
    let reason = if config.section(section).is_none() {
        "but there is no such section"
    } else if !is_plain(section) {
        "a name that cannot be written again safely"
    } else {
        return Ok(section);
    };
    Err(refused(format!(
        "{}: {} names the section [{section}], {reason} (correct that line first)",
        reference.origin, reference.name
    )))
}

/// A section's name that a header can hold as it is.
pub(super) fn is_plain(section: &str) -> bool {
    !section.is_empty()
        && section
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.,/ ".contains(&byte))
        && section.trim() == section
}

/// Whether a line in the provider's section is written by `outboard enable` itself, by its own rules.
pub(super) fn structural(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "module",
        "inner",
        "beside",
        "record",
        "identity",
        "activate",
        "profile",
        "ledger",
        "offer",
        POST_QUANTUM_SETTING,
    ];
    NAMES.contains(&after_dot(name))
}

/// OpenSSL allows "1.default" and "2.default" where one name could stand only once.
fn after_dot(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, rest)| rest)
}

/// Whether a clause of a query asks for Outboard.
fn prefers(clause: &str) -> bool {
    clause.trim().trim_start_matches('?') == "provider=outboard"
}

pub(super) fn is_false(value: &str) -> bool {
    matches!(
        value.to_ascii_lowercase().as_str(),
        "0" | "no" | "false" | "off"
    )
}
