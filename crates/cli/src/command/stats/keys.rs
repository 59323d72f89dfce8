//! `outboard stats --keys`: who used which key of the card service.

use std::path::Path;
use std::process::ExitCode;

use outboard_administration::Used;
use outboard_profile::rfc3339;
use outboard_wording::count;
use serde::Serialize;

use crate::Failure;
use crate::output::{print, print_json};
use crate::table::{Align, Table};
use outboard_accounts::{self as accounts, Account};
use outboard_inspect::card_service::{Answer, Place, Usage, time_of};
use outboard_ledger_report::openmetrics::OTHERS;

pub(super) fn show(json: bool) -> Result<ExitCode, Failure> {
    let place = Place::in_force();
    let usage = match place.usage() {
        Answer::Up(usage) => usage,
        answer => {
            let none = || "does not exist (docs/service.md says how to start one)".to_owned();
            let trouble = answer.trouble(&place).unwrap_or_else(none);
            return Err(format!("the card service {trouble}").into());
        }
    };
    match json {
        true => print_json("outboard-stats-keys", &document(&usage, &place.directory))?,
        false => print(&text(&usage))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(usage: &Usage) -> String {
    let since = rfc3339(time_of(usage.since));
    if usage.keys.is_empty() {
        let knows = match outboard_installation::is_root() {
            true => "",
            false => ", as far as this user may know",
        };
        return format!("No key was used since {since}, when the card service started{knows}.\n");
    }
    let mut users = Table::new(&[
        ("key", Align::Left),
        ("operation", Align::Left),
        ("user", Align::Left),
        ("count", Align::Right),
        ("refused", Align::Right),
        ("last use", Align::Left),
    ]);
    let mut processes = Table::new(&[
        ("key", Align::Left),
        ("process", Align::Right),
        ("command", Align::Left),
        ("user", Align::Left),
        ("count", Align::Right),
        ("refused", Align::Right),
        ("last use", Align::Left),
    ]);
    for key in &usage.keys {
        for row in &key.users {
            let [count, refused, last] = figures(row.used);
            users.row([
                key.name.clone(),
                row.operation.clone().unwrap_or_default(),
                user(row.uid),
                count,
                refused,
                last,
            ]);
        }
        for row in &key.processes {
            let [count, refused, last] = figures(row.used);
            processes.row([
                key.name.clone(),
                row.pid.map(|pid| pid.to_string()).unwrap_or_default(),
                row.command.clone().unwrap_or_default(),
                user(row.uid),
                count,
                refused,
                last,
            ]);
        }
    }
    format!(
        "{}\n{}\nSince {since}, when the card service started.\n",
        users.render(),
        processes.render()
    )
}

/// A user's name; the word for all users that are not told apart.
fn user(uid: Option<u32>) -> String {
    uid.map_or_else(
        || OTHERS.to_owned(),
        |uid| accounts::name(Account::User, uid),
    )
}

fn figures(used: Used) -> [String; 3] {
    [
        count(used.count),
        count(used.refused),
        rfc3339(time_of(used.last)),
    ]
}

#[derive(Serialize)]
struct Document<'a> {
    directory: &'a Path,
    since: String,
    keys: Vec<Key<'a>>,
}

#[derive(Serialize)]
struct Key<'a> {
    name: &'a str,
    id: &'a str,
    users: Vec<User<'a>>,
    processes: Vec<Process<'a>>,
}

#[derive(Serialize)]
struct User<'a> {
    /// None for the sum of others.
    uid: Option<u32>,
    user: Option<String>,
    operation: Option<&'a str>,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize)]
struct Process<'a> {
    /// None for the sum of others.
    pid: Option<u32>,
    command: Option<&'a str>,
    uid: Option<u32>,
    user: Option<String>,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize)]
struct Figures {
    count: u64,
    refused: u64,
    last: String,
}

impl From<Used> for Figures {
    fn from(used: Used) -> Self {
        Self {
            count: used.count,
            refused: used.refused,
            last: rfc3339(time_of(used.last)),
        }
    }
}

fn document<'a>(usage: &'a Usage, directory: &'a Path) -> Document<'a> {
    let name = |uid: Option<u32>| uid.map(|uid| accounts::name(Account::User, uid));
    let keys = usage.keys.iter().map(|key| Key {
        name: &key.name,
        id: &key.id,
        users: key
            .users
            .iter()
            .map(|row| User {
                uid: row.uid,
                user: name(row.uid),
                operation: row.operation.as_deref(),
                figures: row.used.into(),
            })
            .collect(),
        processes: key
            .processes
            .iter()
            .map(|row| Process {
                pid: row.pid,
                command: row.command.as_deref(),
                uid: row.uid,
                user: name(row.uid),
                figures: row.used.into(),
            })
            .collect(),
    });
    Document {
        directory,
        since: rfc3339(time_of(usage.since)),
        keys: keys.collect(),
    }
}
