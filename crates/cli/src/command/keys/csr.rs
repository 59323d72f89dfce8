//! `outboard keys csr`: a certificate request (PKCS #10, RFC 2986), which the service signs.

use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;

use der::asn1::{Any, ObjectIdentifier};
use der::pem::LineEnding;
use der::{Encode, Tag, TagNumber};
use outboard_administration::KeyInfo;
use outboard_client::{Client, Key, Settings};
use outboard_installation as installation;
use outboard_libcrypto::{Context, Digest};
use outboard_wire::{self as wire, KeyType, Operation, Reference};
use zeroize::Zeroizing;

use crate::Failure;
use crate::completion;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The key's name
    #[arg(add = completion::keys())]
    pub(super) name: String,
    /// The certificate's subject: /CN=example.org/O=Shop
    #[arg(long, value_name = "SUBJECT")]
    subject: Subject,
    /// Further names: host names, IP addresses, mail addresses
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    san: Vec<Alternative>,
}

/// The request for that key, as PEM.
pub(super) fn make(
    key: &KeyInfo,
    arguments: &Arguments,
    directory: &Path,
) -> Result<String, Failure> {
    let reference = Reference::from_pem(key.reference.as_bytes())?;
    let scheme = Scheme::of(key.kind.parse()?);
    let info = sequence(&[
        element(Tag::Integer, &[0])?,
        sequence(&arguments.subject.0)?,
        reference.public,
        attributes(&arguments.san)?,
    ])?;
    let digest;
    let operation = match scheme.digest {
        None => Operation::Ed25519 { message: &info },
        Some((name, number)) => {
            let context = Context::new(&installation::library()?)?;
            digest = Digest::fetch(&context, name, None)?.digest(&info)?;
            let (number, value) = (Some(number), &digest[..]);
            match scheme.is_rsa {
                true => Operation::Pkcs1 {
                    digest: number,
                    value,
                },
                false => Operation::Ecdsa {
                    digest: number,
                    value,
                },
            }
        }
    };
    let client = Client::new(Settings::of(directory));
    let mut signature = Zeroizing::new(Vec::new());
    let asked = Key {
        id: reference.id,
        name: &key.name,
        ticket: None,
    };
    client.ask(asked, operation, &mut signature)?;
    let request = sequence(&[info, scheme.identifier()?, bits(&signature)?])?;
    Ok(der::pem::encode_string(
        "CERTIFICATE REQUEST",
        LineEnding::LF,
        &request,
    )?)
}

/// How a key signs: RSA by PKCS #1 v1.5, which every authority takes.
struct Scheme {
    oid: ObjectIdentifier,
    is_rsa: bool,
    digest: Option<(&'static str, wire::Digest)>,
}

impl Scheme {
    /// The digest is as strong as the key (RFC 5758, RFC 8017 and RFC 8410 have the identifiers).
    fn of(kind: KeyType) -> Self {
        let scheme = |oid, digest| Self {
            oid: ObjectIdentifier::new_unwrap(oid),
            is_rsa: matches!(kind, KeyType::Rsa(_)),
            digest,
        };
        match kind {
            KeyType::Rsa(_) => scheme("1.2.840.113549.1.1.11", Some(SHA256)),
            KeyType::P256 => scheme("1.2.840.10045.4.3.2", Some(SHA256)),
            KeyType::P384 => scheme(
                "1.2.840.10045.4.3.3",
                Some(("SHA384", wire::Digest::Sha384)),
            ),
            KeyType::P521 => scheme(
                "1.2.840.10045.4.3.4",
                Some(("SHA512", wire::Digest::Sha512)),
            ),
            KeyType::Ed25519 => scheme("1.3.101.112", None),
        }
    }

