//! The objects of a token, as their attributes say.

use std::collections::BTreeMap;

use cryptoki_sys::*;
use outboard_administration::{Connection, ObjectInfo, Reply, Request, Secret, TokenRequest};
use outboard_wire::attributes::{self, Attributes};
use outboard_wire::{KeyType, Public};
use outboard_wording::printable;
use serde::Serialize;
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, OctetStringRef};
use x509_cert::der::{Decode, Encode};
use zeroize::Zeroizing;

use crate::Failure;
use crate::table::{Align, Table};

/// An object.
#[derive(Debug, Serialize)]
pub(super) struct Object {
    /// What names it for good.
    pub(super) id: String,
    /// What it is.
    pub(super) class: Class,
    /// Its label.
    pub(super) label: String,
    /// What keys and certificates belong together by (CKA_ID), in hexadecimal digits; may be empty.
    pub(super) key_id: String,
    /// Of a key: its type.
    #[serde(rename = "type")]
    pub(super) key_type: Option<String>,
    /// Whether only the token's user sees it.
    pub(super) private: bool,
    /// Whether the service has its private half.
    pub(super) inside: bool,
    /// Of a certificate: DER.
    #[serde(skip)]
    pub(super) certificate: Vec<u8>,
    /// Of a key of the service: its public half, in base64.
    #[serde(skip)]
    pub(super) public: Option<String>,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Class {
    PrivateKey,
    PublicKey,
    SecretKey,
    Certificate,
    Data,
    Other,
}

impl Class {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PrivateKey => "private key",
            Self::PublicKey => "public key",
            Self::SecretKey => "secret key",
            Self::Certificate => "certificate",
            Self::Data => "data",
            Self::Other => "other",
        }
    }
}

/// All objects that the ticket shows, and a sentence for each that is damaged.
pub(super) fn all(
    service: &mut Connection,
    token: &str,
    ticket: &Secret,
) -> Result<(Vec<Object>, Vec<String>), Failure> {
    let (mut all, mut all_damaged): (Vec<Object>, Vec<String>) = Default::default();
    loop {
        let after = all.last().map(|object| object.id.clone());
        let request = Request::Token {
            token: token.to_owned(),
            ticket: Some(ticket.clone()),
            what: TokenRequest::Objects { known: 0, after },
        };
        let Reply::Objects {
            objects,
            damaged,
            more,
            ..
        } = service.ask(&request)?
        else {
            return Err(service.surprised().into());
        };
        let ended = !more || objects.is_empty();
        all.extend(objects.iter().map(Object::of));
        all_damaged.extend(damaged);
        if ended {
            all.sort_by(|one, other| (&one.label, &one.id).cmp(&(&other.label, &other.id)));
            return Ok((all, all_damaged));
        }
    }
}

/// The objects as a table.
pub(super) fn table(objects: &[Object]) -> String {
    if objects.is_empty() {
        return "The token has no object.\n".into();
    }
    let mut table = Table::new(&[
        ("label", Align::Left),
        ("what", Align::Left),
        ("type", Align::Left),
        ("key id", Align::Left),
        ("id", Align::Left),
    ])
    .expendable(&["key id"]);
    for object in objects {
        table.row([
            printable(&object.label),
            object.class.name().to_owned(),
            object.key_type.clone().unwrap_or_default(),
            object.key_id.clone(),
            object.id.clone(),
        ]);
    }
    table.render()
}

impl Object {
    fn of(info: &ObjectInfo) -> Self {
        // What the module cannot read is an object without attributes.
        let attributes = Attributes::read(&info.attributes.0).ok();
        let get = |of| attributes.and_then(|attributes| attributes.find(of));
        let class = get(CKA_CLASS).and_then(number);
        let key_id = get(CKA_ID).unwrap_or_default();
        Self {
            id: info.id.clone(),
            class: match class {
                Some(CKO_PRIVATE_KEY) => Class::PrivateKey,
                Some(CKO_PUBLIC_KEY) => Class::PublicKey,
                Some(CKO_SECRET_KEY) => Class::SecretKey,
                Some(CKO_CERTIFICATE) => Class::Certificate,
                Some(CKO_DATA) => Class::Data,
                _ => Class::Other,
            },
            label: String::from_utf8_lossy(get(CKA_LABEL).unwrap_or_default()).into_owned(),
            key_id: key_id.iter().map(|byte| format!("{byte:02x}")).collect(),
            key_type: info.kind.clone().or_else(|| {
                let known = get(CKA_KEY_TYPE).and_then(number)?;
                Some(match known {
                    CKK_RSA => "rsa".to_owned(),
                    CKK_EC => "ec".to_owned(),
                    CKK_EC_EDWARDS => "edwards".to_owned(),
                    CKK_AES => "aes".to_owned(),
                    CKK_GENERIC_SECRET => "generic".to_owned(),
                    other => format!("{other:#x}"),
                })
            }),
            private: info.private,
            inside: info.kind.is_some(),
            certificate: match class {
                Some(CKO_CERTIFICATE) => get(CKA_VALUE).unwrap_or_default().to_vec(),
                _ => Vec::new(),
            },
            public: info.public.clone(),
        }
    }
}

