//! Tokens of public and private keys: RSA, and NIST's curves.
//!
//! ```text
//! 1e external, 1f internal; 00; length; 0000 0000          then sections, each: what it is, version, length, …
//! 04 RSA public    6 bytes of e, 8 bits of n, 10 bytes of n, 12 e, n
//! 08 RSA private   50 use, 54 bytes of p, q, dp, dq, u, n; 76 verification pattern, 124 wrapped key, n at the end
//! 21 EC public     8 curve's kind, 10 bits of p, 12 bytes of the point, 14 the point
//! 20 EC private    8 use, 12 bits of p, 28 verification pattern, 36 wrapped key
//! 10 name          4 the private key's name, 64 bytes
//! ```
//! The public sections are the publication's. In the private ones the fields are, but not what the secret part has: it is a
//! PrivateKeyInfo (RFC 5958), wrapped as `card::master` says, bound to the public section and to the use.

use outboard_engine::scalar::ec::Curve;
use outboard_engine::scalar::key_wrap::Padding;
use outboard_engine::scalar::pair::{Kind as PairKind, Pair, Private};
use outboard_engine::scalar::{ec, rsa};
use zeroize::Zeroizing;

use crate::answer::{Outcome, Refusal};
use crate::card::master::{Kind, MasterKey, Masters};

const EXTERNAL: u8 = 0x1e;
const INTERNAL: u8 = 0x1f;

/// What a private key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Signs.
    Sign = 0x00,
    /// Signs and decrypts.
    Both = 0x80,
    /// Decrypts.
    Decrypt = 0xc0,
}

impl Use {
    fn read(flag: u8) -> Option<Self> {
        [Self::Sign, Self::Both, Self::Decrypt]
            .into_iter()
            .find(|known| *known as u8 == flag & 0xc0)
    }

    pub(crate) fn signs(self) -> bool {
        self != Self::Decrypt
    }

    pub(crate) fn decrypts(self) -> bool {
        self != Self::Sign
    }
}

/// A public half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Public {
    /// Modulus (empty in a skeleton), its bits, exponent.
    Rsa { n: Vec<u8>, bits: u16, e: Vec<u8> },
    /// The point (empty in a skeleton), uncompressed.
    Ec { curve: Curve, point: Vec<u8> },
}

fn section(id: u8, body: &[u8]) -> Vec<u8> {
    let length = (4 + body.len() as u16).to_be_bytes();
    [&[id, 0, length[0], length[1]], body].concat()
}

impl Public {
    /// Its section.
    pub(crate) fn section(&self) -> Vec<u8> {
        match self {
            Self::Rsa { n, bits, e } => {
                let mut body = vec![0; 2];
                body.extend_from_slice(&(e.len() as u16).to_be_bytes());
                body.extend_from_slice(&bits.to_be_bytes());
                body.extend_from_slice(&(n.len() as u16).to_be_bytes());
                body.extend_from_slice(e);
                body.extend_from_slice(n);
                section(0x04, &body)
            }
            Self::Ec { curve, point } => {
                let mut body = vec![0; 6];
                body.extend_from_slice(&(curve.bits() as u16).to_be_bytes());
                body.extend_from_slice(&(point.len() as u16).to_be_bytes());
                body.extend_from_slice(point);
                section(0x21, &body)
            }
        }
    }

    fn read(section: &[u8]) -> Option<Self> {
        let number = |at: usize| {
            Some(usize::from(u16::from_be_bytes(
                section.get(at..at + 2)?.try_into().ok()?,
            )))
        };
        match section.first()? {
            0x04 => {
                let (exponent, modulus) = (number(6)?, number(10)?);
                let e = section.get(12..12 + exponent)?.to_vec();
                let n = section
                    .get(12 + exponent..12 + exponent + modulus)?
                    .to_vec();
                Some(Self::Rsa {
                    n,
                    bits: number(8)? as u16,
                    e,
                })
            }
            0x21 => {
                let curve = Curve::ALL
                    .into_iter()
                    .find(|curve| Some(curve.bits()) == number(10) && section[8] == 0)?;
                let point = section.get(14..14 + number(12)?)?.to_vec();
                Some(Self::Ec { curve, point })
            }
            _ => None,
        }
    }