    /// AlgorithmIdentifier: with the parameter NULL for RSA, without one for the others.
    fn identifier(&self) -> der::Result<Vec<u8>> {
        let oid = self.oid.to_der()?;
        match self.is_rsa {
            true => sequence(&[oid, element(Tag::Null, &[])?]),
            false => sequence(&[oid]),
        }
    }
}

const SHA256: (&str, wire::Digest) = ("SHA256", wire::Digest::Sha256);

/// A distinguished name: its parts in DER.
#[derive(Clone)]
struct Subject(Vec<Vec<u8>>);

/// The parts that a subject may have (RFC 4519, RFC 2985), with the type of their text and its most characters
/// (RFC 5280, A.1; OpenSSL writes mail addresses of at most 128).
const PARTS: [(&str, &str, Tag, usize); 8] = [
    ("CN", "2.5.4.3", Tag::Utf8String, 64),
    ("serialNumber", "2.5.4.5", Tag::PrintableString, 64),
    ("C", "2.5.4.6", Tag::PrintableString, 2),
    ("L", "2.5.4.7", Tag::Utf8String, 128),
    ("ST", "2.5.4.8", Tag::Utf8String, 128),
    ("O", "2.5.4.10", Tag::Utf8String, 64),
    ("OU", "2.5.4.11", Tag::Utf8String, 64),
    ("emailAddress", "1.2.840.113549.1.9.1", Tag::Ia5String, 128),
];

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .strip_prefix('/')
            .ok_or("it begins with '/', as /CN=example.org")?;
        let part = |part: &str| {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("'{part}' is no part such as CN=example.org"))?;
            let (_, oid, tag, most) =
                PARTS
                    .iter()
                    .find(|(known, ..)| *known == name)
                    .ok_or_else(|| {
                        let known = PARTS.map(|(name, ..)| name).join(", ");
                        format!("'{name}' is none of {known}")
                    })?;
            let fits = match name {
                "C" => value.len() == 2 && value.bytes().all(|byte| byte.is_ascii_uppercase()),
                _ => is_text(value, *tag) && value.chars().count() <= *most,
            };
            if !fits {
                return Err(format!("{name} cannot be '{}'", value.escape_debug()));
            }
            let encode = || {
                let oid = ObjectIdentifier::new_unwrap(oid).to_der()?;
                let typed = sequence(&[oid, element(*tag, value.as_bytes())?])?;
                element(Tag::Set, &typed)
            };
            encode().map_err(|error: der::Error| error.to_string())
        };
        parts
            .split('/')
            .map(part)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// A subject alternative name (RFC 5280, 4.2.1.6): its GeneralName in DER.
#[derive(Clone)]
struct Alternative(Vec<u8>);

impl FromStr for Alternative {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MAIL: u32 = 1;
        const HOST: u32 = 2;
        const ADDRESS: u32 = 7;
        let (number, content) = match text.parse() {
            Ok(IpAddr::V4(address)) => (ADDRESS, address.octets().to_vec()),
            Ok(IpAddr::V6(address)) => (ADDRESS, address.octets().to_vec()),
            Err(_) if is_mail(text) => (MAIL, text.as_bytes().to_vec()),
            Err(_) if is_host(text) => (HOST, text.as_bytes().to_vec()),
            Err(_) => return Err("a name is a host name, an IP address or a mail address".into()),
        };
        let tag = context_specific(number, false);
        let name = element(tag, &content).map_err(|error| error.to_string())?;
        Ok(Self(name))
    }
}

/// Whether it is a text of that type (X.680, 41.4) without control characters.
fn is_text(text: &str, tag: Tag) -> bool {
    let fits = |one: char| match tag {
        Tag::PrintableString => one.is_ascii_alphanumeric() || " '()+,-./:=?".contains(one),
        Tag::Ia5String => one.is_ascii(),
        _ => true,
    };
    !text.is_empty() && text.chars().all(|one| fits(one) && !one.is_control())
}

/// Whether it is a mail address: no more than its form, for the authority writes to it.
fn is_mail(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(user, host)| {
        is_text(user, Tag::Ia5String) && !user.contains([' ', ':', '/', '@']) && is_host(host)
    })
}

