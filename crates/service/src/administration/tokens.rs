//! Tokens: what the command `outboard token` and the PKCS #11 module ask.
//!
//! Who may use or administer a token sees it, and may try to log in. Every change of its objects needs a ticket: the user's, or for
//! a public object without a private half the security officer's.

use base64ct::{Base64, Encoding};
use outboard_administration::{
    self as messages, Code, MOST_ATTRIBUTES, MOST_LINE, NewObject, ObjectInfo, PIN_LENGTH, Refusal,
    Reply, Secret, TokenInfo, TokenPolicy, TokenRequest,
};
use outboard_engine::scalar::pair::Pair;
use outboard_vault::{self as vault, Error, KeyId, KeyType, Login, Name, NewToken, Role, Token};
use outboard_wire::attributes::{self, Attributes};

use super::translate::{engine_kind, failed, malformed, of_message, refused, wire_kind};
use super::{Administration, Result, administrates, administrator};
use crate::complaints::About;
use crate::keys::sees;
use crate::peer::Peer;

const _: () = assert!(vault::MOST_FAILURES == messages::MOST_FAILURES);
const _: () = assert!(vault::MOST_OBJECTS == messages::MOST_OBJECTS);

/// A token, and who asks for it.
struct Asked<'a> {
    peer: &'a Peer,
    token: Token,
    /// What the ticket proves; none without one.
    role: Option<Role>,
    ticket: Option<&'a Secret>,
}

impl Administration {
    /// The tokens that the peer may know of.
    pub(super) fn tokens(&self, peer: &Peer) -> Result<Reply> {
        let (tokens, damaged) = self.keys.vault.tokens().map_err(refused)?;
        for problem in damaged {
            self.gate.complaints.of_system(About::Store, problem);
        }
        let seen = tokens.into_iter().filter(|token| sees(peer, &token.record));
        let tokens: Result<_> = seen.map(|token| self.token_info(&token)).collect();
        Ok(Reply::Tokens { tokens: tokens? })
    }

    /// How that token does.
    pub(super) fn show(&self, id: KeyId) -> Result<Reply> {
        let token = self.keys.vault.token(id).map_err(refused)?;
        Ok(Reply::Tokens {
            tokens: vec![self.token_info(&token)?],
        })
    }

    pub(super) fn token(
        &self,
        peer: &Peer,
        name: &str,
        ticket: Option<&Secret>,
        what: TokenRequest,
    ) -> Result<Reply> {
        if let TokenRequest::Create { label, pins } = what {
            return self.create(peer, name, &label, pins);
        }
        let token = self.visible_token(peer, name)?;
        let (vault, id, uid) = (&self.keys.vault, token.record.id, peer.uid);
        match what {
            TokenRequest::Create { .. } | TokenRequest::Show => return self.show(id),
            TokenRequest::Login { role, pin } => {
                let role = role_of(role);
                plays(peer, &token, role)?;
                let pin = pin.as_ref().map(|pin| &pin.0[..]);
                let _turn = self.tokens.logins.of(id);
                let ticket = vault.log_in(uid, id, role, pin).map_err(refused)?;
                return Ok(Reply::Ticket {
                    ticket: Secret::new(&*ticket),
                });
            }
            TokenRequest::SetPin { role, old, new } => {
                let new = fit(&new)?;
                let _turn = self.tokens.logins.of(id);
                let set = vault.set_pin(uid, id, role_of(role), &old.0, new);
                set.map_err(refused)?;
            }
            TokenRequest::Initialise { pin, label } => {
                plays(peer, &token, Role::Officer)?;
                let pin = pin.as_ref().map(|pin| &pin.0[..]);
                let _turn = self.tokens.logins.of(id);
                vault.initialise(uid, id, pin, &label).map_err(refused)?;
                self.tokens.changed(id);
            }
            TokenRequest::Policy { policy } => {
                self.administers(peer, &token.record)?;
                let policy = written(&policy)?;
                vault.restrict(uid, id, &policy).map_err(refused)?;
                return self.show(id);
            }
            TokenRequest::Delete => {
                self.administers(peer, &token.record)?;
                vault.delete(uid, id).map_err(refused)?;
                self.tokens.deleted(id);
                self.keys.deleted_token(id);
                return Ok(Reply::Done);
            }
            other => {
                let role = ticket.map(|ticket| proved(&token, uid, ticket));
                let role = role.transpose()?;
                let asked = Asked {
                    peer,
                    token,
                    role,
                    ticket,
                };
                return self.with_ticket(asked, other);
            }
        }
        self.keys.forget_token(id);
        Ok(Reply::Done)
    }

