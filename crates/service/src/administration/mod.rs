//! Administration: what the commands `outboard keys`, `outboard service` and `outboard token` ask, and the PKCS #11 module.

mod certificates;
mod coprocessor;
mod report;
mod tokens;
mod translate;

use std::collections::HashMap;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use der::pem::LineEnding;
use outboard_administration::{
    AuditEntry, Code, KeyInfo, Lines, MOST_LINE, Refusal, Reply, Request, Secret, to_line,
};
use outboard_engine::scalar::pair::Pair;
use outboard_vault::{
    Approvable, Condition, Error, Grants, Name, NewKey, Pattern, Policy, Record, Register,
};
use outboard_wire::{KeyType, Reference};

use crate::complaints::About;
use crate::gate::{Gate, lock};
use crate::keys::{Keys, administrates, sees, visible};
use crate::master::Source;
use crate::peer::Peer;
use crate::tokens::Tokens;
use crate::visitor::Visitor;
pub(crate) use translate::of_message;
use translate::{
    engine_kind, failed, key_type, malformed, master_key, of_vault, pattern, refused, wire_kind,
    with,
};

/// How many commands of one user may be connected at a time. Nobody can keep others out, least of all root.
const MOST_OF_USER: usize = 16;
/// How many users other than administrators may have commands connected at a time.
const MOST_USERS: usize = 32;
/// How long a command may say nothing.
const PATIENCE: Duration = Duration::from_secs(600);
/// The longest request, in bytes: a token's new key pair has the attributes of two objects. What JSON says in so many bytes fits
/// in memory.
const MOST_REQUEST: usize = 128 * 1024;
/// How many keys or entries one answer has.
const PAGE: usize = 100;

/// The administration of a service.
pub(crate) struct Administration {
    pub(crate) keys: Arc<Keys>,
    pub(crate) tokens: Tokens,
    pub(crate) gate: Arc<Gate>,
    pub(crate) source: Source,
    pub(crate) store: String,
    pub(crate) since: u64,
    pub(crate) locked_memory: bool,
    /// How many commands of each user are connected.
    pub(crate) connected: Mutex<HashMap<u32, usize>>,
}

type Result<T> = std::result::Result<T, Refusal>;

impl Administration {
    /// Serves a command until it closes its connection, on a thread of its own.
    pub(crate) fn welcome(self: &Arc<Self>, socket: Visitor) {
        let Ok(peer) = Peer::of(&socket) else {
            return;
        };
        if !self.enter(&peer) {
            // The command sees the end of the connection.
            let problem = "too many commands are connected: the new one's connection is closed";
            return self.gate.complaints.of(&peer, About::Connections, problem);
        }
        let (this, uid) = (Arc::clone(self), peer.uid);
        let serve = move || {
            // This thread may wait for what the command attached.
            if let Err(error) = this.converse(&peer, socket.into_inner()) {
                tracing::debug!("a command's connection ended: {error}");
            }
            this.leave(peer.uid);
        };
        let started = std::thread::Builder::new()
            .name("administration".into())
            .spawn(serve);
        if started.is_err() {
            self.leave(uid);
        }
    }

    /// Counts a command in, if there is room for one more of its user.
    fn enter(&self, peer: &Peer) -> bool {
        let mut connected = lock(&self.connected);
        let has_room = match connected.get(&peer.uid) {
            Some(&count) => count < MOST_OF_USER,
            None => peer.is_administrator() || connected.len() < MOST_USERS,
        };
        if has_room {
            *connected.entry(peer.uid).or_default() += 1;
        }
        has_room
    }

    fn leave(&self, uid: u32) {
        let mut connected = lock(&self.connected);
        if let Some(count) = connected.get_mut(&uid) {
            *count -= 1;
            if *count == 0 {
                connected.remove(&uid);
            }
        }
    }

    fn converse(&self, peer: &Peer, socket: OwnedFd) -> std::io::Result<()> {
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut lines = Lines::new(stream, MOST_REQUEST);
        while let Some(line) = lines.next_line()? {
            let reply = match serde_json::from_slice(&line) {
                Ok(request) => self.answer(peer, request),
                Err(error) => Err(Refusal {
                    code: Code::Malformed,
                    message: format!("the service does not understand the request: {error}"),
                }),
            };
            if let Err(Refusal {
                code: Code::Denied,
                message,
            }) = &reply
            {
                self.gate.complaints.of(peer, About::Command, message);
            }
            let reply = reply.unwrap_or_else(Reply::Refused);
            lines.stream().write_all(&to_line(&reply)?)?;
        }
        Ok(())
    }

