//! Tokens of the card service: whether their users can log in.

use outboard_administration::{Login, MOST_FAILURES, Reply, Request, TokenInfo};

use crate::Finding;
use crate::card_service::Place;
use crate::service::SUBJECT;

/// Tokens whose user cannot log in, as far as this user may know of tokens.
pub(crate) fn locked(place: &Place) -> Vec<Finding> {
    let answer = place.ask_for(|service| match service.ask(&Request::Tokens)? {
        Reply::Tokens { tokens } => Ok(tokens),
        _ => Err(service.surprised()),
    });
    let tokens = answer.told().into_iter().flatten();
    let locked = tokens.filter(|token| matches!(token.user, Login::Pin { locked: true, .. }));
    let finding = |token: &TokenInfo| {
        let name = &token.name;
        let option = place.option();
        Finding::problem(
            SUBJECT,
            format!("the user's PIN of token '{name}' is locked: no program can log in"),
        )
        .because(format!("{MOST_FAILURES} wrong PINs were tried in a row ('outboard keys audit{option}' says by whom)"))
        .remedy(format!(
            "run 'outboard token reset-pin {name}{option}' with the security officer's PIN, and give the new PIN to the programs"
        ))
    };
    locked.map(finding).collect()
}