    /// Which master key wraps its private half.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Rsa { .. } => Kind::Asymmetric,
            Self::Ec { .. } => Kind::Apka,
        }
    }

    pub(crate) fn rsa(&self) -> Outcome<rsa::Key> {
        let Self::Rsa { n, e, .. } = self else {
            return Err(Refusal::KeyType);
        };
        Ok(rsa::Key::new(&rsa::Numbers {
            n,
            e,
            private: None,
        })?)
    }

    pub(crate) fn ec(&self) -> Outcome<ec::Key> {
        let Self::Ec { curve, point } = self else {
            return Err(Refusal::KeyType);
        };
        Ok(ec::Key::public(*curve, point)?)
    }

    /// Of the public half of a pair, as a SubjectPublicKeyInfo.
    fn of_pair(pair: &Pair) -> Outcome<Self> {
        match (&pair.private, pair.kind) {
            (Private::Ec(key), PairKind::Ec(curve)) => Ok(Self::Ec {
                curve,
                point: key.point(ec::Form::Uncompressed)?,
            }),
            (Private::Rsa(key), _) => {
                let (n, e) = rsa_numbers(&pair.public).ok_or(Refusal::Resource)?;
                Ok(Self::Rsa {
                    n,
                    e,
                    bits: key.bits() as u16,
                })
            }
            _ => Err(Refusal::KeyType),
        }
    }
}

/// Modulus and exponent of an RSA key's SubjectPublicKeyInfo, which AWS-LC wrote.
fn rsa_numbers(info: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut reader = info;
    let mut inner = element(&mut reader, 0x30)?;
    element(&mut inner, 0x30)?;
    let bits = element(&mut inner, 0x03)?;
    let mut key = bits.strip_prefix(&[0])?;
    let mut numbers = element(&mut key, 0x30)?;
    let mut number = || {
        let number = element(&mut numbers, 0x02)?;
        Some(number.strip_prefix(&[0]).unwrap_or(number).to_vec())
    };
    Some((number()?, number()?))
}

/// The content of a DER element of that tag.
fn element<'a>(input: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let [found, first, rest @ ..] = *input else {
        return None;
    };
    if *found != tag {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81 => (usize::from(*rest.first()?), &rest[1..]),
        0x82 => (
            usize::from(u16::from_be_bytes(rest.get(..2)?.try_into().ok()?)),
            &rest[2..],
        ),
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    *input = after;
    Some(content)
}

/// A token of any kind.
#[derive(Clone, Debug)]
pub(crate) struct PkaToken {
    pub(crate) public: Public,
    pub(crate) private: Option<PrivateSection>,
    pub(crate) name: Vec<u8>,
}

/// A private section.
#[derive(Clone, Debug)]
pub(crate) struct PrivateSection {
    pub(crate) of: Use,
    pattern: [u8; 8],
    /// Empty in a skeleton.
    wrapped: Vec<u8>,
}

impl PrivateSection {
    pub(crate) fn skeleton(of: Use) -> Self {
        Self {
            of,
            pattern: [0; 8],
            wrapped: Vec::new(),
        }
    }

    fn section(&self, public: &Public) -> Vec<u8> {
        match public {
            Public::Rsa { n, .. } => {
                let mut body = vec![0; 120];
                // Offsets of the section, less its first four bytes.
                body[28 - 4] = 0x08;
                body[50 - 4] = self.of as u8;
                body[64 - 4..66 - 4].copy_from_slice(&(n.len() as u16).to_be_bytes());
                body[76 - 4..84 - 4].copy_from_slice(&self.pattern);
                body.extend_from_slice(&self.wrapped);
                body.extend_from_slice(n);
                section(0x08, &body)
            }
            Public::Ec { curve, .. } => {
                let mut body = vec![0; 32];
                body[8 - 4] = self.of as u8;
                body[12 - 4..14 - 4].copy_from_slice(&(curve.bits() as u16).to_be_bytes());
                body[28 - 4..36 - 4].copy_from_slice(&self.pattern);
                body.extend_from_slice(&self.wrapped);
                section(0x20, &body)
            }
        }
    }

    fn read(section: &[u8]) -> Option<Self> {
        match section.first()? {
            0x08 => {
                let modulus =
                    usize::from(u16::from_be_bytes(section.get(64..66)?.try_into().ok()?));
                let end = section
                    .len()
                    .checked_sub(modulus)
                    .filter(|end| *end >= 124)?;
                Some(Self {
                    of: Use::read(section[50])?,
                    pattern: section[76..84].try_into().ok()?,
                    wrapped: section[124..end].to_vec(),
                })
            }
            0x20 => Some(Self {
                of: Use::read(*section.get(8)?)?,
                pattern: section.get(28..36)?.try_into().ok()?,
                wrapped: section[36..].to_vec(),
            }),
            _ => None,
        }
    }
}

impl PkaToken {
    /// Of a public key alone.
    pub(crate) fn public(public: Public) -> Self {
        Self {
            public,
            private: None,
            name: Vec::new(),
        }
    }

    pub(crate) fn parse(token: &[u8]) -> Outcome<Self> {
        Self::read(token).ok_or(Refusal::TokenVersion)
    }

