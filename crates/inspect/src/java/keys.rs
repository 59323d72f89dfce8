//! Whether a server's user may use the keys of a slot: those of 'outboard keys', or a token's.

use super::process::Java;
use super::{Finding, SUBJECT};
use crate::card_service::Place;
use crate::key::may_use;
use crate::tokens::locked;
use outboard_accounts::{self as accounts, Account};
use outboard_administration::{Reply, Request, TokenInfo};

/// The findings about a slot of the card service.
pub(super) fn examine(slot: u64, process: Option<&Java>) -> Vec<Finding> {
    let place = process.map_or_else(Place::in_force, Java::place);
    let uid = process.map(|process| process.user.uid);
    match slot {
        0 => of_keys(&place, uid),
        slot => of_token(&place, slot, uid),
    }
}

fn of_keys(place: &Place, uid: Option<u32>) -> Vec<Finding> {
    let option = place.option();
    let keys = || place.connect().ok()?.keys().ok();
    let Some((keys, _)) = keys() else {
        return silent(place, place.ask().trouble(place));
    };
    let usable = keys
        .iter()
        .filter(|key| uid.is_none_or(|uid| may_use(&key.grants, uid)));
    let usable: Vec<_> = usable.collect();
    let (what, remedy) = match (uid, usable.iter().any(|key| !key.certificates.is_empty())) {
        (_, true) => return Vec::new(),
        (Some(uid), _) if usable.is_empty() => {
            let user = accounts::name(Account::User, uid);
            (
                format!("{user} may use no key of the card service"),
                format!("outboard keys grant NAME --user {user}{option}"),
            )
        }
        _ => (
            "no key of the card service has a certificate, and Java sees no others".to_owned(),
            format!("outboard keys certify NAME{option} < CHAIN"),
        ),
    };
    vec![Finding::problem(SUBJECT, what).remedy(format!("run '{remedy}', then restart the server"))]
}

fn of_token(place: &Place, slot: u64, uid: Option<u32>) -> Vec<Finding> {
    let option = place.option();
    let answer = place.ask_for(|service| match service.ask(&Request::Tokens)? {
        Reply::Tokens { tokens } => Ok(tokens),
        _ => Err(service.surprised()),
    });
    let Some(tokens) = answer.told() else {
        return silent(place, answer.trouble(place));
    };
    let Some(token) = tokens.iter().find(|token| token.slot == slot) else {
        let what = format!("the card service has no token in slot {slot}");
        return vec![
            Finding::problem(SUBJECT, what)
                .because("the token was deleted, or it is another service's, or this user may not see it")
                .remedy(format!("run 'outboard token list{option}', and 'outboard java --token NAME' again")),
        ];
    };
    let mut findings = locked(place);
    findings.extend(uid.and_then(|uid| grant(token, uid, &option)));
    findings
}

/// Root sees each token, because root administers them.
fn grant(token: &TokenInfo, uid: u32, option: &str) -> Option<Finding> {
    let (name, user) = (&token.name, accounts::name(Account::User, uid));
    (uid != 0 && !may_use(&token.grants, uid)).then(|| {
        Finding::problem(SUBJECT, format!("{user} may not use the token '{name}'"))
            .because("there is no grant for this user or one of its groups")
            .remedy(format!(
                "run 'outboard token grant {name} --user {user}{option}', then restart the server"
            ))
    })
}

fn silent(place: &Place, trouble: Option<String>) -> Vec<Finding> {
    let trouble =
        trouble.unwrap_or_else(|| "does not run (run 'outboard service start')".to_owned());
    let what = format!(
        "the card service in {} {trouble}",
        place.directory.display()
    );
    vec![Finding::problem(SUBJECT, what)]
}
