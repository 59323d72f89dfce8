//! Certificates of public RSA keys, in the publication's form: a section of a token, or by itself.
//!
//! ```text
//! 40 certificate    2 length of all that follows, and of these four bytes
//! 41 public key     6 bytes of e, 8 bits of n, 10 bytes of n, 12 e, n: a token's public section with another first byte
//! 42 information    4 51 environment identifier: 4 the identifier, 16 bytes      (may be missing)
//! 45 signature      4 f1 SHA-256, 5 f1 PKCS #1 PSS with 32 bytes of salt, 6 the label of the key that signed, 70 the signature
//! ```
//! The publication has SHA-1 and ISO 9796-1 there, which are broken, with the numbers 01 and 01. The signature is of all before it, from the
//! first byte (40) on. A certificate has one signature here.

use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::scalar::rsa::{self, SaltLength, Scheme};

use super::pka::{Public, number_at};
use crate::answer::{Outcome, Refusal};
use crate::value::Label;

/// An environment identifier.
pub(crate) type Environment = [u8; 16];

/// What signatures are made with.
const SIGNATURE: [u8; 2] = [0xf1, 0xf1];
const DIGEST: Digest = Digest::Sha256;
const SCHEME: Scheme = Scheme::Pss {
    mgf1: DIGEST,
    salt: SaltLength::Bytes(32),
};
/// Bytes of a signature's subsection before the signature.
const SIGNATURE_HEAD: usize = 70;

/// A certificate that was read. Nobody has verified it.
pub(crate) struct Certificate<'a> {
    pub(crate) public: Public,
    /// Of the card that made the key.
    pub(crate) environment: Option<Environment>,
    signed: &'a [u8],
    signature: &'a [u8],
}

impl<'a> Certificate<'a> {
    /// One by itself, or that of a token.
    pub(crate) fn parse(bytes: &'a [u8]) -> Outcome<Self> {
        let section = find(bytes).ok_or(Refusal::TokenVersion)?;
        Self::read(section).ok_or(Refusal::TokenVersion)
    }

    fn read(section: &'a [u8]) -> Option<Self> {
        let mut rest = section.get(4..)?;
        let public = take(&mut rest, 0x41)?;
        let public = Public::read(&[&[0x04], &public[1..]].concat())?;
        let mut environment = None;
        if rest.first() == Some(&0x42) {
            let mut information = take(&mut rest, 0x42)?.get(4..)?;
            environment = Some(take(&mut information, 0x51)?.get(4..)?.try_into().ok()?);
            if !information.is_empty() {
                return None;
            }
        }
        let (signed, signature) = signed(section, rest)?;
        Some(Self {
            public,
            environment,
            signed,
            signature,
        })
    }

    /// What a registered hash is of: all but the signature.
    pub(crate) fn hash(&self) -> Outcome<[u8; 32]> {
        hash(self.signed)
    }

    pub(crate) fn is_signed_by(&self, key: &rsa::Key) -> Outcome<bool> {
        is_signed(key, self.signed, self.signature)
    }
}

/// The part of a whole before its signature, and the signature. `rest` is the whole's last part: a subsection of a signature.
pub(super) fn signed<'a>(whole: &'a [u8], mut rest: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let subsection = take(&mut rest, 0x45)?;
    let signature = subsection.get(SIGNATURE_HEAD..)?;
    let is_known = subsection[4..6] == SIGNATURE && rest.is_empty() && !signature.is_empty();
    is_known.then(|| (&whole[..whole.len() - signature.len()], signature))
}

/// The section of a certificate in those bytes: of a token, or all of them.
fn find(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = match bytes.first()? {
        0x40 => bytes,
        0x1e | 0x1f => bytes.get(8..number_at(bytes, 2)?)?,
        _ => return None,
    };
    let is_alone = rest.len() == bytes.len();
    while let Some(&first) = rest.first() {
        let section = take(&mut rest, first)?;
        if first == 0x40 {
            return (!is_alone || rest.is_empty()).then_some(section);
        }
    }
    None
}

/// The next section, which begins with that byte. It has four bytes at least.
pub(super) fn take<'a>(rest: &mut &'a [u8], first: u8) -> Option<&'a [u8]> {
    let length = number_at(rest, 2).filter(|length| *length >= 4)?;
    let (section, after) = rest.split_at_checked(length)?;
    *rest = after;
    (section[0] == first).then_some(section)
}

/// A section with that content.
pub(super) fn section(first: u8, content: &[u8]) -> Vec<u8> {
    let length = ((content.len() + 4) as u16).to_be_bytes();
    [&[first, 0, length[0], length[1]], content].concat()
}

/// The subsection of a signature, before the signature of that length.
pub(super) fn signature_head(signer: &Label, length: usize) -> Vec<u8> {
    let mut head = section(0x45, &[&SIGNATURE[..], &signer.padded()].concat());
    let length = ((head.len() + length) as u16).to_be_bytes();
    head[2..4].copy_from_slice(&length);
    head
}

/// A certificate before its signature, which is of that length.
pub(crate) fn unsigned(
    public: &Public,
    environment: Option<&Environment>,
    (signer, length): (&Label, usize),
) -> Vec<u8> {
    let mut key = public.section().to_vec();
    key[0] = 0x41;
    let information = environment.map_or(Vec::new(), |environment| {
        section(0x42, &section(0x51, environment))
    });
    let mut whole = section(
        0x40,
        &[key, information, signature_head(signer, length)].concat(),
    );
    let length = ((whole.len() + length) as u16).to_be_bytes();
    whole[2..4].copy_from_slice(&length);
    whole
}

/// A token with a certificate.
pub(crate) fn with_certificate(mut token: Vec<u8>, certificate: &[u8]) -> Vec<u8> {
    token.extend_from_slice(certificate);
    let length = (token.len() as u16).to_be_bytes();
    token[2..4].copy_from_slice(&length);
    token
}

/// A signature, as certificates and shares of master keys have it.
pub(crate) fn sign(key: &rsa::Key, data: &[u8]) -> Outcome<Vec<u8>> {
    let mut signature = vec![0; key.length()];
    key.sign(SCHEME, DIGEST, &hash(data)?, &mut signature)?;
    Ok(signature)
}

/// Whether it is one of that data.
pub(crate) fn is_signed(key: &rsa::Key, data: &[u8], signature: &[u8]) -> Outcome<bool> {
    Ok(key.verify(SCHEME, DIGEST, &hash(data)?, signature))
}

/// SHA-256.
pub(crate) fn hash(data: &[u8]) -> Outcome<[u8; 32]> {
    let mut hasher = Hasher::new(DIGEST)?;
    hasher.update(data)?;
    hasher.end()?[..].try_into().map_err(|_| Refusal::Resource)
}
