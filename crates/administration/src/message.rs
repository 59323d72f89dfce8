//! The messages.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Secret;
use crate::coprocessor::{CoprocessorInfo, CoprocessorRequest};
use crate::token::{ObjectInfo, TokenInfo, TokenRequest};

/// What the command asks of the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// How the service does. Everybody may ask.
    Status,
    /// Makes a key inside the service.
    Generate {
        /// Its name.
        name: String,
        /// Its type, as [`KeyType`](outboard_wire::KeyType) is written.
        kind: String,
        /// Whether it may ever leave the service.
        exportable: bool,
    },
    /// Takes a key over.
    Import {
        /// Its name.
        name: String,
        /// A PrivateKeyInfo (PKCS #8) in DER.
        key: Secret,
        /// Whether it may ever leave the service again.
        exportable: bool,
    },
    /// The keys whose names come after that one, at most as many as fit a line.
    List {
        /// The last name that the command has.
        after: Option<String>,
    },
    /// One key.
    Show {
        /// Its name.
        name: String,
    },
    /// Lets users or groups do something with a key, or no longer.
    Grant {
        /// Its name.
        name: String,
        /// Who may do what.
        grant: Grant,
        /// Whether they may from now on.
        given: bool,
    },
    /// Gives a key another name.
    Rename {
        /// Its name.
        name: String,
        /// The other name.
        to: String,
    },
    /// Gives a key certificates, instead of those that it has.
    Certify {
        /// Its name.
        name: String,
        /// Its certificate and those that issued it, in PEM; empty: none.
        certificates: String,
    },
    /// Destroys a key.
    Delete {
        /// Its name.
        name: String,
    },
    /// Sets what a key may be used for: the fields of the vault's policy.
    Policy {
        /// Its name.
        name: String,
        /// The fields to set; those of the policy that are not here stay.
        set: serde_json::Map<String, serde_json::Value>,
    },
    /// Agrees that a key is exported or deleted, or gets another policy, where its policy asks several administrators.
    Approve {
        /// Its name.
        name: String,
        /// `export`, `delete` or `policy`.
        act: String,
        /// The fields that a policy would set.
        #[serde(default)]
        set: serde_json::Map<String, serde_json::Value>,
    },
    /// An exportable key's private half.
    Export {
        /// Its name.
        name: String,
    },
    /// What administrators did, from that entry on, at most as many as fit a line.
    Audit {
        /// The first entry's number.
        from: u64,
    },
    /// Whether the audit log is whole.
    CheckAudit,
    /// How keys were used since the service started, by their ids, at most as many as fit a line: all of it for who
    /// administers the key; their own use for its other users.
    Usage {
        /// The last id that the command has.
        after: Option<String>,
    },
    /// The service's cards. Everybody may ask.
    Cards,
    /// Sets a card online or offline, until the service ends.
    SetCard {
        /// Its number.
        number: usize,
        /// Whether it takes batches from now on.
        online: bool,
    },
    /// A copy of the store, written by the service into its own directory.
    Backup {
        /// The copy's file name.
        file: String,
    },
    /// One of the parts of a master key.
    EnterPart {
        /// The register: `new`, `current` or `old`; none lets the service choose.
        register: Option<String>,
        /// 32 bytes.
        part: Secret,
    },
    /// Makes the entered parts a master key.
    CompleteParts {
        /// The register, as above.
        register: Option<String>,
    },
    /// A whole master key.
    Enter {
        /// The register, as above.
        register: Option<String>,
        /// 32 bytes.
        key: Secret,
    },
    /// A step of the change to another master key: `prepare`, `activate`, `finalise`, `cancel`.
    Roll {
        /// Which.
        step: String,
    },
    /// The tokens that the asker may use or administer.
    Tokens,
    /// Something of a token.
    Token {
        /// Its name or its id.
        token: String,
        /// What a login gave: 32 bytes.
        ticket: Option<Secret>,
        /// What.
        what: TokenRequest,
    },
    /// Something of the CCA coprocessor.
    Coprocessor {
        /// What.
        what: CoprocessorRequest,
    },
}