    fn with_ticket(&self, asked: Asked<'_>, what: TokenRequest) -> Result<Reply> {
        let (vault, id, uid) = (&self.keys.vault, asked.token.record.id, asked.peer.uid);
        match what {
            TokenRequest::InitPin { pin } => {
                asked.needs(&[Role::Officer])?;
                let pin = fit(&pin)?;
                let _turn = self.tokens.logins.of(id);
                self.still(&asked)?;
                vault.init_pin(uid, &asked.token, pin).map_err(refused)?;
            }
            TokenRequest::Objects { known, after } => {
                return self.objects(&asked, known, after.as_deref());
            }
            TokenRequest::Generate {
                kind,
                private,
                public,
            } => {
                asked.needs(&[Role::User])?;
                let kind = kind.parse().map_err(malformed)?;
                asked.takes(kind)?;
                let made = {
                    let _turn = self.tokens.pairs.of(id);
                    Pair::generate(engine_kind(kind))
                };
                let pair = made.map_err(|_| {
                    let problem = format!("the service does not make keys of type {kind}");
                    refusal(Code::NotAllowed, problem)
                })?;
                let public = object(public, None, Some(pair.public.clone()))?;
                let key = Some((kind, pair.info));
                let _turn = self.tokens.logins.of(id);
                self.still(&asked)?;
                let private = object(private, key, Some(pair.public))?;
                return self.insert_objects(&asked, vec![private, public]);
            }
            TokenRequest::Insert { object: new, key } => {
                let mut taken = (None, None);
                match key {
                    Some(key) => {
                        asked.needs(&[Role::User])?;
                        let pair = Pair::from_info(&key.0).map_err(|_| {
                            malformed("the private key is damaged, or of a type that the service does not take")
                        })?;
                        let kind = wire_kind(pair.kind)
                            .map_err(|unfit| refusal(Code::NotAllowed, unfit.message))?;
                        asked.takes(kind)?;
                        taken = (Some((kind, pair.info)), Some(pair.public));
                    }
                    None => asked.may_change(new.private, false)?,
                }
                return self.insert_objects(&asked, vec![object(new, taken.0, taken.1)?]);
            }
            TokenRequest::Change {
                object: changed,
                attributes,
            } => {
                let _turn = self.tokens.attributes.of(id);
                let changed = asked.object(vault, &changed)?;
                let (known, mut object) = (changed.id, changed.content);
                asked.may_change(object.private, object.key.is_some())?;
                object.attributes = with_changes(&object.attributes, &attributes)?;
                let change = vault.change_object(&asked.token, known, object.attributes.clone());
                change.map_err(refused)?;
                self.tokens.changed(id);
                return Ok(self.told(&asked, vec![info(known, object)]));
            }
            TokenRequest::Destroy { object } => {
                let known: KeyId = object.parse().map_err(malformed)?;
                match asked.object(vault, &object) {
                    Ok(object) => {
                        let (private, key) = (object.content.private, object.content.key);
                        asked.may_change(private, key.is_some())?;
                    }
                    // Nobody can say what a damaged one was.
                    Err(Refusal {
                        code: Code::Store, ..
                    }) => asked.needs(&[Role::User])?,
                    Err(error) => return Err(error),
                }
                let destroyed = vault.destroy_object(uid, &asked.token, known);
                destroyed.map_err(refused)?;
                self.tokens.changed(id);
            }
            _ => return Err(failed("the request belongs elsewhere")),
        }
        self.keys.forget_token(id);
        Ok(Reply::Done)
    }

    /// That the ticket is good after a wait, too: meanwhile somebody may have set another PIN, or taken the grant back. While it is
    /// the token's turn to log in, nobody sets a PIN.
    fn still(&self, asked: &Asked<'_>) -> Result<()> {
        let id = asked.token.record.id.to_string();
        let token = self.visible_token(asked.peer, &id)?;
        match asked.ticket {
            Some(ticket) => proved(&token, asked.peer.uid, ticket).map(drop),
            None => Err(logged_out(&token)),
        }
    }

    fn create(
        &self,
        peer: &Peer,
        name: &str,
        label: &str,
        pins: Option<messages::Pins>,
    ) -> Result<Reply> {
        administrator(peer)?;
        let pins = match &pins {
            None => None,
            Some(pins) => Some((
                fit(&pins.officer)?,
                pins.user.as_ref().map(fit).transpose()?,
            )),
        };
        let name: Name = name.parse().map_err(refused)?;
        let new = NewToken { name, label, pins };
        let token = self.keys.vault.create_token(peer.uid, &new);
        let token = token.map_err(refused)?;
        tracing::info!("uid {} made the token '{}'", peer.uid, token.record.name);
        self.show(token.record.id)
    }