    fn answer(&self, peer: &Peer, request: Request) -> Result<Reply> {
        let vault = &self.keys.vault;
        Ok(match request {
            Request::Status => Reply::Status(Box::new(self.status(peer))),
            Request::Generate {
                name,
                kind,
                exportable,
            } => {
                administrator(peer)?;
                let kind = kind.parse().map_err(malformed)?;
                let pair = Pair::generate(engine_kind(kind)).map_err(failed)?;
                self.insert(peer, &name, kind, pair, exportable)?
            }
            Request::Import {
                name,
                key,
                exportable,
            } => {
                administrator(peer)?;
                let pair = Pair::from_info(&key.0).map_err(|_| Refusal {
                    code: Code::Malformed,
                    message: "the service takes RSA keys of 2048 to 4096 bits, keys on P-256, P-384 and P-521, and \
                              Ed25519 keys; this is none, or a damaged one"
                        .into(),
                })?;
                let kind = wire_kind(pair.kind)?;
                self.insert(peer, &name, kind, pair, exportable)?
            }
            Request::List { after } => self.list(peer, after.as_deref())?,
            Request::Show { name } => self.key(self.visible(peer, &name)?)?,
            Request::Grant { name, grant, given } => {
                let record = self.administered_row(peer, &name)?;
                let (subject, right) = of_vault(grant);
                let mut grants = record.grants.clone();
                match given {
                    true => grants.grant(subject, right),
                    false => grants.revoke(subject, right),
                };
                let record = vault
                    .set_grants(peer.uid, record.id, &grants)
                    .map_err(refused)?;
                self.changed(record)?
            }
            Request::Rename { name, to } => {
                let record = self.administered_row(peer, &name)?;
                let to: Name = to.parse().map_err(refused)?;
                let record = vault.rename(peer.uid, record.id, &to).map_err(refused)?;
                self.changed(record)?
            }
            Request::Certify { name, certificates } => {
                let record = self.administered(peer, &name)?;
                let chain = certificates::chain(&record, &certificates)?;
                let record = vault
                    .set_certificates(peer.uid, record.id, &chain)
                    .map_err(refused)?;
                self.changed(record)?
            }
            Request::Delete { name } => {
                let record = self.administered(peer, &name)?;
                vault.delete(peer.uid, record.id).map_err(refused)?;
                self.keys.deleted(record.id);
                Reply::Done
            }
            Request::Policy { name, set } => {
                let record = self.administered(peer, &name)?;
                let policy = with(&record, set)?;
                let record = vault
                    .set_policy(peer.uid, record.id, &policy)
                    .map_err(refused)?;
                self.changed(record)?
            }
            Request::Approve { name, act, set } => {
                let record = self.visible(peer, &name)?;
                let act = match &*act {
                    "export" => Approvable::Export,
                    "delete" => Approvable::Delete,
                    "policy" => Approvable::Policy(with(&record, set)?),
                    _ => {
                        return Err(malformed(
                            "an administrator approves export, delete or policy",
                        ));
                    }
                };
                let (given, needed) = vault.approve(peer.uid, record.id, &act).map_err(refused)?;
                Reply::Approved { given, needed }
            }
            Request::Export { name } => {
                let record = self.administered(peer, &name)?;
                let key = vault.export(peer.uid, record.id).map_err(refused)?;
                Reply::Private {
                    key: Secret(key.private),
                }
            }
            Request::Audit { from } => {
                administrator(peer)?;
                self.audit(from)?
            }
            Request::CheckAudit => {
                administrator(peer)?;
                vault.verify().map_err(refused)?;
                Reply::Done
            }
            Request::Usage { after } => self.usage(peer, after.as_deref())?,
            Request::Cards => Reply::Cards {
                cards: self.gate.cards(),
            },
            Request::SetCard { number, online } => {
                administrator(peer)?;
                self.set_card(peer, number, online)?
            }
            Request::Backup { file } => {
                administrator(peer)?;
                self.backup(peer, &file)?
            }
            Request::EnterPart { register, part } => {
                administrator(peer)?;
                let register = self.register(register.as_deref())?;
                let part = master_key(&part)?;
                let entered = vault
                    .enter_part(peer.uid, register, &part)
                    .map_err(refused)?;
                pattern(entered.check_value)
            }
            Request::CompleteParts { register } => {
                administrator(peer)?;
                let register = self.register(register.as_deref())?;
                let entered = vault.complete(peer.uid, register).map_err(refused)?;
                pattern(entered.pattern)
            }
            Request::Enter { register, key } => {
                administrator(peer)?;
                let key = master_key(&key)?;
                let known = vault.register_of(Pattern::of_key(&key));
                let is_open = vault.status().condition == Condition::Open;
                let register = match (&register, known) {
                    // In use already: nothing is entered, and nothing is logged.
                    (None, Some(Register::Current)) if is_open => {
                        return Ok(pattern(Pattern::of_key(&key)));
                    }
                    // After a restart between the steps of a roll, each key goes where it was.
                    (None, Some(known)) => known,
                    _ => self.register(register.as_deref())?,
                };
                let entered = vault
                    .enter_whole(peer.uid, register, &key)
                    .map_err(refused)?;
                self.source.keep(&key).map_err(failed)?;
                pattern(entered.pattern)
            }
            Request::Roll { step } => {
                administrator(peer)?;
                self.roll(peer, &step)?
            }
            Request::Tokens => self.tokens(peer)?,
            Request::Token {
                token,
                ticket,
                what,
            } => self.token(peer, &token, ticket.as_ref(), what)?,
            Request::Coprocessor { what } => self.coprocessor(peer, what)?,
        })
    }

