//! Keys of the card service, as objects of slot "coprocessor".
//!
//! A process asks the service which keys it may use when it searches for objects; where nothing has changed since, the answer
//! is a number. Each key is two objects, and a certificate each for what the service has of those. Their handles stay the same
//! as long as the key is there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use cryptoki_sys::*;
use outboard_client::{self as client, Client, Pending, Problem};
use outboard_engine::front::Settings;
use outboard_wire::{KeyId, Listed, Operation, Public, Reference, Status, Ticket};
use x509_cert::der::{Decode, Encode};
use zeroize::Zeroizing;

use crate::abi::Template;
use crate::error::{Error, Result};
use crate::lock::{Held, lock};
use crate::module::Module;
use crate::object::{Attributes, Material, Object, Origin, number};
use crate::slot::Slot;
use crate::token::Proof;

/// The card service of a process, and what is known of its keys.
pub(crate) struct Coprocessor {
    settings: OnceLock<client::Settings>,
    /// Made when the service's directory is there.
    client: OnceLock<Arc<Client>>,
    known: Mutex<Known>,
}

/// What the objects of the slot were made of.
#[derive(Default)]
struct Known {
    generation: u64,
    keys: BTreeMap<KeyId, (Listed, Vec<CK_OBJECT_HANDLE>)>,
}

/// A private key of the service.
#[derive(Clone)]
pub(crate) struct ServiceKey {
    pub(crate) slot: Slot,
    id: KeyId,
    /// Its own, or its token's.
    name: Arc<str>,
    /// Of a key whose user says before each operation that he is there (`CKA_ALWAYS_AUTHENTICATE`): whether he has said so.
    consent: Option<Arc<AtomicBool>>,
    /// The length of its signatures.
    pub(crate) length: usize,
    pub(crate) kind: Kind,
}

/// What a key can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Rsa,
    Ec,
    Ed25519,
}

impl Coprocessor {
    pub(crate) const fn new() -> Self {
        Self {
            settings: OnceLock::new(),
            client: OnceLock::new(),
            known: Mutex::new(Known {
                generation: 0,
                keys: BTreeMap::new(),
            }),
        }
    }

    /// Knows from now on where the service is; asks it nothing.
    pub(crate) fn reach(&self, settings: &Settings) {
        self.settings
            .get_or_init(|| client::Settings::told(settings.service.as_deref(), settings.limit));
        self.look();
    }

    /// Looks whether there is a service now.
    pub(crate) fn look(&self) -> bool {
        let Some(settings) = self.settings() else {
            return false;
        };
        if !self.is_there() && settings.directory.exists() {
            self.client
                .get_or_init(|| Arc::new(Client::new(settings.clone())));
        }
        self.is_there()
    }

    /// Whether there is a service.
    pub(crate) fn is_there(&self) -> bool {
        self.client.get().is_some()
    }

    /// Where the service is, and how long it is asked.
    pub(crate) fn settings(&self) -> Option<&client::Settings> {
        self.settings.get()
    }

    /// Forgets the objects.
    pub(crate) fn forget(&self) {
        *self.hold() = Known::default();
    }

    /// Nobody changes what is known until this is dropped.
    fn hold(&self) -> Held<'_, Known> {
        lock(&self.known)
    }

    fn client(&self) -> Result<&Arc<Client>> {
        self.client.get().ok_or(CKR_TOKEN_NOT_PRESENT.into())
    }
}

impl ServiceKey {
    /// A key of the coprocessor's slot.
    fn new(listed: &Listed) -> Result<Self> {
        let Reference { id, name, public } = &listed.reference;
        Self::of(Slot::Coprocessor, name[..].into(), *id, public)
    }

    /// A key of the token of a slot. Whether its user says before each operation that he is there says `asks`.
    ///
    /// # Errors
    /// Its public half is none.
    pub(crate) fn of_token(
        slot: Slot,
        token: Arc<str>,
        id: KeyId,
        public: &[u8],
        asks: bool,
    ) -> Result<Self> {
        let key = Self::of(slot, token, id, public)?;
        let consent = asks.then(Arc::default);
        Ok(Self { consent, ..key })
    }

    fn of(slot: Slot, name: Arc<str>, id: KeyId, public: &[u8]) -> Result<Self> {
        let (kind, length) = match Public::of(public).ok_or(CKR_CURVE_NOT_SUPPORTED)? {
            Public::Rsa { n, .. } => (Kind::Rsa, n.len()),
            // Both numbers are as long as the field, and so is each half of the point.
            Public::Ec { point, .. } => (Kind::Ec, point.len().saturating_sub(1)),
            Public::Ed25519(_) => (Kind::Ed25519, 64),
        };
        Ok(Self {
            slot,
            id,
            name,
            consent: None,
            length,
            kind,
        })
    }

