//! What `outboard token` says to people.

use outboard_administration::{Login, Right, TokenInfo};
use outboard_wording::{count, printable};

use crate::command::keys::text::{day, names};
use crate::table::{Align, Table};

/// The tokens as a table.
pub(super) fn list(tokens: &[TokenInfo], option: &str) -> String {
    if tokens.is_empty() {
        return format!(
            "The service has no token that you may see. Root makes one by 'outboard token init NAME{option}'.\n"
        );
    }
    let mut table = Table::new(&[
        ("token", Align::Left),
        ("slot", Align::Right),
        ("label", Align::Left),
        ("objects", Align::Right),
        ("user's PIN", Align::Left),
        ("made", Align::Left),
        ("may use it", Align::Left),
    ])
    .expendable(&["made", "label"]);
    for token in tokens {
        table.row([
            printable(&token.name),
            token.slot.to_string(),
            printable(&token.label),
            count(token.objects),
            login(token.user),
            day(token.created),
            names(&token.grants, Right::Use),
        ]);
    }
    table.render()
}

fn login(login: Login) -> String {
    match login {
        Login::Grant => "none needed".into(),
        Login::Unset => "not set".into(),
        Login::Pin { locked: true, .. } => "locked".into(),
        Login::Pin { failures: 0, .. } => "set".into(),
        Login::Pin { failures: 1, .. } => "set, 1 wrong try".into(),
        Login::Pin { failures, .. } => format!("set, {failures} wrong tries"),
    }
}

/// Says what to do with a token that is new.
pub(super) fn new(token: &TokenInfo, option: &str) -> String {
    let TokenInfo {
        name, label, slot, ..
    } = token;
    format!(
        "The service has the token '{name}': slot {slot}, label '{}'.\nNobody may log in to it yet. To let a program's \
         user do so, run:\n  outboard token grant {name} --user NAME{option}\n",
        printable(label)
    )
}

/// What keys a token takes and makes.
pub(super) fn policy(token: &TokenInfo) -> String {
    let line = |title: &str, list: &Option<Vec<String>>| {
        let list = list.as_ref().map_or("all".into(), |list| list.join(", "));
        format!("{title:<14}{}\n", printable(&list))
    };
    line("types", &token.policy.types) + &line("mechanisms", &token.policy.mechanisms)
}
