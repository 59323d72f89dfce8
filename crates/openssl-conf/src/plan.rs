//! What must be said to put Outboard beside what a configuration already says.
//!
//! ```text
//! [default]            openssl_conf = INIT             if nothing names it yet
//! [INIT]               providers = PROVIDERS           likewise
//!                      alg_section = PROPERTIES        likewise
//! [PROVIDERS]          default = DEFAULT               likewise
//!                      outboard = outboard_sect
//! [DEFAULT]            activate = 1                    if the default provider was active by itself
//! [outboard_sect]      activate, module, profile, ledger, offer
//! [PROPERTIES]         default_properties = WHAT IT WAS,?provider=outboard,?outboard.preferred=yes
//! ```
//!
//! To bring the post-quantum groups of TLS, [`super::groups`] has a list more.
//!
//! To observe, a stand-in takes the place of each provider that it observes:
//!
//! ```text
//! [PROVIDERS]          observed_default = outboard_observed
//! [outboard_observed]  module = outboard-observe.so, record, activate
//! [outboard_sect]      module = outboard-observe.so, inner = outboard.so, …
//! [outboard_legacy]    module = outboard-observe.so, inner = legacy.so, record
//! ```
//!
//! The last for one program, and not activated: OpenSSL takes it where a program loads `legacy` by itself. For a whole
//! system that activates `legacy`, one is active beside it, as beside the default provider:
//!
//! ```text
//! [PROVIDERS]          observed_legacy = outboard_legacy
//! ```
//!
//! For one program the default provider itself is then inactive, or OpenSSL 3.0 would try every
//! decoder of both with every key. For a whole system it stays active beside its stand-in, which is
//! preferred (`?outboard.observed=yes`): should the module vanish, programs go on.
//!
//! The default provider is active by itself only while no other is activated: that is why it must
//! be named as soon as Outboard is (OSSL_PROVIDER-default(7)).

use super::config::{Config, DEFAULT_SECTION};
use super::groups::{self, Place};
use super::named::{
    Entry, LEGACY, OBSERVED, OBSERVED_LEGACY, POST_QUANTUM_SETTING, PROVIDER, is_false, is_plain,
    modules, referenced, unobserved,
};
use super::value::quote;
use super::{ConfError, refused};
use std::fmt;
use std::path::{Path, PathBuf};

/// Preferred where it has an implementation, no hindrance where it has none (property(7)). Said twice: what a
/// program asks of `provider` itself takes the place of the first, as in stunnel (`provider!=fips`).
const PREFERENCE: &str = "?provider=outboard,?outboard.preferred=yes";
/// What the stand-in of the default provider is preferred by where both are active.
const OBSERVED_PREFERENCE: &str = "?outboard.observed=yes";

/// Which operations the provider offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Offer {
    /// Those that win by the profile.
    Profile,
    /// All that it implements, winning or not.
    All,
    /// None: it is loaded and does nothing.
    None,
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Profile => "profile",
            Self::All => "all",
            Self::None => "none",
        })
    }
}

/// The provider's settings. `None` leaves out the line, and the provider uses its default.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The file `outboard.so`; `None`: OpenSSL looks in its modules directory.
    pub module: Option<PathBuf>,
    /// Where the profile is.
    pub profile: Option<PathBuf>,
    /// Where the counters are.
    pub ledger: Option<PathBuf>,
    /// Which operations are offered.
    pub offer: Option<Offer>,
    /// Whether the post-quantum groups of TLS are to be there, and where in the list of groups.
    pub post_quantum: Option<Place>,
    /// Further lines of its section, which a person wrote there: name and value.
    pub others: Vec<(String, String)>,
}

/// How providers are observed.
#[derive(Clone, Debug)]
pub struct Observer {
    /// The file `outboard-observe.so`.
    pub module: PathBuf,
    /// Where to count; `None`: in the user's record.
    pub record: Option<PathBuf>,
    /// Whether the default provider stays active beside its stand-in.
    pub beside: bool,
}

/// What to add to a configuration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The lines of the block.
    pub(super) lines: String,
    /// What its user should know, one sentence each.
    pub(super) notes: Vec<String>,
    /// The active providers that are not observed.
    pub(super) unobserved: Vec<String>,
}