    fn read(token: &[u8]) -> Option<Self> {
        let (header, _) = token.split_at_checked(8)?;
        if !matches!(header[0], EXTERNAL | INTERNAL) {
            return None;
        }
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let mut rest = token.get(8..length)?;
        let (mut public, mut private, mut name) = (None, None, Vec::new());
        while !rest.is_empty() {
            let length = usize::from(u16::from_be_bytes(rest.get(2..4)?.try_into().ok()?));
            let (section, after) = rest
                .split_at_checked(length)
                .filter(|(section, _)| section.len() >= 4)?;
            match section[0] {
                0x04 | 0x21 if public.is_none() => public = Some(Public::read(section)?),
                0x08 | 0x20 if private.is_none() => {
                    private = Some((section[0], PrivateSection::read(section)?))
                }
                0x10 if name.is_empty() => name = section.get(4..68)?.to_vec(),
                _ => return None,
            }
            rest = after;
        }
        let public = public?;
        let private = match (private, &public) {
            (None, _) => None,
            (Some((0x08, private)), Public::Rsa { .. })
            | (Some((0x20, private)), Public::Ec { .. }) => Some(private),
            _ => return None,
        };
        Some(Self {
            public,
            private,
            name,
        })
    }

    pub(crate) fn token(&self) -> Vec<u8> {
        let is_internal = self
            .private
            .as_ref()
            .is_some_and(|private| !private.wrapped.is_empty());
        let mut token = vec![
            if is_internal { INTERNAL } else { EXTERNAL },
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        if let Some(private) = &self.private {
            token.extend_from_slice(&private.section(&self.public));
        }
        token.extend_from_slice(&self.public.section());
        if !self.name.is_empty() {
            token.extend_from_slice(&section(0x10, &self.name));
        }
        let length = (token.len() as u16).to_be_bytes();
        token[2..4].copy_from_slice(&length);
        token
    }

    /// What is bound to the wrapped key.
    fn said(&self, of: Use) -> Vec<u8> {
        [
            b"PKA".as_slice(),
            &[of as u8],
            &self.public.section(),
            &self.name,
        ]
        .concat()
    }

    /// The key that a skeleton asks for, new.
    pub(crate) fn generate(&self, masters: &Masters) -> Outcome<Self> {
        let private = self
            .private
            .as_ref()
            .filter(|private| private.wrapped.is_empty())
            .ok_or(Refusal::TokenVersion)?;
        let kind = match &self.public {
            Public::Rsa { bits, e, .. } => {
                if !e.is_empty() && e[..] != [1, 0, 1] && e[..] != [0, 1, 0, 1] {
                    return Err(Refusal::KeySize);
                }
                match bits {
                    2048..=4096 => PairKind::Rsa(usize::from(*bits)),
                    _ => return Err(Refusal::KeySize),
                }
            }
            Public::Ec { curve, .. } => PairKind::Ec(*curve),
        };
        let pair = Pair::generate(kind)?;
        let public = Public::of_pair(&pair)?;
        let new = Self {
            public,
            private: None,
            name: self.name.clone(),
        };
        new.with(&pair.info, private.of, masters.current(self.public.kind())?)
    }

    fn with(mut self, info: &[u8], of: Use, master: &MasterKey) -> Outcome<Self> {
        let wrapped = master.wrap(&self.said(of), info, Padding::Zeros)?;
        self.private = Some(PrivateSection {
            of,
            pattern: master.pattern(),
            wrapped,
        });
        Ok(self)
    }

    /// The private half's PrivateKeyInfo.
    fn info(&self, masters: &Masters) -> Outcome<(Zeroizing<Vec<u8>>, Use)> {
        let private = self
            .private
            .as_ref()
            .filter(|private| !private.wrapped.is_empty())
            .ok_or(Refusal::NoPrivateKey)?;
        let master = masters.of_pattern(self.public.kind(), &private.pattern)?;
        let info = master.unwrap(&self.said(private.of), &private.wrapped, Padding::Zeros)?;
        Ok((info, private.of))
    }

    /// The private half, to compute with, and what it may do.
    pub(crate) fn open(&self, masters: &Masters) -> Outcome<(Private, Use)> {
        let (info, of) = self.info(masters)?;
        Ok((Pair::from_info(&info)?.private, of))
    }

    /// Under another master key.
    pub(crate) fn changed(&self, masters: &Masters, master: &MasterKey) -> Outcome<Self> {
        let (info, of) = self.info(masters)?;
        let public = Self {
            public: self.public.clone(),
            private: None,
            name: self.name.clone(),
        };
        public.with(&info, of, master)
    }
}
