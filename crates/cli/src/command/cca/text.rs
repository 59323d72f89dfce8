//! What `outboard cca` says to people.

use outboard_administration::{CoprocessorInfo, Right};
use outboard_cca::{Description, Parameter, Request};
use outboard_wording::{count, printable};

use crate::command::keys::text::names;
use crate::table::{Align, Table};

const WARNING: &str =
    "It is for development, tests and migration: not tamper-proof, not certified.\n";

/// After `enable`.
pub(super) fn enabled(info: &CoprocessorInfo, option: &str) -> String {
    let mut text = format!("The coprocessor is on. {WARNING}");
    if info.grants.is_empty() {
        text += &format!(
            "Administrators of the service may call it. To let a user call its verbs, run:\n  \
             outboard cca grant --user NAME{option}\n"
        );
    }
    text
}

pub(super) fn status(info: &CoprocessorInfo, option: &str) -> String {
    if !info.made {
        return format!(
            "The service has no coprocessor. Root makes it by 'outboard cca enable{option}'.\n"
        );
    }
    let state = if info.enabled { "on" } else { "off" };
    let mut text = format!("The coprocessor is {state}. {WARNING}");
    if !info.may_administer {
        text += match info.may_call {
            true => "You may call its verbs.\n",
            false => "You may not call its verbs.\n",
        };
        return text;
    }
    let who = |right| match info.grants.iter().any(|grant| grant.right == right) {
        false => "administrators of the service".to_owned(),
        true => format!(
            "administrators of the service, {}",
            names(&info.grants, right)
        ),
    };
    text += &format!("may call it        {}\n", who(Right::Use));
    text += &format!("may administer it  {}\n", who(Right::Administer));
    if let Some(records) = info.records {
        text += &format!("labels             {}\n", count(records));
    }
    if info.verbs.is_empty() {
        return text + "No verb was called since the service started.\n";
    }
    let mut table = Table::new(&[
        ("verb", Align::Left),
        ("done", Align::Right),
        ("not verified", Align::Right),
        ("refused", Align::Right),
    ]);
    for verb in &info.verbs {
        table.row([
            printable(&verb.verb),
            count(verb.done),
            count(verb.unverified),
            count(verb.refused),
        ]);
    }
    text + "\n" + &table.render()
}

/// All verbs.
pub(super) fn verbs() -> String {
    let mut table = Table::new(&[
        ("verb", Align::Left),
        ("words", Align::Left),
        ("what it does", Align::Left),
    ])
    .expendable(&["words"]);
    for verb in Request::VERBS {
        table.row([
            verb.name.to_owned(),
            verb.words(),
            verb.purpose.trim().to_owned(),
        ]);
    }
    table.render()
}

/// One verb.
pub(super) fn verb(verb: &Description) -> String {
    let mut text = format!(
        "{} ({})\n{}\n",
        verb.name,
        verb.words(),
        verb.purpose.trim()
    );
    for (title, all) in [("takes", verb.parameters), ("makes", verb.results)] {
        if !all.is_empty() {
            text += &format!("\n{}", parameters(title, all));
        }
    }
    text
}

fn parameters(title: &'static str, all: &[Parameter]) -> String {
    let mut table = Table::new(&[(title, Align::Left), ("", Align::Left)]);
    for parameter in all {
        table.row([parameter.name.to_owned(), kind(parameter.kind).to_owned()]);
    }
    table.render()
}

/// What a kind of parameter is, in words.
pub(super) fn kind(kind: &'static str) -> &'static str {
    match kind {
        "Bytes" => "bytes",
        "Keyword" => "keyword",
        "Rules" => "keywords",
        "u32" => "number",
        "String" => "text",
        "bool" => "true or false",
        "Vec<u16>" => "numbers",
        "Vec<(String, Bytes)>" => "pairs of a text and bytes",
        "Vec<ExtensionInfo>" => "list",
        "Vec<String>" => "texts",
        "Vec<(String, String)>" => "pairs of texts",
        other => other,
    }
}
