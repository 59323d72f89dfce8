//! A key file with a reference to a key of the card service: whether a user's program can use it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use outboard_administration::{
    self as administration, Code, Grant, KeyInfo, Reply, Request, Right, Subject,
};
use outboard_wire::Reference;
use outboard_wire::reference::FIRST_LINE;

use crate::Error;
use crate::card_service::Place;
use crate::{Finding, service};
use outboard_accounts::{self as accounts, Account};

const SUBJECT: &str = "key file";

/// The findings about the key file, for that user.
pub(crate) fn examine(file: &Path, user: Option<&str>) -> Result<Vec<Finding>, Error> {
    let uid = user
        .map(|user| accounts::find(Account::User, user))
        .transpose()?;
    let text =
        fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let name = file.display();
    let Some(block) = block(&text) else {
        let what = format!("{name} holds no reference to a key of the card service");
        return Ok(vec![Finding::note(SUBJECT, what).remedy(format!(
            "to move its key into the service, run 'outboard keys adopt {name}'"
        ))]);
    };
    let reference = match Reference::from_pem(block) {
        Ok(reference) => reference,
        Err(error) => {
            let what = format!("the reference in {name} cannot be read");
            return Ok(vec![
                Finding::problem(SUBJECT, what).because(error.to_string()),
            ]);
        }
    };
    let place = Place::in_force();
    let (mut findings, status) = service::look(&place, true);
    if status.is_none() {
        return Ok(findings);
    }
    findings.extend(of_key(&place, file, &reference, uid));
    findings.extend(backup(file));
    Ok(findings)
}

/// What the service says of the key.
fn of_key(place: &Place, file: &Path, reference: &Reference, uid: Option<u32>) -> Vec<Finding> {
    let name = &reference.name;
    let show = |name: String| {
        place
            .connect()
            .and_then(|mut it| it.ask(&Request::Show { name }))
    };
    let key = match show(name.clone()) {
        Ok(Reply::Key(key)) if key.id == reference.id.to_string() => *key,
        Ok(Reply::Key(key)) => match renamed(place, reference) {
            Some(key) => key,
            None => {
                let what = format!("{} refers to a key that is gone", file.display());
                let why = format!(
                    "the key '{}' of today is another one (id {}, the file has {})",
                    key.name, key.id, reference.id
                );
                let remedy = format!(
                    "if the new key is meant, run 'outboard keys reference {name}{} > {}'",
                    place.option(),
                    file.display()
                );
                return vec![Finding::problem(SUBJECT, what).because(why).remedy(remedy)];
            }
        },
        Err(administration::Error::Refused(refusal)) if refusal.code == Code::NoKey => {
            match renamed(place, reference) {
                Some(key) => key,
                None => {
                    let what = format!("the service has no key '{name}'");
                    let why =
                        "it was deleted, it is another service's, or this user may not see it";
                    let remedy = format!(
                        "run this command as root, and 'outboard keys list{}'",
                        place.option()
                    );
                    return vec![Finding::problem(SUBJECT, what).because(why).remedy(remedy)];
                }
            }
        }
        Ok(_) => return vec![],
        Err(error) => return vec![Finding::problem(SUBJECT, error.to_string())],
    };
    let mut findings = vec![grant(place, &key, uid)];
    findings.extend(policy(place, &key));
    findings
}

/// The key of that id under another name: a reference stays valid.
fn renamed(place: &Place, reference: &Reference) -> Option<KeyInfo> {
    let mut service = place.connect().ok()?;
    let (keys, _) = service.keys().ok()?;
    let id = reference.id.to_string();
    keys.into_iter().find(|key| key.id == id)
}

/// Whether the user may use the key.
fn grant(place: &Place, key: &KeyInfo, uid: Option<u32>) -> Finding {
    let name = &key.name;
    let line = |user: &str| {
        format!(
            "run 'outboard keys grant {name} --user {user}{}'",
            place.option()
        )
    };
    let Some(uid) = uid else {
        let uses = key.grants.iter().filter(|grant| grant.right == Right::Use);
        return match uses.count() {
            0 => Finding::problem(SUBJECT, format!("nobody may use the key '{name}'"))
                .because("it has no grant")
                .remedy(line("NAME")),
            _ => Finding::good(
                SUBJECT,
                format!("the service has the key '{name}' ({})", key.kind),
            ),
        };
    };
    let user = accounts::name(Account::User, uid);
    if may_use(&key.grants, uid) {
        return Finding::good(
            SUBJECT,
            format!("{user} may use the key '{name}' ({})", key.kind),
        );
    }
    Finding::problem(SUBJECT, format!("{user} may not use the key '{name}'"))
        .because("there is no grant for this user or one of its groups")
        .remedy(line(&user))
}

/// Whether a user has one of these grants to use something, or one of the user's groups has.
pub(crate) fn may_use(grants: &[Grant], uid: u32) -> bool {
    let uses = grants.iter().filter(|grant| grant.right == Right::Use);
    uses.into_iter().any(|grant| match grant.to {
        Subject::User(user) => user == uid,
        Subject::Group(gid) => accounts::is_member(uid, gid),
    })
}

/// Whether the policy allows any use now.
fn policy(place: &Place, key: &KeyInfo) -> Option<Finding> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let second = |name: &str| key.policy[name].as_u64();
    let remedy = |option: &str| {
        format!(
            "run 'outboard keys policy {} {option}{}'",
            key.name,
            place.option()
        )
    };
    let problem = |what: &str, option: &str| {
        let what = format!("the policy of the key '{}' {what}", key.name);
        Some(Finding::problem(SUBJECT, what).remedy(remedy(option)))
    };
    if second("valid_from").is_some_and(|from| now < from) {
        return problem("does not allow its use yet", "--valid-from 0");
    }
    if second("valid_to").is_some_and(|to| now >= to) {
        return problem("no longer allows its use", "--valid-to 0");
    }
    if key.policy["operations"]
        .as_array()
        .is_some_and(Vec::is_empty)
    {
        return problem("allows no operation", "--operations sign,derive");
    }
    None
}

/// The file as it was before 'outboard keys adopt', which has the private key.
fn backup(file: &Path) -> Option<Finding> {
    let mut backup = file.as_os_str().to_owned();
    backup.push(".outboard-backup");
    let backup = PathBuf::from(backup);
    let what = format!("{} still has the private key", backup.display());
    backup.exists().then(|| {
        Finding::note(SUBJECT, what)
            .because("'outboard keys adopt' kept a copy of the file as it was")
            .remedy(format!(
                "move it to a safe place, or run 'shred --remove {}'",
                backup.display()
            ))
    })
}

/// The block of the reference among the others of the file.
fn block(text: &[u8]) -> Option<&[u8]> {
    const LAST_LINE: &[u8] = b"-----END OUTBOARD KEY-----";
    let find = |what: &[u8]| text.windows(what.len()).position(|window| window == what);
    let (start, end) = (find(FIRST_LINE.as_bytes())?, find(LAST_LINE)?);
    text.get(start..end + LAST_LINE.len())
}
