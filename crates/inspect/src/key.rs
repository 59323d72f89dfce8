//! A key file with a reference to a key of the card service: whether a user's program can use it.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use outboard_administration::{
    self as administration, Code, Grant, KeyInfo, Reply, Request, Right, Subject,
};
use outboard_installation as installation;
use outboard_wire::Reference;

use crate::card_service::Place;
use crate::references::{MOST_BYTES, backup_of, block};
use crate::{Error, Finding, loading, service};
use outboard_accounts::{self as accounts, Account};

const SUBJECT: &str = "key file";

/// The findings about the key file, for that user.
pub(crate) fn examine(file: &Path, user: Option<&str>) -> Result<Vec<Finding>, Error> {
    let uid = user
        .map(|user| accounts::find(Account::User, user))
        .transpose()?;
    let mut text = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text));
    read.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("{} is no key file: it has more than 1 MiB", file.display()).into());
    }
    let name = file.display();
    let Some(block) = block(&text) else {
        if !holds_private_key(&text) {
            let what = format!("{name} has no PEM block of a reference or of a private key");
            return Ok(vec![Finding::problem(SUBJECT, what).remedy(
                "name the file that the server's configuration names as its key ('outboard keys import' takes keys that are \
                 DER or PKCS #12)",
            )]);
        }
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
    findings.extend(
        loading::obstacle(&place.directory).map(|obstacle| obstacle.finding(SUBJECT, file)),
    );
    if status.is_none() {
        return Ok(findings);
    }
    match of_key(&place, file, &reference) {
        Ok(Some(key)) => {
            findings.push(grant(&place, &key, uid));
            findings.extend(policy(&place, &key));
            findings.extend(backup(file));
        }
        Ok(None) => {}
        Err(finding) => findings.push(*finding),
    }
    Ok(findings)
}

/// Whether there is a PEM block of a private key, of whatever kind.
fn holds_private_key(text: &[u8]) -> bool {
    const END: &[u8] = b"PRIVATE KEY-----";
    text.windows(END.len()).any(|window| window == END)
}

/// The key as the service knows it; none where the service does not tell.
fn of_key(
    place: &Place,
    file: &Path,
    reference: &Reference,
) -> Result<Option<KeyInfo>, Box<Finding>> {
    let name = &reference.name;
    let problem = |what: String| Finding::problem(SUBJECT, what);
    let shown = place.connect().and_then(|mut it| {
        it.ask(&Request::Show {
            name: name.to_owned(),
        })
    });
    let other = match shown {
        Ok(Reply::Key(key)) if key.id == reference.id.to_string() => return Ok(Some(*key)),
        Ok(Reply::Key(key)) => Some(key),
        Err(administration::Error::Refused(refusal)) if refusal.code == Code::NoKey => None,
        Ok(_) => return Ok(None),
        Err(error) => return Err(Box::new(problem(error.to_string()))),
    };
    if let Some(key) = renamed(place, reference) {
        return Ok(Some(key));
    }
    let way_back = way_back(file);
    Err(Box::new(match other {
        Some(other) => problem(format!("{} refers to a key that is gone", file.display()))
            .because(format!(
                "the key '{}' of today is another one (id {}, the file has {})",
                other.name, other.id, reference.id
            ))
            .remedy(format!(
                "{way_back}; if the new key is meant, run 'outboard keys reference {name}{} > {}'",
                place.option(),
                file.display()
            )),
        None if installation::is_root() => problem(format!("the service has no key '{name}'"))
            .because("it was deleted, or it is another service's")
            .remedy(way_back),
        None => problem(format!("the service has no key '{name}' for this user"))
            .because("it was deleted, it is another service's, or this user may not see it")
            .remedy("run this command as root, who sees every key".to_owned()),
    }))
}

/// What helps where the key is gone that a file refers to.
pub(crate) fn way_back(file: &Path) -> String {
    match backup_of(file).exists() {
        true => format!(
            "the file as it was has the key: run 'outboard keys adopt --revert {}', and restart the server",
            file.display()
        ),
        false => {
            "restore a backup of the store that has it, or give the server a new key".to_owned()
        }
    }
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
    let backup = backup_of(file);
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
