//! From the command's words to the vault's, the engine's and the wire's, and back.

use std::collections::BTreeSet;

use outboard_administration::{Code, Grant, Refusal, Reply, Right, Secret, Subject};
use outboard_engine::scalar::ec::Curve;
use outboard_engine::scalar::pair::Kind;
use outboard_vault::{self as vault, Error, Policy};
use outboard_wire::KeyType;
use serde_json::Value;
use zeroize::Zeroizing;

use super::Result;

/// The key's policy with other values in those fields.
pub(super) fn with(record: &vault::Record, set: serde_json::Map<String, Value>) -> Result<Policy> {
    let key_type = key_type(record)?;
    let widest = Policy::widest(key_type);
    let known = |field, one, can| match set.get(field) {
        Some(Value::Array(words)) => knows(key_type, one, words, can),
        _ => Ok(()),
    };
    known("operations", "operation", words_of(&widest.operations))?;
    known("paddings", "padding", words_of(&widest.paddings))?;
    known("digests", "digest", words_of(&widest.digests))?;
    let mut fields = match serde_json::to_value(&record.policy) {
        Ok(Value::Object(fields)) => fields,
        _ => return Err(failed("the policy cannot be written")),
    };
    fields.extend(set);
    let policy: Policy = serde_json::from_value(fields.into())
        .map_err(|error| malformed(format!("the policy does not make sense: {error}")))?;
    if policy.narrowed(key_type).operations.is_empty() {
        return Err(malformed(
            "the policy would allow nothing: none of its operations goes with one of its paddings",
        ));
    }
    Ok(policy)
}

/// The key's type.
pub(super) fn key_type(record: &vault::Record) -> Result<KeyType> {
    record.key_type().ok_or_else(|| Refusal {
        code: Code::NoKey,
        message: format!(
            "'{}' is a token, not a key (run 'outboard token list')",
            record.name
        ),
    })
}

/// That the key's type has all that those words name.
fn knows(key_type: KeyType, one: &str, words: &[Value], can: Vec<String>) -> Result<()> {
    let words = words.iter().filter_map(Value::as_str);
    let Some(unknown) = words
        .into_iter()
        .find(|&word| !can.iter().any(|known| known == word))
    else {
        return Ok(());
    };
    let all = match can.is_empty() {
        true => "none".into(),
        false => can.join(", "),
    };
    Err(malformed(format!(
        "a key of type {key_type} has no {one} '{unknown}' (it has {all})"
    )))
}

fn words_of(members: &BTreeSet<impl ToString>) -> Vec<String> {
    members.iter().map(ToString::to_string).collect()
}

pub(super) fn master_key(secret: &Secret) -> Result<Zeroizing<[u8; 32]>> {
    let bytes = <[u8; 32]>::try_from(&secret.0[..]);
    bytes
        .map(Zeroizing::new)
        .map_err(|_| malformed("a master key, or a part of one, has 32 bytes"))
}

pub(super) fn pattern(pattern: vault::Pattern) -> Reply {
    Reply::Pattern {
        pattern: pattern.to_string(),
    }
}

pub(super) fn engine_kind(kind: KeyType) -> Kind {
    match kind {
        KeyType::Rsa(bits) => Kind::Rsa(bits.into()),
        KeyType::P256 => Kind::Ec(Curve::P256),
        KeyType::P384 => Kind::Ec(Curve::P384),
        KeyType::P521 => Kind::Ec(Curve::P521),
        KeyType::Ed25519 => Kind::Ed25519,
    }
}

pub(super) fn wire_kind(kind: Kind) -> Result<KeyType> {
    Ok(match kind {
        Kind::Rsa(bits @ 2048..=4096) => KeyType::Rsa(bits as u16),
        Kind::Rsa(bits) => {
            return Err(malformed(format!(
                "an RSA key of {bits} bits: the service takes 2048 to 4096"
            )));
        }
        Kind::Ec(Curve::P256) => KeyType::P256,
        Kind::Ec(Curve::P384) => KeyType::P384,
        Kind::Ec(Curve::P521) => KeyType::P521,
        Kind::Ed25519 => KeyType::Ed25519,
    })
}

pub(super) fn of_vault(grant: Grant) -> (vault::Subject, vault::Right) {
    let subject = match grant.to {
        Subject::User(uid) => vault::Subject::User(uid),
        Subject::Group(gid) => vault::Subject::Group(gid),
    };
    let right = match grant.right {
        Right::Use => vault::Right::Use,
        Right::Administer => vault::Right::Administer,
    };
    (subject, right)
}

pub(crate) fn of_message((subject, right): (vault::Subject, vault::Right)) -> Grant {
    Grant {
        to: match subject {
            vault::Subject::User(uid) => Subject::User(uid),
            vault::Subject::Group(gid) => Subject::Group(gid),
        },
        right: match right {
            vault::Right::Use => Right::Use,
            vault::Right::Administer => Right::Administer,
        },
    }
}

pub(super) fn refused(error: Error) -> Refusal {
    let code = match error {
        Error::NoKey { .. } | Error::NoToken { .. } | Error::NoObject { .. } => Code::NoKey,
        Error::WrongPin { .. } => Code::WrongPin,
        Error::LockedPin { .. } => Code::LockedPin,
        Error::NoPin { .. } => Code::NoPin,
        Error::TooMany { .. } => Code::Full,
        Error::DamagedObject { .. } => Code::Store,
        Error::NameTaken { .. } => Code::Exists,
        Error::Invalid { .. } => Code::Malformed,
        Error::Empty | Error::Locked { .. } => Code::Locked,
        Error::Full { .. } | Error::ReadOnly { .. } | Error::DamagedStore { .. } => Code::Store,
        Error::DamagedKey { .. } | Error::DamagedLog { .. } => Code::Store,
        _ => Code::Failed,
    };
    Refusal {
        code,
        message: error.to_string(),
    }
}

pub(super) fn malformed(reason: impl ToString) -> Refusal {
    Refusal {
        code: Code::Malformed,
        message: reason.to_string(),
    }
}

pub(super) fn failed(reason: impl ToString) -> Refusal {
    Refusal {
        code: Code::Failed,
        message: reason.to_string(),
    }
}