    fn insert_objects(&self, asked: &Asked<'_>, new: Vec<vault::NewObject>) -> Result<Reply> {
        let id = asked.token.record.id;
        let vault = &self.keys.vault;
        let ids = vault.insert_objects(asked.peer.uid, &asked.token, &new);
        let ids = ids.map_err(refused)?;
        self.tokens.changed(id);
        let objects = ids.into_iter().zip(new);
        let objects = objects.map(|(id, object)| info(id, object));
        Ok(self.told(asked, objects.collect()))
    }

    /// What becomes of a request that stores objects.
    fn told(&self, asked: &Asked<'_>, objects: Vec<ObjectInfo>) -> Reply {
        let id = asked.token.record.id;
        Reply::Objects {
            generation: self.tokens.generation(id, asked.sees_all()),
            objects,
            damaged: Vec::new(),
            more: false,
        }
    }

    /// A page of objects.
    fn objects(&self, asked: &Asked<'_>, known: u64, after: Option<&str>) -> Result<Reply> {
        let token = &asked.token;
        // Before the objects are read: a change while they are read makes the client ask again.
        let generation = self.tokens.generation(token.record.id, asked.sees_all());
        let mut after = after
            .map(|id| id.parse::<KeyId>().map_err(malformed))
            .transpose()?;
        let (mut objects, mut damaged) = (Vec::new(), Vec::new());
        let mut more = known != generation;
        // An answer that has one object at least: the client asks again after its id.
        while more && objects.is_empty() {
            let page = self.keys.vault.objects(token, after, MOST_LINE / 2);
            let page = page.map_err(refused)?;
            let seen = page.objects.into_iter();
            let seen = seen.filter(|object| !object.content.private || asked.sees_all());
            objects.extend(seen.map(|object| info(object.id, object.content)));
            damaged.extend(page.damaged.iter().map(Error::to_string));
            after = page.next;
            more = after.is_some();
        }
        for problem in &damaged {
            self.gate.complaints.of_system(About::Store, problem);
        }
        Ok(Reply::Objects {
            generation,
            objects,
            damaged,
            more,
        })
    }

    /// The token of that id or name, where the peer may know of it.
    fn visible_token(&self, peer: &Peer, name: &str) -> Result<Token> {
        let vault = &self.keys.vault;
        let by_id = name.parse::<KeyId>().map(|id| vault.token(id));
        let found = match by_id {
            Ok(Ok(token)) => Ok(token),
            Ok(Err(error)) if !matches!(error, Error::NoToken { .. }) => Err(error),
            _ => vault.token(&name.parse::<Name>().map_err(refused)?),
        };
        match found {
            Ok(token) if sees(peer, &token.record) => Ok(token),
            Err(error) if peer.is_administrator() => Err(refused(error)),
            Ok(_) | Err(Error::DamagedKey { .. }) => Err(refused(Error::NoToken {
                token: name.to_owned(),
            })),
            Err(error) => Err(refused(error)),
        }
    }

    fn token_info(&self, token: &Token) -> Result<TokenInfo> {
        let record = &token.record;
        let login = |role| match token.login(role) {
            Login::Grant => messages::Login::Grant,
            Login::Unset => messages::Login::Unset,
            Login::Pin { failures } => messages::Login::Pin {
                failures,
                locked: failures >= vault::MOST_FAILURES,
            },
        };
        let objects = self.keys.vault.count_objects(record.id);
        Ok(TokenInfo {
            id: record.id.to_string(),
            name: record.name.to_string(),
            label: token.label.clone(),
            slot: token.slot,
            created: record.created,
            user: login(Role::User),
            officer: login(Role::Officer),
            objects: objects.map_err(refused)?,
            grants: record.grants.iter().map(of_message).collect(),
            policy: policy(token)?,
        })
    }
}

impl Asked<'_> {
    fn sees_all(&self) -> bool {
        self.role == Some(Role::User)
    }

    /// That the ticket is of one of those roles.
    fn needs(&self, roles: &[Role]) -> Result<()> {
        match self.role {
            Some(role) if roles.contains(&role) => Ok(()),
            _ => Err(logged_out(&self.token)),
        }
    }

    /// That whoever asks may insert, change or destroy such an object.
    fn may_change(&self, private: bool, has_key: bool) -> Result<()> {
        match private || has_key {
            true => self.needs(&[Role::User]),
            false => self.needs(&[Role::User, Role::Officer]),
        }
    }

    /// That the token takes and makes keys of that type.
    fn takes(&self, kind: KeyType) -> Result<()> {
        let types = policy(&self.token)?.types;
        let kind = kind.to_string();
        if types.is_none_or(|types| types.contains(&kind)) {
            return Ok(());
        }
        let name = &self.token.record.name;
        Err(refusal(
            Code::NotAllowed,
            format!(
                "the policy of token '{name}' has no keys of type {kind} (run 'outboard token policy {name}')"
            ),
        ))
    }

    /// The object of that id, where whoever asks may know of it.
    fn object(&self, vault: &vault::Vault, id: &str) -> Result<vault::Object> {
        let id: KeyId = id.parse().map_err(malformed)?;
        let object = vault.object(&self.token, id).map_err(refused)?;
        match object.content.private && !self.sees_all() {
            true => Err(logged_out(&self.token)),
            false => Ok(object),
        }
    }
}

