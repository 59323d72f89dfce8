//! `outboard cca udx`: user-defined extensions, added, granted, listed and called.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use outboard_accounts::{self as accounts, Account};
use outboard_cca::{Bytes, CallExtension, ExtensionInfo, Reply, Request, Rules, UserExtensions};
use outboard_wording::{count, printable};

use super::call::{answered, asked, from_value};
use crate::output::print;
use crate::table::{Align, Table};
use crate::{Failure, WrongUsage};

/// How long a call is waited for, in seconds.
const LIMIT: u64 = 60;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Add a module, or put it in the place of one of its name; then nobody but administrators may call it
    Add {
        /// Its name: up to 16 letters and digits
        name: String,
        /// A WebAssembly module (.wasm) of at most 48 KiB
        file: PathBuf,
        /// A verb that it may call; several times for more
        #[arg(long = "verb", value_name = "VERB")]
        verbs: Vec<String>,
        /// A key, as the module calls it: hexadecimal digits of its token, @FILE, or text:LABEL
        #[arg(long = "key", value_name = "NAME=VALUE")]
        keys: Vec<String>,
    },
    /// Remove a module, with what it knows of keys
    Remove {
        /// Its name
        name: String,
    },
    /// List the modules
    List,
    /// Let a user call a module
    Grant(GrantArguments),
    /// Take that back
    Revoke(GrantArguments),
    /// Call a module; prints a JSON document
    Call {
        /// Its name
        name: String,
        /// What it gets: hexadecimal digits, text:ABC, or @FILE
        #[arg(default_value = "")]
        input: String,
    },
}

#[derive(clap::Args)]
pub(super) struct GrantArguments {
    /// The module's name
    name: String,
    /// A user, by name or number
    #[arg(long)]
    user: String,
}

pub(super) fn run(command: Command, directory: &Path) -> Result<ExitCode, Failure> {
    let change = |rule: &str, request: UserExtensions| {
        let rule_array = Rules::of(&[rule]);
        let request = UserExtensions {
            rule_array,
            ..request
        };
        changed(request.into(), directory)
    };
    let named = |name: &str| UserExtensions {
        name: name.into(),
        ..Default::default()
    };
    match command {
        Command::Add {
            name,
            file,
            verbs,
            keys,
        } => {
            let module = std::fs::read(&file)
                .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            let keys = keys
                .iter()
                .map(|word| key(word))
                .collect::<Result<_, _>>()?;
            let request = UserExtensions {
                module: module.into(),
                keys,
                verbs,
                ..named(&name)
            };
            change("ADD", request)?;
            print(&format!(
                "{} is added. To let a user call it, run 'outboard cca udx grant {} --user NAME'.\n",
                printable(&name),
                printable(&name)
            ))?;
        }
        Command::Remove { name } => {
            change("REMOVE", named(&name))?;
            print(&format!("{} is removed.\n", printable(&name)))?;
        }
        Command::List => print(&list(&change("LIST", named(""))?))?,
        Command::Grant(GrantArguments { name, user }) => {
            let number = accounts::find(Account::User, &user)?;
            let request = UserExtensions {
                user: number,
                ..named(&name)
            };
            change("GRANT", request)?;
            let (user, name) = (printable(&user), printable(&name));
            print(&format!("{user} may now call {name}.\n"))?;
        }
        Command::Revoke(GrantArguments { name, user }) => {
            let number = accounts::find(Account::User, &user)?;
            let request = UserExtensions {
                user: number,
                ..named(&name)
            };
            change("REVOKE", request)?;
            let (user, name) = (printable(&user), printable(&name));
            print(&format!("{user} may not call {name}.\n"))?;
        }
        Command::Call { name, input } => {
            let request = CallExtension {
                name: name.as_str().into(),
                input: from_value(&input)
                    .map_err(|reason| WrongUsage(format!("'{}': {reason}", printable(&input))))?,
            };
            return answered(request.into(), directory, LIMIT);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A key of a module: `NAME=VALUE`.
fn key(word: &str) -> Result<(String, Bytes), Failure> {
    let wrong = |reason: String| WrongUsage(format!("'{}': {reason}", printable(word)));
    let (name, value) = word
        .split_once('=')
        .ok_or_else(|| wrong("a key is NAME=VALUE".into()))?;
    Ok((name.to_owned(), from_value(value).map_err(wrong)?))
}

/// The modules that there are after a change.
fn changed(request: Request, directory: &Path) -> Result<Vec<ExtensionInfo>, Failure> {
    let answer = asked(&request, directory, LIMIT)?;
    match answer.reply {
        Some(Reply::UserExtensions(reply)) => Ok(reply.extensions),
        _ => {
            let (code, reason) = (answer.return_code, answer.reason_code);
            let words = outboard_cca::Refusal::describe(code, reason).unwrap_or("It is refused.");
            Err(format!("{code}/{reason}: {words}").into())
        }
    }
}

fn list(all: &[ExtensionInfo]) -> String {
    if all.is_empty() {
        return "There is no user-defined extension.\n".to_owned();
    }
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("bytes", Align::Right),
        ("SHA-256", Align::Left),
        ("keys", Align::Left),
        ("verbs", Align::Left),
        ("users", Align::Left),
    ]);
    for one in all {
        let users: Vec<_> = one.users.iter().map(u32::to_string).collect();
        table.row([
            match one.ready {
                true => printable(&one.name),
                false => format!("{} (not valid)", printable(&one.name)),
            },
            count(one.size.into()),
            printable(one.sha_256.get(..16).unwrap_or(&one.sha_256)),
            printable(&one.keys.join(" ")),
            printable(&one.verbs.join(" ")),
            users.join(" "),
        ]);
    }
    table.render()
}
