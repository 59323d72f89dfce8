//! Tokens of a test's own service.

use super::service::Service;
use outboard_administration::{
    Connection, Grant, Pins, Reply, Request, Right, Secret, Subject, TokenInfo, TokenRequest,
};

/// The PIN of a token's security officer, and that of its user.
pub(crate) const PINS: (&str, &str) = ("officer's", "user's");

/// Makes a token that this user may use: with [`PINS`], or without PINs.
pub(crate) fn create(service: &Service, name: &str, has_pins: bool) -> TokenInfo {
    let pins = Pins {
        officer: Secret::new(PINS.0.as_bytes()),
        user: Some(Secret::new(PINS.1.as_bytes())),
    };
    let create = TokenRequest::Create {
        label: format!("{name}'s label"),
        pins: has_pins.then_some(pins),
    };
    ask(service, name, create);
    let grant = Request::Grant {
        name: name.to_owned(),
        grant: Grant {
            to: Subject::User(rustix::process::getuid().as_raw()),
            right: Right::Use,
        },
        given: true,
    };
    match connect(service).ask(&grant) {
        Ok(Reply::Tokens { tokens }) => tokens.into_iter().next().expect("it was made"),
        other => panic!("{other:?}"),
    }
}

/// Asks something of a token, as an administrator.
pub(crate) fn ask(service: &Service, name: &str, what: TokenRequest) -> Reply {
    let request = Request::Token {
        token: name.to_owned(),
        ticket: None,
        what,
    };
    connect(service).ask(&request).expect("it is done")
}

fn connect(service: &Service) -> Connection {
    Connection::open(service.directory()).expect("it listens")
}
