//! What a PKCS #11 module and the command `outboard token` ask of a token.
//!
//! A token's objects are in the service's store. What makes a key a key of PKCS #11 (its attributes) is written and read by the
//! module alone: to the service they are bytes. The private halves of keys stay in the service, which computes with them for
//! whoever has a [ticket](outboard_wire::Ticket).

use serde::{Deserialize, Serialize};

use crate::Secret;

/// What is asked of one token. It is named by its id or its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TokenRequest {
    /// Makes it. Administrators may.
    Create {
        /// What programs see.
        label: String,
        /// The PIN of its security officer and of its user; without one, the service's grants alone decide.
        pins: Option<Pins>,
    },
    /// How it does.
    Show,
    /// Proves who asks. The answer is a ticket.
    Login {
        /// As whom.
        role: Role,
        /// The PIN; none for a token without PINs.
        pin: Option<Secret>,
    },
    /// Changes a PIN.
    SetPin {
        /// Whose.
        role: Role,
        /// The one until now.
        old: Secret,
        /// The one from now on.
        new: Secret,
    },
    /// Gives the user a PIN, and unlocks it. With the security officer's ticket.
    InitPin {
        /// The user's PIN from now on.
        pin: Secret,
    },
    /// Destroys all objects and the user's PIN (`C_InitToken`).
    Initialise {
        /// The security officer's PIN; none for a token without PINs.
        pin: Option<Secret>,
        /// What programs see from now on.
        label: String,
    },
    /// Sets what keys it takes and makes. Administrators of the token may.
    Policy {
        /// All of it.
        policy: TokenPolicy,
    },
    /// Its objects whose ids come after that one, at most as many as fit a line; private ones only with the user's ticket.
    Objects {
        /// The generation that the asker knows; 0: none. Where it is still that one, the answer has no objects.
        known: u64,
        /// The last id that the asker has.
        after: Option<String>,
    },
    /// Makes a key pair inside: two objects, in this order, in the answer.
    Generate {
        /// The key's type, as [`KeyType`](outboard_wire::KeyType) is written.
        kind: String,
        /// The object of the private half.
        private: NewObject,
        /// The object of the public half.
        public: NewObject,
    },
    /// Takes an object.
    Insert {
        /// The object.
        object: NewObject,
        /// The private half that it stands for: a PrivateKeyInfo (PKCS #8) in DER.
        key: Option<Secret>,
    },
    /// Changes attributes of an object. The others stay as they are, whoever changed them meanwhile. The answer is the object.
    Change {
        /// Its id.
        object: String,
        /// Those that change, in the form of [`outboard_wire::attributes`].
        attributes: Secret,
    },
    /// Destroys an object.
    Destroy {
        /// Its id.
        object: String,
    },
    /// Destroys the token. Administrators of the token may.
    Delete,
}

/// As whom somebody logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Who uses keys.
    User,
    /// The security officer, who gives the user a PIN.
    Officer,
}

/// Both PINs of a new token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// The security officer's.
    pub officer: Secret,
    /// The user's; none: the security officer sets it later.
    pub user: Option<Secret>,
}

/// An object to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewObject {
    /// Whether only the user sees it.
    pub private: bool,
    /// What the module writes and reads.
    pub attributes: Secret,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectInfo {
    /// What names it for good, and its key on the wire: 32 hexadecimal digits.
    pub id: String,
    /// Whether only the user sees it.
    pub private: bool,
    /// What the module wrote.
    pub attributes: Secret,
    /// The type of its private half, where the service has one.
    pub kind: Option<String>,
    /// The public half of a key that the service made or took, in base64: a SubjectPublicKeyInfo in DER.
    pub public: Option<String>,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenInfo {
    /// What names it for good: 32 hexadecimal digits.
    pub id: String,
    /// How administrators call it.
    pub name: String,
    /// What programs see.
    pub label: String,
    /// Its slot's number, the same in every process, from 2 on.
    pub slot: u64,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// How its user proves who he is.
    pub user: Login,
    /// How its security officer does; [`Login::Grant`] where the user's is.
    pub officer: Login,
    /// How many objects it has.
    pub objects: u64,
    /// Who may use it: see it, log in. Those who administer it are told apart.
    pub grants: Vec<crate::Grant>,
    /// What keys it takes and makes.
    pub policy: TokenPolicy,
}

/// How somebody proves who he is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Login {
    /// The kernel says whose process it is, and that is enough.
    Grant,
    /// There is no PIN yet.
    Unset,
    /// By a PIN.
    Pin {
        /// How many wrong ones were tried since the last right one.
        failures: u8,
        /// Whether none is taken any more.
        locked: bool,
    },
}

/// What keys a token takes and makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenPolicy {
    /// The types, as [`KeyType`](outboard_wire::KeyType) is written; none: every type.
    pub types: Option<Vec<String>>,
    /// The mechanisms, as the standard writes them (`CKM_ECDSA`); none: every one. The module keeps it.
    pub mechanisms: Option<Vec<String>>,
}

/// The fewest and the most bytes of a PIN.
pub const PIN_LENGTH: std::ops::RangeInclusive<usize> = 4..=255;
/// After so many wrong PINs in a row none is taken.
pub const MOST_FAILURES: u8 = 10;
/// The most bytes of an object's attributes.
pub const MOST_ATTRIBUTES: usize = 32 * 1024;
/// The most objects of a token.
pub const MOST_OBJECTS: u64 = 100_000;