/// That the peer may try to prove that role: who plays the security officer of a token without PINs administers it.
fn plays(peer: &Peer, token: &Token, role: Role) -> Result<()> {
    let by_grant = role == Role::Officer && token.login(role) == Login::Grant;
    match by_grant && !administrates(peer, &token.record) {
        true => Err(refusal(
            Code::Denied,
            format!(
                "token '{}' has no PINs: only who administers it is its security officer",
                token.record.name
            ),
        )),
        false => Ok(()),
    }
}

/// Whose ticket it is.
fn proved(token: &Token, uid: u32, ticket: &Secret) -> Result<Role> {
    let is_of = |role: &Role| {
        let opener = token.opener(*role);
        opener.is_some_and(|opener| opener.opens(uid, &ticket.0))
    };
    let role = [Role::User, Role::Officer].into_iter().find(is_of);
    role.ok_or_else(|| logged_out(token))
}

fn logged_out(token: &Token) -> Refusal {
    refusal(
        Code::LoggedOut,
        format!(
            "nobody is logged in to token '{}' in that role, or its PIN was changed since (log in again)",
            token.record.name
        ),
    )
}

fn role_of(role: messages::Role) -> Role {
    match role {
        messages::Role::User => Role::User,
        messages::Role::Officer => Role::Officer,
    }
}

/// The bytes of what can be a PIN.
fn fit(pin: &Secret) -> Result<&[u8]> {
    match PIN_LENGTH.contains(&pin.0.len()) {
        true => Ok(&pin.0),
        false => Err(refusal(
            Code::UnfitPin,
            format!(
                "a PIN has {} to {} bytes",
                PIN_LENGTH.start(),
                PIN_LENGTH.end()
            ),
        )),
    }
}

type Bytes = zeroize::Zeroizing<Vec<u8>>;

fn bounded(attributes: Secret) -> Result<Bytes> {
    match attributes.0.len() <= MOST_ATTRIBUTES {
        true => Ok(attributes.0),
        false => Err(refusal(
            Code::Full,
            format!("an object's attributes have at most {MOST_ATTRIBUTES} bytes"),
        )),
    }
}

/// Attributes of which some are changed.
fn with_changes(before: &[u8], changes: &Secret) -> Result<Bytes> {
    let read = |bytes| Attributes::read(bytes).map_err(malformed);
    let after = attributes::changed(read(before)?, read(&changes.0)?);
    bounded(Secret(after.into()))
}

fn object(
    new: NewObject,
    key: Option<(KeyType, Bytes)>,
    public: Option<Vec<u8>>,
) -> Result<vault::NewObject> {
    Ok(vault::NewObject {
        private: new.private,
        attributes: bounded(new.attributes)?,
        key: key.map(|(key_type, private)| vault::ObjectsKey { key_type, private }),
        public,
    })
}

fn info(id: KeyId, object: vault::NewObject) -> ObjectInfo {
    ObjectInfo {
        id: id.to_string(),
        private: object.private,
        attributes: Secret(object.attributes),
        kind: object.key.map(|key| key.key_type.to_string()),
        public: object.public.map(|public| Base64::encode_string(&public)),
    }
}

/// A policy as it is stored.
fn written(policy: &TokenPolicy) -> Result<String> {
    for kind in policy.types.iter().flatten() {
        kind.parse::<KeyType>().map_err(malformed)?;
    }
    let is_mechanism = |name: &&String| {
        let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        name.starts_with("CKM_") && name.bytes().all(plain)
    };
    if let Some(other) = policy
        .mechanisms
        .iter()
        .flatten()
        .find(|name| !is_mechanism(name))
    {
        return Err(malformed(format!(
            "'{other}' is no mechanism (they are written as in the standard: CKM_ECDSA)"
        )));
    }
    serde_json::to_string(policy).map_err(failed)
}

fn policy(token: &Token) -> Result<TokenPolicy> {
    match &*token.policy {
        "" => Ok(TokenPolicy::default()),
        policy => serde_json::from_str(policy).map_err(failed),
    }
}

fn refusal(code: Code, message: String) -> Refusal {
    Refusal { code, message }
}