/// What the service answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Reply {
    /// It is done.
    Done,
    /// How the service does.
    Status(Box<Status>),
    /// A key.
    Key(Box<KeyInfo>),
    /// Some keys.
    Keys {
        /// The keys, by name.
        keys: Vec<KeyInfo>,
        /// A sentence for each key that is damaged, which administrators see.
        damaged: Vec<String>,
        /// Whether more follow.
        more: bool,
    },
    /// An administrator's agreement counts.
    Approved {
        /// How many agree now.
        given: u8,
        /// How many have to.
        needed: u8,
    },
    /// A private half.
    Private {
        /// A PrivateKeyInfo (PKCS #8) in DER.
        key: Secret,
    },
    /// What administrators did.
    Audit {
        /// The entries.
        entries: Vec<AuditEntry>,
        /// Whether more follow.
        more: bool,
    },
    /// How keys were used.
    Usage {
        /// Since when, in seconds since 1970.
        since: u64,
        /// The keys that were used.
        keys: Vec<KeyUsage>,
        /// The id after which more follow.
        next: Option<String>,
    },
    /// The service's cards; none where the processor has no lanes.
    Cards {
        /// By their numbers.
        cards: Vec<CardInfo>,
    },
    /// The check value of a part or a master key.
    Pattern {
        /// Hexadecimal digits.
        pattern: String,
    },
    /// Tokens, by name.
    Tokens {
        /// The tokens.
        tokens: Vec<TokenInfo>,
    },
    /// Who asks has proved who he is.
    Ticket {
        /// 32 bytes, good until the PIN is changed.
        ticket: Secret,
    },
    /// Objects of a token.
    Objects {
        /// What is known of the objects is true as long as this stays the same.
        generation: u64,
        /// The objects, by id.
        objects: Vec<ObjectInfo>,
        /// One sentence for each object that is damaged, naming it.
        damaged: Vec<String>,
        /// Whether more follow.
        more: bool,
    },
    /// How the coprocessor does.
    Coprocessor(Box<CoprocessorInfo>),
    /// It is not done.
    Refused(Refusal),
}

/// How a service does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The version of Outboard.
    pub outboard: String,
    /// The service's process.
    pub pid: u32,
    /// Since when it serves, in seconds since 1970.
    pub since: u64,
    /// Its store's directory.
    pub store: String,
    /// Its master key.
    pub master: Master,
    /// How many keys it has.
    pub keys: u64,
    /// How many programs are connected.
    pub connections: u64,
    /// Whether the processor has lanes.
    pub lanes: bool,
    /// Whether its memory is locked, so that no secret reaches a swap device.
    pub locked_memory: bool,
    /// What it did since it was started.
    pub served: Served,
    /// The last complaint in its log, for administrators; none where there is none, or an older service.
    #[serde(default)]
    pub complaint: Option<Complaint>,
}

/// What a service complains of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// When, in seconds since 1970.
    pub time: u64,
    /// The line in its log.
    pub sentence: String,
}

/// What a service did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Operations that it did.
    pub done: u64,
    /// How many of them shared the lanes.
    pub in_lanes: u64,
    /// Requests that it refused, whatever the reason.
    pub refused: u64,
}

/// How a key was used since the service started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUsage {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// By user and operation. The last row may be the sum of others.
    pub users: Vec<UserUsage>,
    /// By process, those that used it last. The last row may be the sum of others.
    pub processes: Vec<ProcessUsage>,
}

/// How a user used a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserUsage {
    /// The user; none for the sum of others.
    pub uid: Option<u32>,
    /// `sign-pkcs1`, `sign-pss`, `sign` (ECDSA, Ed25519), `decrypt-pkcs1`, `decrypt-oaep` or `derive`; none for the sum of others.
    pub operation: Option<String>,
    /// How often.
    #[serde(flatten)]
    pub used: Used,
}

/// How a process used a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// The process; none for the sum of others.
    pub pid: Option<u32>,
    /// Its user, when it connected.
    pub uid: Option<u32>,
    /// Its command; none where the kernel did not show it to the service.
    pub command: Option<String>,
    /// How often.
    #[serde(flatten)]
    pub used: Used,
}

/// How often something was used, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Operations that were done.
    pub count: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// The last request, in seconds since 1970.
    pub last: u64,
}

/// A card of the service, and what it did since the service started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardInfo {
    /// Its number, from 0.
    pub number: usize,
    /// Whether it takes batches. One that is offline runs its requests alone.
    pub online: bool,
    /// Requests that it has taken and not answered yet.
    pub pending: u64,
    /// How many requests a batch has at most.
    pub depth: usize,
    /// Operations that it did.
    pub operations: u64,
    /// Batches that it ran in the lanes.
    pub batches: u64,
    /// Operations that its batches did.
    pub in_lanes: u64,
    /// How long it worked.
    pub busy_nanoseconds: u64,
    /// How long it has been there.
    pub nanoseconds: u64,
}

