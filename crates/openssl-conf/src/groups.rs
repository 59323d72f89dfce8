//! The groups of TLS 1.3 with a post-quantum half, put into the list that libssl gives every program
//! (`system_default`, SSL_CTX_new(3)).
//!
//! ```text
//! [INIT]               ssl_conf = SSL                  if nothing names it yet
//! [SSL]                system_default = TLS            likewise
//! [TLS]                Groups = X25519MLKEM768:…       the new groups, then what was there
//! ```
//!
//! A program that names groups itself keeps its own list. Where the provider is gone, libssl does not know the new names,
//! and passes over the whole line: programs have the groups that they had before.

use super::config::{Assignment, Config, DEFAULT_SECTION};
use super::named::{modules, referenced};
use super::plan::{Lines, unused};
use super::{ConfError, refused};

/// The groups, as OpenSSL 3.5 names them and in its order.
pub const POST_QUANTUM: [&str; 3] = ["X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"];

/// What libssl before 3.5 has without a list.
const USUAL: &str =
    "X25519:P-256:X448:P-521:P-384:ffdhe2048:ffdhe3072:ffdhe4096:ffdhe6144:ffdhe8192";

/// Where the groups stand in the list. A client of libssl before 3.5 sends a share of the first group alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// First, for servers and clients.
    First,
    /// Behind the first group of the list: servers take them from clients that offer them, and clients begin as before.
    Second,
}

impl Place {
    /// The list with the groups in it.
    fn insert(self, list: &str) -> String {
        let known = |name: &&str| {
            POST_QUANTUM
                .iter()
                .any(|new| new.eq_ignore_ascii_case(name))
        };
        let names = list
            .split(':')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let mut all: Vec<&str> = names.filter(|name| !known(name)).collect();
        let place = match self {
            Self::First => 0,
            Self::Second => all.len().min(1),
        };
        all.splice(place..place, POST_QUANTUM);
        all.join(":")
    }

    /// Where a list has the groups; none where they are not in it.
    fn of(list: &str) -> Option<Self> {
        let mut names = list
            .split(':')
            .map(|name| name.trim_start_matches(['?', '*']).trim());
        match names.position(|name| name.eq_ignore_ascii_case(POST_QUANTUM[0]))? {
            0 => Some(Self::First),
            _ => Some(Self::Second),
        }
    }
}

impl Config {
    /// The list of groups that programs get which name none themselves, if the configuration has one.
    pub fn groups(&self) -> Option<&Assignment> {
        let init = self.assignment(DEFAULT_SECTION, "openssl_conf")?;
        let section = modules(self, &init.value, "ssl_conf").pop()?;
        let default = self.assignment(&section.value, "system_default")?;
        list(self, &default.value)
    }

    /// Where that list has the post-quantum groups.
    pub fn post_quantum_groups(&self) -> Option<Place> {
        Place::of(&self.groups()?.value)
    }
}

/// The last command of a section that sets groups. libssl takes a command in any case, and what stands before a dot away.
fn list<'a>(config: &'a Config, section: &str) -> Option<&'a Assignment> {
    let sets_groups = |assignment: &&Assignment| {
        let name = assignment.name.split_once('.');
        let name = name.map_or(assignment.name.as_str(), |(_, name)| name);
        ["groups", "curves"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
    };
    config.section(section)?.iter().rfind(sets_groups)
}

/// Adds the groups to what programs get by default.
///
/// # Errors
/// [`ConfError::Refused`] where the configuration names a section that is not there.
pub(super) fn add(
    config: &Config,
    init: &str,
    place: Place,
    lines: &mut Lines,
) -> Result<(), ConfError> {
    let section = match modules(config, init, "ssl_conf").pop() {
        Some(reference) => referenced(config, reference)?,
        None => {
            let section = unused(config, "outboard_ssl")?;
            lines.say(init, "ssl_conf", section);
            section
        }
    };
    let default = match config.assignment(section, "system_default") {
        Some(reference) => referenced(config, reference)?,
        None => {
            let default = unused(config, "outboard_tls")?;
            lines.say(section, "system_default", default);
            default
        }
    };
    let existing = list(config, default).map_or(USUAL, |list| list.value.as_str());
    if has_operators(existing) {
        return Err(refused(format!(
            "the list '{existing}' has a form that only OpenSSL 3.5 and later understand, which have these groups of \
             their own"
        )));
    }
    lines.say(default, "Groups", &place.insert(existing));
    Ok(())
}

/// Whether the list says more than names (SSL_CTX_set1_groups_list(3), since 3.5).
fn has_operators(list: &str) -> bool {
    let mut names = list.split(':');
    names.any(|name| name.contains(['/', '*', '?']) || name.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_put_into_a_list_once() {
        let first = Place::First.insert("X25519:P-256");
        assert_eq!(
            first,
            "X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:X25519:P-256"
        );
        assert_eq!(Place::First.insert(&first), first);
        assert_eq!(Place::of(&first), Some(Place::First));
        let second = Place::Second.insert(&first);
        assert_eq!(
            second,
            "X25519:X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:P-256"
        );
        assert_eq!(Place::of(&second), Some(Place::Second));
        assert_eq!(Place::of(USUAL), None);
        assert_eq!(Place::Second.insert(""), POST_QUANTUM.join(":"));
    }
}