/// Plans how `config` comes to load Outboard (where there are settings for it) and prefer it, and to be
/// observed (where there is an observer).
///
/// # Errors
/// [`ConfError::Refused`] where adding it would change what the configuration means now.
pub(super) fn plan(
    config: &Config,
    settings: Option<&Settings>,
    observer: Option<&Observer>,
) -> Result<Plan, ConfError> {
    if config.ends_in_continuation {
        return Err(refused(
            "the last line ends in a backslash and would swallow the next one (remove it)",
        ));
    }
    let mut lines = Lines::default();
    let (mut notes, mut unobserved) = (Vec::new(), Vec::new());
    let init = match config.assignment(DEFAULT_SECTION, "openssl_conf") {
        Some(reference) => referenced(config, reference)?,
        None => {
            let init = unused(config, "outboard_init")?;
            lines.say(DEFAULT_SECTION, "openssl_conf", init);
            init
        }
    };
    add_providers(
        config,
        settings,
        observer,
        init,
        &mut lines,
        &mut unobserved,
    )?;
    let mut preferences = Vec::new();
    preferences.extend(settings.map(|_| PREFERENCE));
    preferences.extend(observer.filter(|o| o.beside).map(|_| OBSERVED_PREFERENCE));
    if !preferences.is_empty() {
        add_preference(config, init, &preferences, &mut lines, &mut notes)?;
    }
    if let Some(place) = settings.and_then(|settings| settings.post_quantum) {
        groups::add(config, init, place, &mut lines)?;
    }
    Ok(Plan {
        lines: lines.finish(&config.last_section),
        notes,
        unobserved,
    })
}

fn add_providers(
    config: &Config,
    settings: Option<&Settings>,
    observer: Option<&Observer>,
    init: &str,
    lines: &mut Lines,
    unseen: &mut Vec<String>,
) -> Result<(), ConfError> {
    let lists = modules(config, init, "providers");
    let mut entries = Vec::new();
    for list in &lists {
        let list = referenced(config, list)?;
        for entry in config.section(list).unwrap_or_default() {
            entries.push(Entry::new(config, entry)?);
        }
    }
    let default = entries.iter().find(|entry| entry.provider == "default");
    let default_is_active = default.is_some_and(|entry| entry.active);
    let others = entries.iter().find(|e| e.active && e.provider != PROVIDER);
    if let Some(other) = others.filter(|_| !default_is_active) {
        return Err(refused(format!(
            "{} activates the provider {} without the default provider. Outboard needs the default provider \
             (activate the default provider too, or leave this system as it is)",
            other.origin, other.provider
        )));
    }

    let list = match lists.first() {
        Some(list) => list.value.as_str(),
        None => {
            let list = unused(config, "outboard_providers")?;
            lines.say(init, "providers", list);
            list
        }
    };
    let mut to_activate: Vec<&str> = Vec::new();
    match (observer, default) {
        (Some(observer), _) if !observer.beside => {
            // Only named providers are active. An unnamed default provider beside its stand-in is not active.
            if let Some(default) = default.filter(|default| default.active) {
                let idle = unused(config, "outboard_idle")?;
                lines.say(list, &default.name, idle);
                lines.open(idle);
            }
        }
        (_, Some(default)) if default.active => {}
        (_, Some(default)) => to_activate.push(&default.section),
        (_, None) => {
            let section = unused(config, "outboard_default")?;
            lines.say(list, "default", section);
            to_activate.push(section);
        }
    }
    // If a user configured Outboard by hand, that section stays, and the block's assignments in it win.
    let ours = match entries.iter().find(|entry| entry.provider == PROVIDER) {
        _ if settings.is_none() => "",
        Some(entry) => entry.section.as_str(),
        None => {
            let section = unused(config, "outboard_sect")?;
            lines.say(list, PROVIDER, section);
            section
        }
    };
    for section in to_activate {
        lines.say(section, "activate", "1");
    }
    if let Some(observer) = observer {
        let section = unused(config, "outboard_observed")?;
        lines.say(list, OBSERVED, section);
        lines.say_path(section, "module", &observer.module)?;
        if let Some(record) = &observer.record {
            lines.say_path(section, "record", record)?;
        }
        if observer.beside {
            lines.say(section, "beside", "yes");
        }
        lines.say(section, "activate", "1");
        *unseen = unobserved(&entries);
        unseen.retain(|provider| provider != PROVIDER || settings.is_none());
        if observe_legacy(config, observer, list, &entries, lines)? {
            unseen.retain(|provider| provider != LEGACY);
        }
    }
    let Some(settings) = settings else {
        return Ok(());
    };
    match (observer, &settings.module) {
        (None, None) => {}
        (None, Some(module)) => lines.say_path(ours, "module", module)?,
        (Some(observer), module) => {
            let inner = module.as_ref().ok_or_else(|| {
                refused("the module outboard.so must be named to be observed (--module FILE)")
            })?;
            lines.say_path(ours, "module", &observer.module)?;
            lines.say_path(ours, "inner", inner)?;
            if observer.beside {
                // As preferred as the stand-in that it shall be preferred to.
                lines.say(ours, "beside", "yes");
            }
            if let Some(record) = &observer.record {
                lines.say_path(ours, "record", record)?;
            }
        }
    }
    for (name, path) in [("profile", &settings.profile), ("ledger", &settings.ledger)] {
        if let Some(path) = path {
            lines.say_path(ours, name, path)?;
        }
    }
    if let Some(offer) = settings.offer {
        lines.say(ours, "offer", &offer.to_string());
    }
    let mut others = settings.others.clone();
    if settings.post_quantum.is_none() {
        others.retain(|(name, _)| name != POST_QUANTUM_SETTING);
    } else if !others.iter().any(|(name, _)| name == POST_QUANTUM_SETTING) {
        // A person who asked for more there keeps it.
        let written = config.assignment(ours, POST_QUANTUM_SETTING);
        let written = written.filter(|setting| !is_false(&setting.value));
        let value = written.map_or("yes", |setting| &setting.value);
        lines.say(ours, POST_QUANTUM_SETTING, value);
    }
    for (name, value) in &others {
        lines.say(ours, name, value);
    }
    lines.say(ours, "activate", "1");
    Ok(())
}

