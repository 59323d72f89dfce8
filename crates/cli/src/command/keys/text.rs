//! What `outboard keys` says to people.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use outboard_administration::{AuditEntry, Grant, KeyInfo, Right, Subject};
use outboard_profile::rfc3339;
use outboard_wording::{count, printable};

use crate::Failure;
use crate::output::print;
use crate::table::{Align, Table};
use outboard_accounts::{self as accounts, Account};
use outboard_inspect::card_service::{option, time_of};

/// Says what to do with a key that is new in the service.
pub(super) fn tell_new(key: &KeyInfo, directory: &Path) -> Result<(), Failure> {
    let text = format!("The service has the key '{}' ({}).\n", key.name, key.kind);
    print(&(text + &unused(key, directory)))?;
    Ok(())
}

/// The same of a key that was there before.
pub(super) fn tell_known(key: &KeyInfo, directory: &Path) -> Result<(), Failure> {
    let text = format!(
        "The service had the key '{}' already ({}).\n",
        key.name, key.kind
    );
    print(&(text + &unused(key, directory)))?;
    Ok(())
}

/// What a key needs that nobody may use; otherwise nothing.
fn unused(key: &KeyInfo, directory: &Path) -> String {
    let mut text = String::new();
    if !key.grants.iter().any(|grant| grant.right == Right::Use) {
        text += &format!(
            "Nobody may use it yet. To let a server's user use it, run:\n  \
             outboard keys grant {} --user NAME{}\n",
            key.name,
            option(directory)
        );
    }
    text
}

/// Says which certificates a key has now.
pub(super) fn tell_certificates(key: &KeyInfo) -> Result<(), Failure> {
    let name = printable(&key.name);
    let text = match &key.certificates[..] {
        [] => format!("The key '{name}' has no certificate.\n"),
        [own] => format!("The key '{name}' has a certificate: {}.\n", printable(own)),
        [own, issuers @ ..] => format!(
            "The key '{name}' has a certificate, {}, and {} of its issuers.\n",
            printable(own),
            issuers.len()
        ),
    };
    print(&text)?;
    Ok(())
}

/// Whether this user administers every key: root and the service's own user do, to whom the directory belongs.
fn administers(directory: &Path) -> bool {
    let user = rustix::process::geteuid();
    user.is_root() || fs::metadata(directory).is_ok_and(|it| it.uid() == user.as_raw())
}

/// The keys as a table.
pub(super) fn list(keys: &[KeyInfo], directory: &Path) -> String {
    if keys.is_empty() && !administers(directory) {
        let user = accounts::name(Account::User, rustix::process::geteuid().as_raw());
        return format!(
            "You have a grant for no key. Root gives one: 'outboard keys grant NAME --user {user}{}'.\n",
            option(directory)
        );
    }
    if keys.is_empty() {
        return format!(
            "The service has no key that you may see. To make one, run 'outboard keys generate NAME --type p256{}'.\n",
            option(directory)
        );
    }
    let mut table = Table::new(&[
        ("key", Align::Left),
        ("type", Align::Left),
        ("made", Align::Left),
        ("used", Align::Right),
        ("may use it", Align::Left),
    ])
    .expendable(&["made"]);
    for key in keys {
        table.row([
            printable(&key.name),
            key.kind.clone(),
            day(key.created),
            count(key.used),
            names(&key.grants, Right::Use),
        ]);
    }
    table.render()
}

/// One key.
pub(super) fn show(key: &KeyInfo) -> String {
    let mut text = String::new();
    let mut line = |title: &str, value: String| text += &format!("{title:<14}{value}\n");
    line("key", printable(&key.name));
    line("id", key.id.clone());
    line("type", key.kind.clone());
    line("made", time(key.created));
    let leaves = match key.exportable {
        true => "may leave the service ('outboard keys export')",
        false => "never leaves the service",
    };
    line("private half", leaves.into());
    line("may use it", names(&key.grants, Right::Use));
    line("administer", names(&key.grants, Right::Administer));
    line(
        "used",
        format!("{} times since the service started", count(key.used)),
    );
    for (number, subject) in key.certificates.iter().enumerate() {
        let ends = key.certificate_ends.filter(|_| number == 0);
        let ends = ends.map(|ends| match time_of(ends) < SystemTime::now() {
            true => format!(" (expired on {})", day(ends)),
            false => format!(" (until {})", day(ends)),
        });
        line(
            "certificate",
            printable(subject) + &ends.unwrap_or_default(),
        );
    }
    if let Some(policy) = key.policy.as_object() {
        let says = |value: &serde_json::Value| match value.as_array() {
            Some(values) => !values.is_empty(),
            None => !value.is_null(),
        };
        for (name, value) in policy.iter().filter(|(_, value)| says(value)) {
            let value = match (value.as_array(), value["administrators"].as_array()) {
                (Some(values), _) => {
                    let words = values.iter().filter_map(|value| value.as_str());
                    words.collect::<Vec<_>>().join(", ")
                }
                (None, Some(uids)) => {
                    let uids = uids.iter().filter_map(|uid| uid.as_u64()?.try_into().ok());
                    let names = uids.map(|uid| accounts::name(Account::User, uid));
                    let names = names.collect::<Vec<_>>().join(", ");
                    format!("{} of {names}", value["needed"])
                }
                (None, None) => match (name.as_str(), value.as_u64()) {
                    ("valid_from" | "valid_to", Some(seconds)) => time(seconds),
                    _ => value.to_string(),
                },
            };
            line(&name.replace('_', " "), value);
        }
    }
    text
}

/// What administrators did, as a table.
pub(super) fn audit(entries: &[AuditEntry]) -> String {
    if entries.is_empty() {
        return "No administrator has done anything yet.\n".into();
    }
    let mut table = Table::new(&[
        ("entry", Align::Right),
        ("time", Align::Left),
        ("user", Align::Left),
        ("act", Align::Left),
        ("key", Align::Left),
        ("outcome", Align::Left),
    ]);
    for entry in entries {
        table.row([
            entry.number.to_string(),
            time(entry.time),
            accounts::name(Account::User, entry.uid),
            printable(&entry.act),
            entry.key.as_deref().map(printable).unwrap_or_default(),
            printable(&entry.outcome),
        ]);
    }
    table.render()
}

/// A user or a group, as a sentence begins with it.
pub(in crate::command) fn subject(subject: Subject) -> String {
    match subject {
        Subject::User(uid) => format!("User {}", accounts::name(Account::User, uid)),
        Subject::Group(gid) => format!("Group {}", accounts::name(Account::Group, gid)),
    }
}

/// Who has that right.
pub(in crate::command) fn names(grants: &[Grant], right: Right) -> String {
    let given = grants.iter().filter(|grant| grant.right == right);
    let names = given.map(|grant| match grant.to {
        Subject::User(uid) => accounts::name(Account::User, uid),
        Subject::Group(gid) => format!("group {}", accounts::name(Account::Group, gid)),
    });
    let names: Vec<_> = names.collect();
    match names.is_empty() {
        true => "nobody".into(),
        false => names.join(", "),
    }
}

pub(in crate::command) fn time(seconds: u64) -> String {
    rfc3339(time_of(seconds))
}

pub(in crate::command) fn day(seconds: u64) -> String {
    time(seconds).chars().take(10).collect()
}