    /// The same key for one operation, which waits for its user's consent; none where the key needs none.
    pub(crate) fn for_one_operation(&self) -> Option<(Self, Arc<AtomicBool>)> {
        self.consent.as_ref()?;
        let consent = Arc::<AtomicBool>::default();
        let key = Self {
            consent: Some(Arc::clone(&consent)),
            ..self.clone()
        };
        Some((key, consent))
    }

    /// Lets the service do an operation.
    pub(crate) fn ask(
        &self,
        coprocessor: &Coprocessor,
        operation: Operation<'_>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let ticket = self.ticket()?;
        let mut result = Zeroizing::new(Vec::new());
        let key = self.named(ticket.as_ref());
        let asked = coprocessor.client()?.ask(key, operation, &mut result);
        asked.map_err(|error| refusal(self.slot, error))?;
        Ok(result)
    }

    /// Asks the service for an operation, and does not wait for its answer.
    pub(crate) fn begin(
        &self,
        coprocessor: &Coprocessor,
        operation: Operation<'_>,
    ) -> Result<Pending> {
        let ticket = self.ticket()?;
        let key = self.named(ticket.as_ref());
        let begun = coprocessor.client()?.begin(key, operation);
        begun.map_err(|error| refusal(self.slot, error))
    }

    /// What opens its token for one operation.
    fn ticket(&self) -> Result<Option<Proof>> {
        let is_agreed = |consent: &Arc<AtomicBool>| consent.swap(false, Relaxed);
        match self.consent.as_ref().is_none_or(is_agreed) {
            true => Module::get()?.tokens.ticket(self.slot),
            false => Err(CKR_USER_NOT_LOGGED_IN.into()),
        }
    }

    fn named<'a>(&'a self, ticket: Option<&'a Proof>) -> client::Key<'a> {
        client::Key {
            id: self.id,
            name: &self.name,
            ticket: ticket.map(|ticket| Ticket(ticket)),
        }
    }
}

/// What the standard calls the service's refusal to a key of a slot. Where the ticket is no longer good, nobody is logged in any
/// more.
pub(crate) fn refusal(slot: Slot, error: client::Error) -> Error {
    if let Problem::Refused {
        status: Status::LoggedOut,
        ..
    } = error.problem
        && let Ok(module) = Module::get()
    {
        module.forget_login(slot);
    }
    let code = match error.problem {
        Problem::Refused { status, .. } => match status {
            Status::Denied | Status::NotAllowed => CKR_KEY_FUNCTION_NOT_PERMITTED,
            Status::NoKey => CKR_KEY_HANDLE_INVALID,
            Status::Malformed => CKR_DATA_INVALID,
            Status::Unavailable if slot.is_token() => CKR_DEVICE_ERROR,
            Status::Unavailable | Status::LoggedOut => CKR_USER_NOT_LOGGED_IN,
            Status::Done | Status::Failed | Status::Busy => CKR_FUNCTION_FAILED,
        },
        Problem::Long { .. } => CKR_DATA_LEN_RANGE,
        _ => CKR_DEVICE_ERROR,
    };
    code.into()
}

impl Module {
    /// Makes the objects of the slot what the service says now.
    pub(crate) fn refresh(&self) -> Result<()> {
        let known = self.coprocessor.hold().generation;
        // Without the lock, for this may take a while: what another thread learns meanwhile is as good.
        let page = self.coprocessor.client()?.list(known);
        let page = page.map_err(|error| refusal(Slot::Coprocessor, error))?;
        if page.generation == known {
            return Ok(());
        }
        let is_known = |listed: &&Listed| {
            let known = self.coprocessor.hold();
            let before = known.keys.get(&listed.reference.id);
            before.is_some_and(|(before, _)| before == *listed)
        };
        let new = page.keys.iter().filter(|listed| !is_known(listed));
        let mut new: BTreeMap<KeyId, Vec<Object>> = new
            .map(|listed| (listed.reference.id, objects(listed)))
            .collect();
        let mut gone = Vec::new();
        let mut place = self.coprocessor.hold();
        // Nothing is put there once the module is finalised.
        Self::get()?;
        if place.generation != known {
            // Another thread was faster.
            return Ok(());
        }
        let mut before = std::mem::take(&mut place.keys);
        for listed in page.keys {
            let id = listed.reference.id;
            let kept = before.remove(&id);
            let handles = match new.remove(&id) {
                Some(objects) => {
                    gone.extend(kept.into_iter().flat_map(|(_, handles)| handles));
                    objects
                        .into_iter()
                        .map(|object| self.objects.insert(Arc::new(object)))
                        .collect()
                }
                None => kept.map(|(_, handles)| handles).unwrap_or_default(),
            };
            place.keys.insert(id, (listed, handles));
        }
        place.generation = page.generation;
        drop(place);
        gone.extend(before.into_values().flat_map(|(_, handles)| handles));
        for handle in gone {
            drop(self.objects.remove(handle));
        }
        Ok(())
    }
}

