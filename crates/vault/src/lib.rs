//! Keys under the master key: the store, policies and grants, the master key's roll, the audit log.
//!
//! ```text
//! service ──▶ Vault ──▶ keys ────────┬──▶ store: SQLite, one file
//!               │       tokens       │
//!               │       roll         │
//!               │       audit log ───┘
//!               └─▶ registers new, current, old: master keys, in secret pages only
//! ```
//!
//! - A private half is wrapped by AES-256-GCM-SIV (RFC 8452), which authenticates every attribute of the key with it.
//! - The vault keeps no master key on a disk, only its verification pattern.
//! - Each change and its entry in the audit log are one transaction.
//!
//! The vault decides nothing about callers but who agrees to an export or a deletion ([`Approvals`]): its caller compares
//! uids with [`Grants`] and uses with [`Policy`]. It knows SQLite and AWS-LC; no sockets, no threads, no OpenSSL.
//!
//! # What the vault does not protect from
//! The place of the whole store by an older copy of it: nothing outside the file tells the vault how new it is. Single rows
//! of an older copy are found ([`Vault::verify`]), but not those of a token's objects, nor of its count of wrong PINs, nor the
//! coprocessor's.

mod ability;
mod approvals;
mod audit;
mod backup;
mod cipher;
mod coprocessor;
mod encoding;
mod error;
mod grants;
mod keys;
mod master;
mod objects;
mod policy;
mod record;
mod roll;
mod salvage;
pub mod secret;
mod state;
mod store;
mod token;
mod tokens;
mod vault;
mod verify;

pub use approvals::Approvable;
pub use audit::{Act, Entry, Outcome};
pub use backup::Restored;
pub use coprocessor::{Coprocessor, StateChange, StateEntry};
pub use error::{Error, Result};
pub use grants::{Grants, MAX_GRANTS, Right, Subject};
pub use keys::Listing;
pub use master::{LENGTH as MASTER_KEY_LENGTH, MAX_PARTS, Pattern, Register, random_part};
pub use objects::{MOST_OBJECTS, NewObject, Object, Objects, ObjectsKey};
pub use outboard_wire::{KeyId, KeyType};
pub use policy::{
    Approvals, Digest, MAX_ADMINISTRATORS, Operation, Padding, Policy, Refusal, Request,
};
pub use record::{MAX_PRIVATE, MAX_PUBLIC, Name, NewKey, Record, Unwrapped, Which};
pub use roll::{Prepared, Progress};
pub use state::Phase;
pub use token::{Login, MOST_FAILURES, Opener, Role, Ticket, Token};
pub use tokens::{MOST_TOKENS, NewToken};
pub use vault::{Condition, Entered, EnteredPart, RegisterStatus, Status, Vault};
pub use verify::Verified;
