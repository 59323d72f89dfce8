//! A token of PKCS #11: its PINs, and the tickets that they are given for.
//!
//! To the store a token is a row as a key is, of type `token`; so the roll, grants and backups know it. Its private half is a
//! random secret of 32 bytes. Two keys are derived from it, and alone used.
//! ```text
//! sealing key = HMAC-SHA-256(secret, "outboard token sealing 1")
//! ticket key  = HMAC-SHA-256(secret, "outboard token tickets 1")
//! verifier    = scrypt(PIN, salt, N = 2^15, r = 8, p = 1)
//! ticket      = HMAC-SHA-256(ticket key, role ‖ uid ‖ epoch ‖ salt of the role's PIN)
//! ```
//! The sealing key seals the token's state (what this file encodes) and its objects. A new PIN has a new salt, and each
//! initialisation begins an epoch: either ends the tickets of before. Nothing else does, so a ticket outlives the service.

use std::fmt;

use zeroize::Zeroizing;

use crate::KeyId;
use crate::cipher;
use crate::encoding::{Reader, Writer};
use crate::error::{Error, Result};
use crate::master::Sealed;
use crate::record::{Record, Unwrapped};

/// After so many wrong PINs in a row none is taken.
pub const MOST_FAILURES: u8 = 10;
/// scrypt's N.
const COST: u64 = 1 << 15;
const LABEL: &str = "outboard token state 1";
const SALT: usize = 16;

/// What a login gives: whoever has it may use the token.
pub type Ticket = Zeroizing<[u8; 32]>;

/// As whom somebody logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Who uses keys.
    User,
    /// The security officer, who gives the user a PIN.
    Officer,
}

/// How a role proves itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// By a grant: the token has no PINs.
    Grant,
    /// There is no PIN yet.
    Unset,
    /// By a PIN.
    Pin {
        /// How many wrong ones were tried since the last right one.
        failures: u8,
    },
}

/// A token, authenticated.
pub struct Token {
    /// Its name, its id, its grants.
    pub record: Record,
    /// What programs see.
    pub label: String,
    /// The number of its slot, from 2 on; no two tokens have one.
    pub slot: u64,
    /// What its caller keeps for it: which keys it takes.
    pub policy: String,
    /// The entry of the audit log that tells of its creation, or of its latest initialisation.
    pub(crate) epoch: u64,
    /// The entry of the audit log that tells the latest change of the state.
    pub(crate) revision: u64,
    pub(crate) pins: Option<Pins>,
    pub(crate) keys: TokenKeys,
}

/// The PINs of a token that has any.
#[derive(Clone)]
pub(crate) struct Pins {
    pub(crate) officer: Pin,
    pub(crate) user: Option<Pin>,
}

/// What a PIN is compared with.
#[derive(Clone)]
pub(crate) struct Pin {
    pub(crate) salt: [u8; SALT],
    verifier: Zeroizing<[u8; 32]>,
    pub(crate) failures: u8,
}

/// The keys that are derived from a token's secret.
pub(crate) struct TokenKeys {
    pub(crate) sealing: Zeroizing<[u8; 32]>,
    tickets: Zeroizing<[u8; 32]>,
}

/// Tells the tickets of a token's role.
pub struct Opener {
    key: Zeroizing<[u8; 32]>,
    role: Role,
    epoch: u64,
    salt: Option<[u8; SALT]>,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Officer => "security officer",
        })
    }
}

impl Token {
    /// How a role proves itself.
    pub fn login(&self, role: Role) -> Login {
        match (&self.pins, self.pin(role)) {
            (None, _) => Login::Grant,
            (Some(_), None) => Login::Unset,
            (Some(_), Some(pin)) => Login::Pin {
                failures: pin.failures,
            },
        }
    }

    /// What tells the tickets of a role; none where the role has no PIN yet.
    pub fn opener(&self, role: Role) -> Option<Opener> {
        let salt = match self.login(role) {
            Login::Unset => return None,
            _ => self.pin(role).map(|pin| pin.salt),
        };
        Some(Opener {
            key: self.keys.tickets.clone(),
            role,
            epoch: self.epoch,
            salt,
        })
    }

    pub(crate) fn pin(&self, role: Role) -> Option<&Pin> {
        let pins = self.pins.as_ref()?;
        match role {
            Role::User => pins.user.as_ref(),
            Role::Officer => Some(&pins.officer),
        }
    }

    pub(crate) fn pin_mut(&mut self, role: Role) -> Option<&mut Pin> {
        let pins = self.pins.as_mut()?;
        match role {
            Role::User => pins.user.as_mut(),
            Role::Officer => Some(&mut pins.officer),
        }
    }