/// The objects of a key; none of one that the module cannot use.
fn objects(listed: &Listed) -> Vec<Object> {
    let make = || {
        let halves = crate::object::halves(&listed.reference.public)?;
        let public = halves.public();
        let is_rsa = public.iter().any(|(kind, _)| *kind == CKA_MODULUS);
        let encrypts: &[u8] = &[is_rsa.into()];
        let public = of_token(
            listed,
            0,
            &[&public[..], &[(CKA_ENCRYPT, encrypts)]].concat(),
        )?;
        let public = Object::of_service(public, None)?;
        let key = ServiceKey::new(listed)?;
        let agrees: &[u8] = &[(key.kind == Kind::Ec).into()];
        let decrypts: &[u8] = &[(key.kind == Kind::Rsa).into()];
        let uses = [(CKA_DERIVE, agrees), (CKA_DECRYPT, decrypts)];
        let private = [&halves.private()[..], &uses].concat();
        let private = of_token(listed, 1, &private)?;
        let material = Material::Service(Arc::new(key));
        Ok::<_, Error>(vec![public, Object::of_service(private, Some(material))?])
    };
    let mut objects = make().unwrap_or_default();
    let certificates = outboard_wire::certificates(&listed.certificates).unwrap_or_default();
    let certificates = certificates.into_iter().enumerate();
    objects.extend(certificates.filter_map(|(at, whole)| certificate(listed, at, whole)));
    objects
}

/// The attributes of an object of a key, the one of that number.
fn of_token(
    listed: &Listed,
    number: usize,
    of_object: &[(CK_ATTRIBUTE_TYPE, &[u8])],
) -> Result<Attributes> {
    let reference = &listed.reference;
    let unique = format!("{}-{number}", reference.id);
    let of_token: [(CK_ATTRIBUTE_TYPE, &[u8]); 3] = [
        (CKA_TOKEN, &[CK_TRUE]),
        (CKA_MODIFIABLE, &[CK_FALSE]),
        (CKA_UNIQUE_ID, unique.as_bytes()),
    ];
    let of_key: [(CK_ATTRIBUTE_TYPE, &[u8]); 2] = [
        (CKA_LABEL, reference.name.as_bytes()),
        (CKA_ID, &reference.id.0),
    ];
    let mut made = [of_object, &of_token[..]].concat();
    for (kind, value) in of_key {
        if !made.iter().any(|(known, _)| *known == kind) {
            made.push((kind, value));
        }
    }
    Attributes::new(&Template::default(), &made, Origin::Service)
}

/// The object of a certificate: the first one is the key's own, and has its label and its id; the others are issuers'. None of
/// one that is damaged.
fn certificate(listed: &Listed, at: usize, whole: &[u8]) -> Option<Object> {
    let certificate = x509_cert::Certificate::from_der(whole).ok()?;
    let certificate = certificate.tbs_certificate();
    let subject = certificate.subject().to_der().ok()?;
    let issuer = certificate.issuer().to_der().ok()?;
    let serial = certificate.serial_number().to_der().ok()?;
    let public = certificate.subject_public_key_info().to_der().ok()?;
    let (class, kind) = (number(CKO_CERTIFICATE), number(CKC_X_509));
    let mut values: Vec<(CK_ATTRIBUTE_TYPE, &[u8])> = vec![
        (CKA_CLASS, &class),
        (CKA_CERTIFICATE_TYPE, &kind),
        (CKA_VALUE, whole),
        (CKA_SUBJECT, &subject),
        (CKA_ISSUER, &issuer),
        (CKA_SERIAL_NUMBER, &serial),
        (CKA_PUBLIC_KEY_INFO, &public),
    ];
    let label = certificate.subject().to_string();
    if at > 0 {
        values.extend([(CKA_LABEL, label.as_bytes()), (CKA_ID, &[][..])]);
    }
    let attributes = of_token(listed, 2 + at, &values).ok()?;
    Object::of_service(attributes, None).ok()
}

impl Object {
    /// An object that the service has.
    fn of_service(attributes: Attributes, material: Option<Material>) -> Result<Self> {
        let material = match material {
            Some(material) => material,
            None => Material::of(&attributes)?,
        };
        Ok(Self {
            slot: Slot::Coprocessor,
            session: 0,
            attributes,
            material,
        })
    }
}
