//! Questions to the service's administration: a connection each, so that no descriptor stays open.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cryptoki_sys::*;
use outboard_administration::{Code, Connection, Error as Failure, Reply, Request, TokenRequest};

use super::Login;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::slot::Slot;

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);
/// How long an answer takes at most for which the service takes its time.
const LONG: Duration = Duration::from_secs(60);

/// How long a service is waited for that does not listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Not at all.
    None,
    /// As long as the settings say: it may be starting again.
    Settings,
}

impl Module {
    /// Asks the service something of a token, as whoever is logged in.
    ///
    /// # Errors
    /// What the standard calls the refusal. Where the ticket is no longer good, nobody is logged in any more.
    pub(super) fn question_of(
        &self,
        slot: Slot,
        login: Option<&Login>,
        what: TokenRequest,
    ) -> Result<Reply> {
        let request = Request::Token {
            token: self.tokens.info(slot)?.id.clone(),
            ticket: login.map(|login| super::secret(&login.ticket)),
            what,
        };
        let answer = self.question(&request, Patience::Settings);
        if answer == Err(CKR_USER_NOT_LOGGED_IN.into()) && login.is_some() {
            self.forget_login(slot);
        }
        answer
    }

    /// Asks the service.
    ///
    /// # Errors
    /// What the standard calls the refusal; `CKR_DEVICE_ERROR`: it does not answer.
    pub(super) fn question(&self, request: &Request, patience: Patience) -> Result<Reply> {
        let settings = self.coprocessor.settings();
        let settings = settings.ok_or(CKR_TOKEN_NOT_PRESENT)?;
        let begun = Instant::now();
        let answer_within = match request {
            Request::Token { what, .. } if takes_long(what) => settings.limit.max(LONG),
            _ => settings.limit,
        };
        loop {
            let connection = Connection::open_for(&settings.directory, answer_within);
            let failure = match connection.and_then(|mut connection| connection.ask(request)) {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let passes_within = match &failure {
                Failure::Lost { reason, .. } if was_not_read(reason) => Some(answer_within),
                Failure::Lost { reason, .. } if is_passing(reason) && may_be_repeated(request) => {
                    Some(settings.limit)
                }
                Failure::Unreachable { reason, .. }
                    if is_passing(reason) && patience != Patience::None =>
                {
                    Some(settings.limit)
                }
                // It has started, and waits for its master key: nothing was done.
                Failure::Refused(refusal)
                    if refusal.code == Code::Locked && patience != Patience::None =>
                {
                    Some(settings.limit)
                }
                _ => None,
            };
            if passes_within.is_none_or(|within| begun.elapsed() + PAUSE > within) {
                return Err(refusal(&failure));
            }
            sleep(PAUSE);
        }
    }
}

/// Whether the service takes its time for the answer: a key of 4096 bits may need many draws, and few PINs are tried at a time.
fn takes_long(what: &TokenRequest) -> bool {
    matches!(
        what,
        TokenRequest::Generate { .. }
            | TokenRequest::Login { .. }
            | TokenRequest::SetPin { .. }
            | TokenRequest::InitPin { .. }
            | TokenRequest::Initialise { .. }
    )
}

/// Whether a service that is starting again may be the reason.
fn is_passing(reason: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound, UnexpectedEof};
    let kinds = [
        BrokenPipe,
        ConnectionRefused,
        ConnectionReset,
        NotFound,
        UnexpectedEof,
    ];
    kinds.contains(&reason.kind())
}

/// Whether the service closed the connection before it had read the request, as where its user has too many: the end of the line,
/// which is its last byte, was not sent, or not read.
fn was_not_read(reason: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    [BrokenPipe, ConnectionReset].contains(&reason.kind())
}

/// Whether it does no harm that the service has done it already. A login is none of those: a wrong PIN counts.
fn may_be_repeated(request: &Request) -> bool {
    match request {
        Request::Token { what, .. } => matches!(
            what,
            TokenRequest::Show | TokenRequest::Objects { .. } | TokenRequest::Change { .. }
        ),
        request => matches!(request, Request::Tokens),
    }
}

/// What the standard calls it.
fn refusal(failure: &Failure) -> Error {
    let Failure::Refused(refusal) = failure else {
        return CKR_DEVICE_ERROR.into();
    };
    let code = match refusal.code {
        // Denied is who plays the officer of a token without PINs.
        Code::WrongPin | Code::Denied => CKR_PIN_INCORRECT,
        Code::LockedPin => CKR_PIN_LOCKED,
        Code::NoPin => CKR_USER_PIN_NOT_INITIALIZED,
        Code::UnfitPin => CKR_PIN_LEN_RANGE,
        Code::LoggedOut => CKR_USER_NOT_LOGGED_IN,
        Code::NoKey => CKR_TOKEN_NOT_PRESENT,
        Code::Full => CKR_DEVICE_MEMORY,
        Code::NotAllowed => CKR_TEMPLATE_INCONSISTENT,
        Code::Malformed => CKR_ATTRIBUTE_VALUE_INVALID,
        Code::Locked | Code::Store => CKR_DEVICE_ERROR,
        Code::Exists | Code::Failed => CKR_FUNCTION_FAILED,
    };
    code.into()
}