/// Lets the provider `legacy` be observed, and answers whether it is. For one program, a stand-in takes its place. For a
/// whole system this is not safe: if the module disappeared, programs would lose `legacy`. There, the stand-in is active
/// beside `legacy`, and only where `legacy` itself is active. (No other provider gets a stand-in, because a provider may
/// check the file that it was loaded from, as `fips` does.)
fn observe_legacy(
    config: &Config,
    observer: &Observer,
    list: &str,
    entries: &[Entry],
    lines: &mut Lines,
) -> Result<bool, ConfError> {
    let entry = entries.iter().find(|entry| entry.provider == LEGACY);
    let section = match entry {
        Some(entry) if observer.beside && entry.active => {
            let section = unused(config, "outboard_legacy")?;
            lines.say(list, OBSERVED_LEGACY, section);
            section
        }
        _ if observer.beside => return Ok(false),
        None => {
            let section = unused(config, "outboard_legacy")?;
            lines.say(list, LEGACY, section);
            section
        }
        Some(entry) => {
            let of_section = |other: &&Entry| other.section == entry.section;
            if entries.iter().filter(of_section).count() > 1 {
                return Ok(false);
            }
            &entry.section
        }
    };
    // OpenSSL seeks a module by its provider's name where none is named, in the directory of its modules.
    let inner = match entry.and_then(|entry| config.assignment(&entry.section, "module")) {
        Some(module) => module.value.as_str(),
        None => LEGACY,
    };
    // With its ending, for the name alone may be that of a section.
    let ending = match inner.contains('/') || inner.ends_with(".so") {
        true => "",
        false => ".so",
    };
    lines.say(section, "inner", &format!("{inner}{ending}"));
    lines.say_path(section, "module", &observer.module)?;
    if let Some(record) = &observer.record {
        lines.say_path(section, "record", record)?;
    }
    if observer.beside {
        lines.say(section, "beside", "yes");
        lines.say(section, "activate", "1");
    }
    Ok(true)
}