    fn insert(
        &self,
        peer: &Peer,
        name: &str,
        kind: KeyType,
        pair: Pair,
        exportable: bool,
    ) -> Result<Reply> {
        let new = NewKey {
            name: name.parse().map_err(refused)?,
            key_type: kind,
            public: pair.public,
            private: pair.info,
            exportable,
            policy: Policy::default(),
            grants: Grants::default(),
        };
        let record = self.keys.vault.insert(peer.uid, &new).map_err(refused)?;
        tracing::info!("uid {} added the key '{}' ({kind})", peer.uid, record.name);
        self.changed(record)
    }

    /// The key or token of that name, where the peer may know of it.
    fn row(&self, peer: &Peer, name: &str) -> Result<Record> {
        let name: Name = name.parse().map_err(refused)?;
        match visible(peer, &name, self.keys.vault.record(&name)) {
            // 'outboard cca' has its own requests.
            Ok(record) if record.is_coprocessor() => Err(refused(Error::NoKey {
                key: name.to_string(),
            })),
            found => found.map_err(refused),
        }
    }

    /// The key of that name, where the peer may know of it.
    fn visible(&self, peer: &Peer, name: &str) -> Result<Record> {
        let record = self.row(peer, name)?;
        key_type(&record).map(|_| record)
    }

    /// The key of that name, where the peer administers it.
    fn administered(&self, peer: &Peer, name: &str) -> Result<Record> {
        let record = self.visible(peer, name)?;
        self.administers(peer, &record).map(|()| record)
    }

    /// The key or token of that name, where the peer administers it.
    fn administered_row(&self, peer: &Peer, name: &str) -> Result<Record> {
        let record = self.row(peer, name)?;
        self.administers(peer, &record).map(|()| record)
    }

    /// That the peer administers the key or token.
    fn administers(&self, peer: &Peer, record: &Record) -> Result<()> {
        if administrates(peer, record) {
            return Ok(());
        }
        let (uid, option, name) = (peer.uid, &self.keys.option, &record.name);
        let (what, command) = match record.key_type() {
            Some(_) => ("key", "keys"),
            None => ("token", "token"),
        };
        Err(Refusal {
            code: Code::Denied,
            message: format!(
                "uid {uid} may not administer the {what} '{name}' (root can run 'outboard {command} grant {name} \
                 --user {uid} --administer{option}')"
            ),
        })
    }

    fn changed(&self, record: Record) -> Result<Reply> {
        if record.key_type().is_none() {
            self.keys.forget_token(record.id);
            return self.show(record.id);
        }
        self.keys.forget(record.id);
        self.key(record)
    }

    /// A page of the keys that the peer may know of.
    fn list(&self, peer: &Peer, after: Option<&str>) -> Result<Reply> {
        let vault = &self.keys.vault;
        let (mut keys, mut damaged) = (Vec::new(), Vec::new());
        let mut room = MOST_LINE / 2;
        let mut after = after.unwrap_or_default().to_owned();
        loop {
            let names = vault.names_after(&after, PAGE as u32).map_err(refused)?;
            let Some(last) = names.last() else {
                return Ok(Reply::Keys {
                    keys,
                    damaged,
                    more: false,
                });
            };
            after = last.to_string();
            for name in &names {
                match vault.record(name) {
                    Ok(record) if sees(peer, &record) => {
                        let key = self.info(record)?;
                        room = room.saturating_sub(serde_json::to_vec(&key).map_err(failed)?.len());
                        keys.push(key);
                    }
                    Ok(_) | Err(Error::NoKey { .. }) => {}
                    Err(error @ Error::DamagedKey { .. }) => {
                        if peer.is_administrator() {
                            damaged.push(error.to_string());
                        }
                    }
                    Err(error) => return Err(refused(error)),
                }
                // A key may have many grants.
                if room == 0 {
                    break;
                }
            }
            // An answer that has one key at least: the command asks again after its name.
            if !keys.is_empty() {
                return Ok(Reply::Keys {
                    keys,
                    damaged,
                    more: true,
                });
            }
        }
    }