fn number(value: &[u8]) -> Option<CK_ULONG> {
    Some(CK_ULONG::from_ne_bytes(value.try_into().ok()?))
}

/// Attributes to be stored.
#[derive(Default)]
pub(super) struct Made(BTreeMap<u64, Vec<u8>>);

impl Made {
    /// Of an object of a class, with a label and what belongs together.
    fn of(class: CK_OBJECT_CLASS, label: &str, key_id: &[u8]) -> Self {
        Self::default()
            .number(CKA_CLASS, class)
            .bytes(CKA_LABEL, label.as_bytes())
            .bytes(CKA_ID, key_id)
    }

    /// Of a private key, whose private half the service has, and of its public half.
    pub(super) fn pair(public: &[u8], label: &str, key_id: &[u8]) -> Option<[Self; 2]> {
        let of = |class| Self::of(class, label, key_id);
        let [private, public] = match Public::of(public)? {
            Public::Rsa { n, e } => {
                let key = |class| of(class).number(CKA_KEY_TYPE, CKK_RSA);
                [
                    key(CKO_PRIVATE_KEY).flag(CKA_DECRYPT, true),
                    key(CKO_PUBLIC_KEY)
                        .flag(CKA_ENCRYPT, true)
                        .bytes(CKA_MODULUS, n)
                        .bytes(CKA_PUBLIC_EXPONENT, e),
                ]
            }
            Public::Ec { curve, point } => {
                let oid = match curve {
                    KeyType::P256 => "1.2.840.10045.3.1.7",
                    KeyType::P384 => "1.3.132.0.34",
                    _ => "1.3.132.0.35",
                };
                let key = |class| of(class).number(CKA_KEY_TYPE, CKK_EC);
                let private = key(CKO_PRIVATE_KEY).flag(CKA_DERIVE, true);
                [private, key(CKO_PUBLIC_KEY).curve(oid, point)?]
            }
            Public::Ed25519(point) => {
                let key = |class| of(class).number(CKA_KEY_TYPE, CKK_EC_EDWARDS);
                let private = key(CKO_PRIVATE_KEY).flag(CKA_DERIVE, false);
                [private, key(CKO_PUBLIC_KEY).curve("1.3.101.112", point)?]
            }
        };
        Some([private.flag(CKA_SIGN, true), public.flag(CKA_VERIFY, true)])
    }

    /// Of a certificate.
    pub(super) fn certificate(
        certificate: &Certificate,
        label: &str,
        key_id: &[u8],
    ) -> Result<Self, Failure> {
        let body = certificate.tbs_certificate();
        Ok(Self::of(CKO_CERTIFICATE, label, key_id)
            .number(CKA_CERTIFICATE_TYPE, CKC_X_509)
            .bytes(CKA_SUBJECT, &body.subject().to_der()?)
            .bytes(CKA_ISSUER, &body.issuer().to_der()?)
            .bytes(CKA_SERIAL_NUMBER, &body.serial_number().to_der()?)
            .bytes(CKA_VALUE, &certificate.to_der()?))
    }

    fn curve(self, oid: &str, point: &[u8]) -> Option<Self> {
        let oid = ObjectIdentifier::new(oid).ok()?.to_der().ok()?;
        let point = OctetStringRef::new(point).ok()?.to_der().ok()?;
        Some(self.bytes(CKA_EC_PARAMS, &oid).bytes(CKA_EC_POINT, &point))
    }

    fn number(self, of: CK_ATTRIBUTE_TYPE, value: CK_ULONG) -> Self {
        self.bytes(of, &value.to_ne_bytes())
    }

    fn flag(self, of: CK_ATTRIBUTE_TYPE, value: bool) -> Self {
        self.bytes(of, &[value.into()])
    }

    fn bytes(mut self, of: CK_ATTRIBUTE_TYPE, value: &[u8]) -> Self {
        self.0.insert(of, value.to_vec());
        self
    }

    /// As the service stores them.
    pub(super) fn stored(&self) -> Secret {
        Secret(Zeroizing::new(attributes::write(&self.0)))
    }
}

/// The public half that a certificate has, in DER.
pub(super) fn public_of(certificate: &[u8]) -> Option<Vec<u8>> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let info = certificate.tbs_certificate().subject_public_key_info();
    info.to_der().ok()
}