fn add_preference(
    config: &Config,
    init: &str,
    preferences: &[&'static str],
    lines: &mut Lines,
    notes: &mut Vec<String>,
) -> Result<(), ConfError> {
    let modules = modules(config, init, "alg_section");
    // Each section replaces the properties that an earlier one has set.
    let Some(last) = modules.last() else {
        let properties = unused(config, "outboard_properties")?;
        lines.say(init, "alg_section", properties);
        lines.say(properties, "default_properties", &preferences.join(","));
        return Ok(());
    };
    let properties = referenced(config, last)?;
    let existing = config.assignment(properties, "default_properties");
    let clauses: Vec<&str> = existing
        .map(|existing| existing.value.as_str())
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|clause| !clause.is_empty())
        .collect();
    // The first clause identifies a preference.
    let is_there = |preference: &str| {
        let first = preference.split(',').next().unwrap_or_default();
        clauses
            .iter()
            .any(|clause| clause.trim_start_matches('?') == first.trim_start_matches('?'))
    };
    let missing: Vec<&str> = preferences
        .iter()
        .copied()
        .filter(|preference| !is_there(preference))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if let (Some(existing), Some(clause)) = (
        existing.filter(|_| missing.contains(&PREFERENCE)),
        clauses.iter().find(|clause| property(clause) == "provider"),
    ) {
        return Err(refused(format!(
            "{} already says which provider to prefer: '{clause}' (remove that clause first)",
            existing.origin
        )));
    }
    let demands_fips = clauses
        .iter()
        .any(|c| property(c) == "fips" && !c.starts_with(['?', '-']))
        || config
            .assignment(properties, "fips_mode")
            .is_some_and(|mode| !is_false(&mode.value));
    if demands_fips && missing.contains(&PREFERENCE) {
        notes.push(format!(
            "{properties} demands FIPS-approved implementations. Outboard's are not approved, so OpenSSL will \
             not choose them"
        ));
    }
    let composed: Vec<&str> = clauses.into_iter().chain(missing).collect();
    lines.say(properties, "default_properties", &composed.join(","));
    Ok(())
}

/// The lines of the block so far, by section in the order of their first line.
#[derive(Default)]
pub(super) struct Lines {
    sections: Vec<(String, String)>,
}

impl Lines {
    pub(super) fn say(&mut self, section: &str, name: &str, value: &str) {
        let line = format!("{name} = {}\n", quote(value));
        match self.sections.iter_mut().find(|(known, _)| known == section) {
            Some((_, lines)) => lines.push_str(&line),
            None => self.sections.push((section.to_owned(), line)),
        }
    }

    /// # Errors
    /// For a path that no configuration can hold.
    fn say_path(&mut self, section: &str, name: &str, path: &Path) -> Result<(), ConfError> {
        let text = path
            .to_str()
            .filter(|path| !path.contains(['\n', '\r']))
            .ok_or_else(|| {
                refused(format!(
                    "the path {} cannot be written into a configuration",
                    path.display()
                ))
            })?;
        self.say(section, name, text);
        Ok(())
    }

    /// A section that is there, and says nothing.
    fn open(&mut self, section: &str) {
        self.sections.push((section.to_owned(), String::new()));
    }

    /// The text, which leaves `last_section` open: a line that someone adds at the end of the file
    /// later belongs where it would have belonged without the block.
    fn finish(self, last_section: &str) -> String {
        let mut text: String = self
            .sections
            .iter()
            .map(|(section, lines)| format!("[{section}]\n{lines}"))
            .collect();
        let open = self.sections.last().map(|(section, _)| section.as_str());
        if open != Some(last_section) && is_plain(last_section) {
            text.push_str("# Lines below belong to the section that they belonged to before.\n");
            text.push_str(&format!("[{last_section}]\n"));
        }
        text
    }
}

/// A section of ours that the configuration does not use for something else.
pub(super) fn unused<'a>(config: &Config, name: &'a str) -> Result<&'a str, ConfError> {
    match config.section(name) {
        None | Some([]) => Ok(name),
        Some([first, ..]) => Err(refused(format!(
            "{} already uses the section [{name}] (rename it first)",
            first.origin
        ))),
    }
}

/// The property that a clause of a query is about: `fips` in `?fips=yes`.
fn property(clause: &str) -> &str {
    let end = clause.find(['=', '!']).unwrap_or(clause.len());
    clause[..end].trim_start_matches(['?', '-']).trim()
}