/// A service's master key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Master {
    /// Whether there is one, and whether the service has it.
    pub state: MasterState,
    /// The verification patterns of registers `new`, `current` and `old`.
    pub patterns: [Option<String>; 3],
    /// How many parts of a master key are entered and not yet completed.
    pub parts: usize,
    /// The phase of a change to another master key.
    pub phase: String,
    /// Where it came from: `file`, `credential`, `parts`.
    pub source: Option<String>,
}

/// Whether there is a master key, and whether the service has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MasterState {
    /// There has never been one.
    Empty,
    /// There is one; it was not entered since the service started.
    Locked,
    /// It is there, and keys can be used.
    Open,
}

/// What everybody who may ask learns of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyInfo {
    /// Its name.
    pub name: String,
    /// Its id, which is in references to it.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// Its public half: a SubjectPublicKeyInfo in PEM.
    pub public: String,
    /// What a file holds in the key's place.
    pub reference: String,
    /// Whether it may leave the service.
    pub exportable: bool,
    /// When it was made or imported, in seconds since 1970.
    pub created: u64,
    /// Who may do what.
    pub grants: Vec<Grant>,
    /// What it may be used for: the fields of the vault's policy.
    pub policy: serde_json::Value,
    /// Operations since the service started.
    pub used: u64,
    /// Whom its certificates name: its own, and those that issued it.
    #[serde(default)]
    pub certificates: Vec<String>,
    /// When its own certificate ends, in seconds since 1970.
    #[serde(default)]
    pub certificate_ends: Option<u64>,
}

/// Users or a group, and what they may do with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Who.
    pub to: Subject,
    /// What.
    pub right: Right,
}

/// A user or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The user of that uid.
    User(u32),
    /// The users of the group of that gid.
    Group(u32),
}

/// What a [`Grant`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// Operations with the key.
    Use,
    /// Changing its attributes, and destroying it.
    Administer,
}

impl fmt::Display for Right {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Use => "use",
            Self::Administer => "administer",
        })
    }
}

/// As a user types it.
impl FromStr for Right {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "use" => Ok(Self::Use),
            "administer" => Ok(Self::Administer),
            _ => Err(format!("'{text}' is no right: say use or administer")),
        }
    }
}

/// What an administrator did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its number.
    pub number: u64,
    /// When, in seconds since 1970.
    pub time: u64,
    /// The administrator's uid.
    pub uid: u32,
    /// What.
    pub act: String,
    /// The key's name.
    pub key: Option<String>,
    /// How it went.
    pub outcome: String,
}

/// Why the service did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// For programs.
    pub code: Code,
    /// For people.
    pub message: String,
}

/// Why, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// Who asks may not.
    Denied,
    /// There is no such key, token or object.
    NoKey,
    /// There is a key of that name.
    Exists,
    /// The request makes no sense.
    Malformed,
    /// There is no master key yet, or it was not entered.
    Locked,
    /// The store cannot be written, or is damaged.
    Store,
    /// The PIN is another one.
    WrongPin,
    /// Too many wrong PINs were tried; `outboard token` helps.
    LockedPin,
    /// The user has no PIN yet.
    NoPin,
    /// This cannot be a PIN: too short, or too long.
    UnfitPin,
    /// The ticket is missing, another role's, or no longer good.
    LoggedOut,
    /// The token's policy, or what the service can do, does not allow it.
    NotAllowed,
    /// There is no room for it.
    Full,
    /// Anything else.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_is_written() {
        let requests = [
            Request::Status,
            Request::Import {
                name: "site".into(),
                key: Secret::new(b"\x30\x03\x02\x01\x07"),
                exportable: false,
            },
            Request::Grant {
                name: "site".into(),
                grant: Grant {
                    to: Subject::User(33),
                    right: Right::Use,
                },
                given: true,
            },
        ];
        for request in requests {
            let text = serde_json::to_string(&request).unwrap();
            assert_eq!(
                serde_json::from_str::<Request>(&text).unwrap(),
                request,
                "{text}"
            );
        }
    }

    #[test]
    fn no_secret_is_shown() {
        let key = Secret::new(&[0x77; 32]);
        assert_eq!(format!("{key:?}"), "Secret(32 bytes)");
        let wrong = r#"{"ask":"enter","register":null,"key":"d3d3d3d3!"}"#;
        let error = serde_json::from_str::<Request>(wrong).unwrap_err();
        assert!(!error.to_string().contains("d3d3"), "{error}");
    }
}