/// Whether it is a host name (RFC 1123, 2.1), with '*' for any first part. The last part is no number: such a name is a
/// wrong IP address.
fn is_host(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        (1..=63).contains(&part.len())
            && part.bytes().all(is_plain)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let name = text.strip_prefix("*.").unwrap_or(text);
    let last = name.rsplit('.').next().unwrap_or_default();
    text.len() <= 253
        && name.split('.').all(is_part)
        && !last.bytes().all(|byte| byte.is_ascii_digit())
}

/// The request's attributes: the extension subjectAltName (RFC 2985, 5.4.2), where there are such names.
fn attributes(names: &[Alternative]) -> der::Result<Vec<u8>> {
    let tag = context_specific(0, true);
    if names.is_empty() {
        return element(tag, &[]);
    }
    const EXTENSION_REQUEST: &str = "1.2.840.113549.1.9.14";
    const SUBJECT_ALT_NAME: &str = "2.5.29.17";
    let oid = |text| ObjectIdentifier::new_unwrap(text).to_der();
    let names: Vec<_> = names.iter().map(|name| name.0.clone()).collect();
    let value = element(Tag::OctetString, &sequence(&names)?)?;
    let extensions = sequence(&[sequence(&[oid(SUBJECT_ALT_NAME)?, value])?])?;
    let values = element(Tag::Set, &extensions)?;
    element(tag, &sequence(&[oid(EXTENSION_REQUEST)?, values])?)
}

fn context_specific(number: u32, constructed: bool) -> Tag {
    Tag::ContextSpecific {
        constructed,
        number: TagNumber(number),
    }
}

fn sequence(parts: &[Vec<u8>]) -> der::Result<Vec<u8>> {
    element(Tag::Sequence, &parts.concat())
}

/// A BIT STRING of whole bytes.
fn bits(bytes: &[u8]) -> der::Result<Vec<u8>> {
    element(Tag::BitString, &[&[0], bytes].concat())
}

fn element(tag: Tag, content: &[u8]) -> der::Result<Vec<u8>> {
    Any::new(tag, content)?.to_der()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_read_as_openssl_writes_it() {
        let place = format!("/L={}", "ä".repeat(128));
        for text in [
            "/CN=example.org",
            "/C=DE/O=Käse & Co/CN=a b=c",
            "/serialNumber=HRB 1-2.3",
            &place,
        ] {
            let subject: Subject = text.parse().unwrap();
            assert_eq!(subject.0.len(), text.matches('/').count(), "{text}");
        }
        let long = format!("/CN={}", "a".repeat(65));
        for text in [
            "",
            "CN=a",
            "/",
            "/CN",
            "/CN=",
            "/cn=a",
            "/CN=a/",
            "/X=a",
            "/C=DEU",
            "/C=de",
            "/CN=a\nb",
            "/emailAddress=ä@b",
            "/serialNumber=a@b",
            "/serialNumber=a_b",
            "/serialNumber=a*",
            &long,
        ] {
            assert!(text.parse::<Subject>().is_err(), "{text}");
        }
    }

    #[test]
    fn further_names_tell_what_they_are() {
        for (text, tag, length) in [
            ("example.org", 0x82, 11),
            ("*.example.org", 0x82, 13),
            ("xn--exmple-cua.org", 0x82, 18),
            ("1.example", 0x82, 9),
            ("192.0.2.1", 0x87, 4),
            ("2001:db8::1", 0x87, 16),
            ("a@example.org", 0x81, 13),
        ] {
            let name: Alternative = text.parse().unwrap();
            assert_eq!(&name.0[..2], [tag, length], "{text}");
        }
        for text in [
            "",
            "a b",
            "exämple.org",
            "DNS:example.org",
            "https://a",
            "a\0",
            "256.1.1.1",
            "192.0.2.01",
            "192.0.2",
            "*",
            "a.*.org",
            "a..org",
            ".org",
            "a.",
            "-a.org",
            "<a>",
            "a;b",
            "@",
            "a@",
            "@example.org",
            "a@b@example.org",
            "a@192.0.2.1",
            &"a".repeat(64),
            &format!("{}a", "a.".repeat(127)),
        ] {
            assert!(text.parse::<Alternative>().is_err(), "{text}");
        }
    }
}