    /// Its state, to be stored.
    pub(crate) fn seal(&self) -> Result<Sealed> {
        // Two PINs, the numbers, the lengths.
        let room = self.label.len() + self.policy.len() + 256;
        let mut writer = Writer::secret(LABEL, room);
        writer
            .u64(self.revision)
            .u64(self.epoch)
            .u64(self.slot)
            .bytes(self.label.as_bytes())
            .bytes(self.policy.as_bytes())
            .u8(self.pins.is_some().into());
        if let Some(pins) = &self.pins {
            writer.u8(pins.user.is_some().into());
            for pin in [Some(&pins.officer), pins.user.as_ref()]
                .into_iter()
                .flatten()
            {
                let counted = writer.bytes(&pin.salt).bytes(&*pin.verifier);
                counted.u8(pin.failures);
            }
        }
        let content = Zeroizing::new(writer.finish());
        Sealed::new(
            &*self.keys.sealing,
            &content,
            &authenticated(self.record.id),
        )
    }

    /// The token of a row, with its state. `None`: the state is damaged.
    pub(crate) fn open(row: Unwrapped, state: &Sealed) -> Result<Option<Self>> {
        let keys = TokenKeys::new(&row.private)?;
        let content = state.open(&*keys.sealing, &authenticated(row.record.id))?;
        Ok(content.and_then(|content| Self::decode(row.record, keys, &content)))
    }

    fn decode(record: Record, keys: TokenKeys, content: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(content);
        if reader.bytes()? != LABEL.as_bytes() {
            return None;
        }
        let (revision, epoch, slot) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let mut text = || Some(std::str::from_utf8(reader.bytes()?).ok()?.to_owned());
        let (label, policy) = (text()?, text()?);
        let mut flag = || match reader.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        let (has_pins, has_user) = match flag()? {
            true => (true, flag()?),
            false => (false, false),
        };
        let mut pin = || {
            let (salt, verifier) = (reader.bytes()?, reader.bytes()?);
            Some(Pin {
                salt: salt.try_into().ok()?,
                verifier: Zeroizing::new(verifier.try_into().ok()?),
                failures: reader.u8()?,
            })
        };
        let pins = match has_pins {
            true => Some(Pins {
                officer: pin()?,
                user: if has_user { Some(pin()?) } else { None },
            }),
            false => None,
        };
        reader.finish()?;
        Some(Self {
            record,
            label,
            slot,
            policy,
            epoch,
            revision,
            pins,
            keys,
        })
    }
}

impl TokenKeys {
    pub(crate) fn new(secret: &[u8]) -> Result<Self> {
        Ok(Self {
            sealing: cipher::hmac(secret, b"outboard token sealing 1")?,
            tickets: cipher::hmac(secret, b"outboard token tickets 1")?,
        })
    }
}

/// What is authenticated with a token's state.
fn authenticated(token: KeyId) -> Vec<u8> {
    let mut writer = Writer::labelled(LABEL);
    writer.bytes(&token.0);
    writer.finish()
}

impl Pin {
    /// A new one. Takes a while, and much memory.
    pub(crate) fn new(pin: &[u8]) -> Result<Self> {
        let salt = cipher::random()?;
        Ok(Self {
            verifier: cipher::scrypt(pin, &salt, COST)?,
            salt,
            failures: 0,
        })
    }

    /// Whether it is that one. Takes as long.
    pub(crate) fn is(&self, pin: &[u8]) -> Result<bool> {
        let verifier = cipher::scrypt(pin, &self.salt, COST)?;
        Ok(cipher::equal(&*verifier, &*self.verifier))
    }
}

impl Opener {
    /// The ticket of that user of the system.
    ///
    /// # Errors
    /// [`Error::Resource`].
    pub fn ticket(&self, uid: u32) -> Result<Ticket> {
        let mut writer = Writer::labelled("outboard token ticket 1");
        writer
            .u8(self.role as u8)
            .u32(uid)
            .u64(self.epoch)
            .bytes(self.salt.as_ref().map_or(&[], |salt| salt));
        cipher::hmac(&*self.key, &writer.finish())
    }

    /// Whether it is the ticket of that user, in a time that does not tell how far it is right.
    pub fn opens(&self, uid: u32, ticket: &[u8]) -> bool {
        let right = self.ticket(uid);
        right.is_ok_and(|right| cipher::equal(&*right, ticket))
    }
}

impl Error {
    /// That so many wrong PINs were tried that none is taken any more.
    pub(crate) fn locked_pin(token: &Record, role: Role) -> Self {
        Self::LockedPin {
            token: token.name.to_string(),
            remedy: match role {
                Role::User => "let the security officer set it anew: 'outboard token reset-pin'",
                Role::Officer => "an administrator can delete the token and make it anew",
            },
        }
    }
}