    fn key(&self, record: Record) -> Result<Reply> {
        Ok(Reply::Key(Box::new(self.info(record)?)))
    }

    fn info(&self, record: Record) -> Result<KeyInfo> {
        let id = record.id;
        let reference = Reference {
            id,
            name: record.name.to_string(),
            public: record.public.clone(),
        };
        let key_type = key_type(&record)?;
        let public = der::pem::encode_string("PUBLIC KEY", LineEnding::LF, &record.public);
        Ok(KeyInfo {
            name: record.name.to_string(),
            id: id.to_string(),
            kind: key_type.to_string(),
            public: public.map_err(failed)?,
            reference: reference.to_pem().map_err(failed)?,
            exportable: record.exportable,
            created: record.created,
            grants: record.grants.iter().map(of_message).collect(),
            policy: serde_json::to_value(record.policy.narrowed(key_type)).map_err(failed)?,
            used: self.keys.used(id),
            certificates: certificates::subjects(&record),
            certificate_ends: certificates::end(&record),
        })
    }

    fn audit(&self, from: u64) -> Result<Reply> {
        let mut after = self.keys.vault.audit_from(from);
        let mut page = Vec::new();
        for entry in after.by_ref().take(PAGE) {
            let entry = entry.map_err(refused)?;
            let outcome = format!("{:?}", entry.outcome).to_lowercase();
            let outcome = match entry.detail.is_empty() {
                true => outcome,
                // The detail as it is: it may name a file or a mechanism.
                false => format!("{outcome}: {}", entry.detail),
            };
            page.push(AuditEntry {
                number: entry.number,
                time: entry.time,
                uid: entry.uid,
                act: entry.act.as_str().into(),
                key: entry.name,
                outcome,
            });
        }
        let more = after.next().is_some();
        Ok(Reply::Audit {
            entries: page,
            more,
        })
    }

    fn register(&self, name: Option<&str>) -> Result<Register> {
        let status = self.keys.vault.status();
        match name {
            Some("new") => Ok(Register::New),
            Some("current") => Ok(Register::Current),
            Some("old") => Ok(Register::Old),
            // While keys can be used, another master key can only be the next one.
            None if status.condition == Condition::Open => Ok(Register::New),
            None => Ok(Register::Current),
            Some(_) => Err(malformed("a register is new, current or old")),
        }
    }

    /// A copy of the store in its own directory: the service's sandbox lets it write nowhere else.
    fn backup(&self, peer: &Peer, file: &str) -> Result<Reply> {
        let is_plain = !file.is_empty()
            && !file.starts_with('.')
            && file
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if !is_plain {
            return Err(malformed(
                "a backup's name has letters, digits, '.', '_' and '-'",
            ));
        }
        let path = std::path::Path::new(&self.store).join(file);
        self.keys.vault.backup(peer.uid, path).map_err(refused)?;
        Ok(Reply::Done)
    }

    fn roll(&self, peer: &Peer, step: &str) -> Result<Reply> {
        let vault = &self.keys.vault;
        match step {
            "prepare" => {
                let prepared = vault.prepare(peer.uid, |_| {}).map_err(refused)?;
                if let Some(damaged) = prepared.damaged.into_iter().next() {
                    return Err(refused(damaged));
                }
            }
            "activate" => vault.activate(peer.uid).map_err(refused)?,
            "finalise" => vault.finalise(peer.uid).map_err(refused)?,
            "cancel" => vault.cancel(peer.uid).map_err(refused)?,
            _ => return Err(malformed("a step is prepare, activate, finalise or cancel")),
        }
        self.source.tidy(vault).map_err(failed)?;
        tracing::info!(
            "uid {} did step '{step}' of the master key's roll",
            peer.uid
        );
        Ok(Reply::Done)
    }
}

/// Root and the service's own user administer every key.
fn administrator(peer: &Peer) -> Result<()> {
    if peer.is_administrator() {
        return Ok(());
    }
    Err(Refusal {
        code: Code::Denied,
        message: format!(
            "uid {} may not administer the service (root and the service's own user may)",
            peer.uid
        ),
    })
}
