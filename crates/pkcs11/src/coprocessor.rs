//! Keys of the card service, as objects of slot "coprocessor".
//!
//! A process asks the service which keys it may use when it searches for objects; where nothing has changed since, the answer
//! is a number. Each key is two objects, and a certificate each for what the service has of those. Their handles stay the same
//! as long as the key is there.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, OnceLock};

use cryptoki_sys::*;
use outboard_client::{self as client, Client, Pending, Problem};
use outboard_wire::{KeyId, Listed, Operation, Reference, Status};
use x509_cert::der::{Decode, Encode};
use zeroize::Zeroizing;

use crate::abi::Template;
use crate::error::{Error, Result};
use crate::lock::{Held, lock};
use crate::module::Module;
use crate::object::{Attributes, Material, Object, Origin, number};
use crate::settings::Settings;
use crate::slot::Slot;

/// The card service of a process, and what is known of its keys.
pub(crate) struct Coprocessor {
    client: OnceLock<Option<Arc<Client>>>,
    known: Mutex<Known>,
}

/// What the objects of the slot were made of.
#[derive(Default)]
struct Known {
    generation: u64,
    keys: BTreeMap<KeyId, (Listed, Vec<CK_OBJECT_HANDLE>)>,
}

/// A private key of the service.
pub(crate) struct ServiceKey {
    reference: Reference,
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
            client: OnceLock::new(),
            known: Mutex::new(Known {
                generation: 0,
                keys: BTreeMap::new(),
            }),
        }
    }

    /// Knows from now on where the service is; asks it nothing.
    pub(crate) fn reach(&self, settings: &Settings) {
        self.client.get_or_init(|| {
            let directory = std::ffi::CString::new(settings.service.as_os_str().as_bytes()).ok()?;
            // SAFETY: a terminated text.
            if unsafe { libc::access(directory.as_ptr(), libc::F_OK) } != 0 {
                return None;
            }
            let mut of_client = client::Settings::of(&settings.service);
            of_client.limit = settings.limit.unwrap_or(of_client.limit);
            Some(Arc::new(Client::new(of_client)))
        });
    }

    /// Whether there is a service.
    pub(crate) fn is_there(&self) -> bool {
        self.client.get().is_some_and(Option::is_some)
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
        let client = self.client.get().and_then(Option::as_ref);
        client.ok_or(CKR_TOKEN_NOT_PRESENT.into())
    }
}

impl ServiceKey {
    /// Lets the service do an operation.
    pub(crate) fn ask(
        &self,
        coprocessor: &Coprocessor,
        operation: Operation<'_>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let mut result = Zeroizing::new(Vec::new());
        coprocessor
            .client()?
            .ask(self.named(), operation, &mut result)
            .map_err(refusal)?;
        Ok(result)
    }

    /// Asks the service for an operation, and does not wait for its answer.
    pub(crate) fn begin(
        &self,
        coprocessor: &Coprocessor,
        operation: Operation<'_>,
    ) -> Result<Pending> {
        let begun = coprocessor.client()?.begin(self.named(), operation);
        begun.map_err(refusal)
    }

    fn named(&self) -> client::Key<'_> {
        client::Key {
            id: self.reference.id,
            name: &self.reference.name,
            ticket: None,
        }
    }
}

/// What the standard calls the service's refusal.
pub(crate) fn refusal(error: client::Error) -> Error {
    let code = match error.problem {
        Problem::Refused { status, .. } => match status {
            Status::Denied | Status::NotAllowed => CKR_KEY_FUNCTION_NOT_PERMITTED,
            Status::NoKey => CKR_KEY_HANDLE_INVALID,
            Status::Malformed => CKR_DATA_INVALID,
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
        let page = self.coprocessor.client()?.list(known).map_err(refusal)?;
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
        let (kind, length) = kind(&public.material)?;
        let agrees: &[u8] = &[(kind == Kind::Ec).into()];
        let decrypts: &[u8] = &[(kind == Kind::Rsa).into()];
        let uses = [(CKA_DERIVE, agrees), (CKA_DECRYPT, decrypts)];
        let private = [&halves.private()[..], &uses].concat();
        let private = of_token(listed, 1, &private)?;
        let key = ServiceKey {
            reference: listed.reference.clone(),
            length,
            kind,
        };
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

/// What a public half says of the private one, and how long signatures are.
fn kind(public: &Material) -> Result<(Kind, usize)> {
    match public {
        Material::Rsa(key) => Ok((Kind::Rsa, key.length())),
        Material::Ec(key) => Ok((Kind::Ec, 2 * key.curve().field_length())),
        Material::Ed25519Public(_) => Ok((Kind::Ed25519, 64)),
        _ => Err(CKR_GENERAL_ERROR.into()),
    }
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
