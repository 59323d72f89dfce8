//! The slots, and what they say of themselves.

use cryptoki_sys::*;

use outboard_administration::{Login, MOST_FAILURES, PIN_LENGTH, TokenInfo};

use crate::abi::padded;

/// A slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Keys of the card service, which alone has their private halves. No login: the service knows who asks.
    Coprocessor,
    /// Keys of the program, computed with in its process. No login, nothing is kept.
    Accelerator,
    /// The token of the card service that has that number, from 2 on ([`crate::token`]).
    Token(CK_SLOT_ID),
}

const MANUFACTURER: &str = "Outboard";

impl Slot {
    /// Those that are no token's: the card service's only where there is one.
    pub(crate) fn own(has_service: bool) -> &'static [Self] {
        match has_service {
            true => &[Self::Coprocessor, Self::Accelerator],
            false => &[Self::Accelerator],
        }
    }

    /// Its number. It is the same in every process.
    pub(crate) fn id(self) -> CK_SLOT_ID {
        match self {
            Self::Coprocessor => 0,
            Self::Accelerator => 1,
            Self::Token(id) => id,
        }
    }

    /// Whether programs log in to it, and keep objects there.
    pub(crate) fn is_token(self) -> bool {
        matches!(self, Self::Token(_))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Coprocessor => "coprocessor",
            Self::Accelerator => "accelerator",
            Self::Token(_) => "token",
        }
    }

    /// What `C_GetSlotInfo` tells, where the slot's token has a name, or none.
    pub(crate) fn info(self, token: Option<&str>) -> CK_SLOT_INFO {
        let token = token.unwrap_or_default();
        let description = format!("Outboard {} {token}", self.name());
        CK_SLOT_INFO {
            slotDescription: padded(description.trim_end()),
            manufacturerID: padded(MANUFACTURER),
            flags: CKF_TOKEN_PRESENT,
            hardwareVersion: CK_VERSION { major: 0, minor: 0 },
            firmwareVersion: version(),
        }
    }

    /// What `C_GetTokenInfo` tells, with so many sessions open, so many of them for writing.
    pub(crate) fn token_info(self, (sessions, writing): (usize, usize)) -> CK_TOKEN_INFO {
        CK_TOKEN_INFO {
            label: padded(self.name()),
            manufacturerID: padded(MANUFACTURER),
            model: padded("software"),
            serialNumber: padded(&format!("{:08}", self.id())),
            flags: CKF_RNG
                | CKF_TOKEN_INITIALIZED
                | CKF_WRITE_PROTECTED
                | CKF_ASYNC_SESSION_SUPPORTED,
            ulMaxSessionCount: CK_EFFECTIVELY_INFINITE,
            ulSessionCount: sessions as CK_ULONG,
            ulMaxRwSessionCount: CK_EFFECTIVELY_INFINITE,
            ulRwSessionCount: writing as CK_ULONG,
            ulMaxPinLen: 0,
            ulMinPinLen: 0,
            ulTotalPublicMemory: CK_UNAVAILABLE_INFORMATION,
            ulFreePublicMemory: CK_UNAVAILABLE_INFORMATION,
            ulTotalPrivateMemory: CK_UNAVAILABLE_INFORMATION,
            ulFreePrivateMemory: CK_UNAVAILABLE_INFORMATION,
            hardwareVersion: CK_VERSION { major: 0, minor: 0 },
            firmwareVersion: version(),
            utcTime: padded(""),
        }
    }

    /// The same of a token of the card service.
    pub(crate) fn info_of_token(
        self,
        token: &TokenInfo,
        sessions: (usize, usize),
    ) -> CK_TOKEN_INFO {
        let path = match token.user {
            Login::Grant => CKF_PROTECTED_AUTHENTICATION_PATH,
            _ => 0,
        };
        let pin = match token.user {
            Login::Unset => 0,
            _ => CKF_USER_PIN_INITIALIZED,
        };
        let user = [
            CKF_USER_PIN_COUNT_LOW,
            CKF_USER_PIN_FINAL_TRY,
            CKF_USER_PIN_LOCKED,
        ];
        let officer = [
            CKF_SO_PIN_COUNT_LOW,
            CKF_SO_PIN_FINAL_TRY,
            CKF_SO_PIN_LOCKED,
        ];
        let tries = tries(token.user, user) | tries(token.officer, officer);
        CK_TOKEN_INFO {
            label: padded(&token.label),
            serialNumber: padded(&token.id),
            flags: CKF_RNG
                | CKF_TOKEN_INITIALIZED
                | CKF_LOGIN_REQUIRED
                | CKF_ASYNC_SESSION_SUPPORTED
                | path
                | pin
                | tries,
            ulMaxPinLen: *PIN_LENGTH.end() as CK_ULONG,
            ulMinPinLen: *PIN_LENGTH.start() as CK_ULONG,
            ..self.token_info(sessions)
        }
    }
}

/// What is said of wrong PINs: by the flags for some, for all but one, and for too many.
fn tries(login: Login, [some, all_but_one, too_many]: [CK_FLAGS; 3]) -> CK_FLAGS {
    match login {
        Login::Pin { locked: true, .. } => too_many,
        Login::Grant | Login::Unset | Login::Pin { failures: 0, .. } => 0,
        Login::Pin { failures, .. } if failures + 1 == MOST_FAILURES => some | all_but_one,
        Login::Pin { .. } => some,
    }
}

/// What `C_GetInfo` tells, for a version of the interface.
pub(crate) fn library_info(interface: CK_VERSION) -> CK_INFO {
    CK_INFO {
        cryptokiVersion: interface,
        manufacturerID: padded(MANUFACTURER),
        flags: 0,
        libraryDescription: padded("Outboard"),
        libraryVersion: version(),
    }
}

/// Ours.
fn version() -> CK_VERSION {
    let number = |text: &str| text.parse().unwrap_or_default();
    CK_VERSION {
        major: number(env!("CARGO_PKG_VERSION_MAJOR")),
        minor: number(env!("CARGO_PKG_VERSION_MINOR")),
    }
}
