//! Tokens of public and private keys: RSA, and NIST's curves.
//!
//! ```text
//! 1e external, 1f internal; 00; length; 0000 0000          then sections, each: what it is, version, length, …
//! 04 RSA public    6 bytes of e, 8 bits of n, 10 bytes of n, 12 e, n
//! 08 RSA private   28 40 in the clear, 50 use, 54 bytes of p, q, dp, dq, u, n; 76 verification pattern, 124 wrapped key, n at the end
//! 31 RSA private   11 40 in the clear, 48 use, 52 bytes of p, q, dp, dq, u, n; 116 verification pattern, 134 n, wrapped key (RSA-AESC)
//! 21 EC public     8 curve's kind, 10 bits of p, 12 bytes of the point, 14 the point
//! 20 EC private    4 01 wrapped, 8 use, 10 08 wrapped, 12 bits of p, 16 verification pattern, 36 wrapped key
//!                  (older ones: 4 00, 10 00, 28 verification pattern)
//! 10 name          4 the private key's name, 64 bytes
//! 40 certificate   `certificate` has it
//! ```
//! The public sections are the publication's. In the private ones the fields are, but not what the secret part has: `compact` says what, and
//! it is wrapped as `card::master` says, bound to the public section and to the use. Keys in the clear, as they come
//! in, are those of `clear`.

use outboard_engine::scalar::ec::Curve;
use outboard_engine::scalar::key_wrap::Padding;
use outboard_engine::scalar::pair::{Kind as PairKind, Pair, Private};
use outboard_engine::scalar::{ec, rsa};
use zeroize::Zeroizing;

use super::clear::Clear;
use super::compact::{compact, expand};
use super::der::rsa_numbers;
use crate::answer::{Outcome, Refusal};
use crate::card::master::{Kind, MasterKey, Masters};

const EXTERNAL: u8 = 0x1e;
const INTERNAL: u8 = 0x1f;

/// What a private key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Signs.
    Sign = 0x00,
    /// Signs certificates and shares of master keys, and decrypts shares. (The value is ours. Such a key is kept inside.)
    Clone = 0x40,
    /// Signs and decrypts.
    Both = 0x80,
    /// Decrypts.
    Decrypt = 0xc0,
}

impl Use {
    fn read(flag: u8) -> Option<Self> {
        [Self::Sign, Self::Clone, Self::Both, Self::Decrypt]
            .into_iter()
            .find(|known| *known as u8 == flag & 0xc0)
    }

    pub(crate) fn signs(self) -> bool {
        matches!(self, Self::Sign | Self::Both)
    }

    pub(crate) fn decrypts(self) -> bool {
        matches!(self, Self::Both | Self::Decrypt)
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

/// A section, in room that does not grow, as its body's: what it left behind would have a key in the clear.
fn section(id: u8, body: &[u8]) -> Zeroizing<Vec<u8>> {
    let length = (4 + body.len() as u16).to_be_bytes();
    Zeroizing::new([&[id, 0, length[0], length[1]], body].concat())
}

impl Public {
    /// Its section.
    pub(crate) fn section(&self) -> Zeroizing<Vec<u8>> {
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

    pub(crate) fn read(section: &[u8]) -> Option<Self> {
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

    /// Which master key wraps its private half, unless that says another.
    fn kind(&self) -> Kind {
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
    pub(super) fn of_pair(pair: &Pair) -> Outcome<Self> {
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

/// A token of any kind.
#[derive(Clone)]
pub(crate) struct PkaToken {
    pub(crate) public: Public,
    pub(crate) private: Option<PrivateSection>,
    pub(crate) name: Vec<u8>,
}

/// A private section.
#[derive(Clone)]
pub(crate) struct PrivateSection {
    pub(crate) of: Use,
    /// An RSA key under APKA-MK (RSA-AESC), in a section of its own.
    is_aesc: bool,
    secret: Secret,
}

/// The private half in a section.
#[derive(Clone)]
enum Secret {
    /// None: it is a skeleton's.
    None,
    Wrapped {
        pattern: [u8; 8],
        wrapped: Vec<u8>,
    },
    Clear(Clear),
}

/// The most bytes of a private section beside its numbers.
const MOST_FIXED: usize = 130;

/// The number of two bytes at a place.
pub(super) fn number_at(section: &[u8], place: usize) -> Option<usize> {
    let bytes = section.get(place..place + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_be_bytes(bytes)))
}

impl PrivateSection {
    pub(crate) fn skeleton(of: Use) -> Self {
        Self {
            of,
            is_aesc: false,
            secret: Secret::None,
        }
    }

    pub(crate) fn clear(of: Use, clear: Clear) -> Self {
        Self {
            of,
            is_aesc: false,
            secret: Secret::Clear(clear),
        }
    }

    /// Of an RSA key: the same, under APKA-MK.
    pub(crate) fn with_aesc(self, is_aesc: bool) -> Self {
        Self { is_aesc, ..self }
    }

    fn section(&self, public: &Public) -> Zeroizing<Vec<u8>> {
        let secret = match &self.secret {
            Secret::None => 0,
            Secret::Wrapped { wrapped, .. } => wrapped.len(),
            Secret::Clear(clear) => clear.length(),
        };
        let body = |fixed: usize, n: &[u8]| {
            let mut body = Zeroizing::new(Vec::with_capacity(MOST_FIXED + n.len() + secret));
            body.resize(fixed, 0);
            body
        };
        match public {
            Public::Rsa { n, .. } if self.is_aesc => {
                let mut body = body(130, n);
                body[48 - 4] = self.of as u8;
                body[62 - 4..64 - 4].copy_from_slice(&(n.len() as u16).to_be_bytes());
                body.extend_from_slice(n);
                self.write(&mut body, 116);
                section(0x31, &body)
            }
            Public::Rsa { n, .. } => {
                let mut body = body(120, n);
                // Offsets of the section, less its first four bytes.
                body[28 - 4] = 0x08;
                body[50 - 4] = self.of as u8;
                body[64 - 4..66 - 4].copy_from_slice(&(n.len() as u16).to_be_bytes());
                self.write(&mut body, 76);
                body.extend_from_slice(n);
                section(0x08, &body)
            }
            Public::Ec { curve, .. } => {
                let mut body = body(32, &[]);
                body[8 - 4] = self.of as u8;
                body[12 - 4..14 - 4].copy_from_slice(&(curve.bits() as u16).to_be_bytes());
                if matches!(self.secret, Secret::Wrapped { .. }) {
                    (body[0], body[10 - 4]) = (1, 0x08);
                }
                self.write(&mut body, 16);
                section(0x20, &body)
            }
        }
    }

    /// The private half. `place` is where the section has the master key's pattern.
    fn write(&self, body: &mut Vec<u8>, place: usize) {
        match &self.secret {
            Secret::None => {}
            Secret::Wrapped { pattern, wrapped } => {
                body[place - 4..place + 4].copy_from_slice(pattern);
                body.extend_from_slice(wrapped);
            }
            Secret::Clear(clear) => clear.write(body, self.is_aesc),
        }
    }

    fn read(section: &[u8]) -> Option<Self> {
        let (of, pattern, start, end) = match section.first()? {
            0x08 => {
                let end = section.len().checked_sub(number_at(section, 64)?)?;
                (*section.get(50)?, section.get(76..84)?, 124, end)
            }
            0x31 => {
                let start = 134 + number_at(section, 62)?;
                let pattern = section.get(116..124)?;
                (*section.get(48)?, pattern, start, section.len())
            }
            0x20 => {
                let place = if *section.get(4)? == 1 { 16 } else { 28 };
                let pattern = section.get(place..place + 8)?;
                (*section.get(8)?, pattern, 36, section.len())
            }
            _ => return None,
        };
        let wrapped = section.get(start..end)?;
        let secret = match Clear::read(section, end) {
            Some(clear) => Secret::Clear(clear),
            None if wrapped.is_empty() => Secret::None,
            None => Secret::Wrapped {
                pattern: pattern.try_into().ok()?,
                wrapped: wrapped.to_vec(),
            },
        };
        Some(Self {
            of: Use::read(of)?,
            is_aesc: section[0] == 0x31,
            secret,
        })
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
                0x08 | 0x20 | 0x31 if private.is_none() => {
                    private = Some((section[0], PrivateSection::read(section)?))
                }
                0x10 if name.is_empty() => name = section.get(4..68)?.to_vec(),
                // What it says is asked of the certificate alone.
                0x40 => {}
                _ => return None,
            }
            rest = after;
        }
        let public = public?;
        let private = match (private, &public) {
            (None, _) => None,
            (Some((0x08 | 0x31, private)), Public::Rsa { .. })
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
            .is_some_and(|private| matches!(private.secret, Secret::Wrapped { .. }));
        let first = if is_internal { INTERNAL } else { EXTERNAL };
        let private = self.private.as_ref();
        let private = private.map(|private| private.section(&self.public));
        let name = match self.name.is_empty() {
            true => Zeroizing::default(),
            false => section(0x10, &self.name),
        };
        let mut token = [
            [first, 0, 0, 0, 0, 0, 0, 0].as_slice(),
            private.as_deref().map_or(&[][..], Vec::as_slice),
            &self.public.section(),
            &name,
        ]
        .concat();
        let length = (token.len() as u16).to_be_bytes();
        token[2..4].copy_from_slice(&length);
        token
    }

    /// Which master key wraps its private half.
    pub(crate) fn kind(&self) -> Kind {
        match &self.private {
            Some(private) if private.is_aesc => Kind::Apka,
            _ => self.public.kind(),
        }
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

    /// The key that a skeleton asks for, new: one for cloning, if that is asked for.
    pub(crate) fn generate(&self, masters: &Masters, is_clone: bool) -> Outcome<Self> {
        let mut private = self
            .private
            .clone()
            .filter(|private| matches!(private.secret, Secret::None) && private.of != Use::Clone)
            .ok_or(Refusal::TokenVersion)?;
        if is_clone {
            private.of = Use::Clone;
        }
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
        new.with(&pair.info, &private, masters.current(self.kind())?)
    }

    fn with(mut self, info: &[u8], of: &PrivateSection, master: &MasterKey) -> Outcome<Self> {
        let secret = compact(info, &self.public)?;
        let wrapped = master.wrap(&self.said(of.of), &secret, Padding::Zeros)?;
        let pattern = master.pattern();
        self.private = Some(PrivateSection {
            secret: Secret::Wrapped { pattern, wrapped },
            ..of.clone()
        });
        Ok(self)
    }

    /// The key of a private half that comes in the clear, under its master key. That both halves belong together is asked.
    pub(crate) fn imported(&self, masters: &Masters) -> Outcome<Self> {
        let private = self.private.as_ref().ok_or(Refusal::NoPrivateKey)?;
        let Secret::Clear(clear) = &private.secret else {
            return Err(Refusal::TokenVersion);
        };
        // Its maker knows it.
        if private.of == Use::Clone {
            return Err(Refusal::TokenVersion);
        }
        if let Public::Rsa { n, .. } = &self.public
            && !(256..=512).contains(&n.len())
        {
            return Err(Refusal::KeySize);
        }
        let pair = Pair::from_info(&clear.info(&self.public)?)?;
        let new = Self {
            public: Public::of_pair(&pair)?,
            private: None,
            name: self.name.clone(),
        };
        new.with(&pair.info, private, masters.current(self.kind())?)
    }

    /// What wraps the private half: the master key, and its bytes.
    fn wrapped<'a>(&self, masters: &'a Masters) -> Outcome<(&'a MasterKey, &[u8], Use)> {
        let private = self.private.as_ref().ok_or(Refusal::NoPrivateKey)?;
        match &private.secret {
            Secret::Wrapped { pattern, wrapped } => {
                let master = masters.of_pattern(self.kind(), pattern)?;
                Ok((master, wrapped, private.of))
            }
            // In the clear, it is no key of the card.
            Secret::None | Secret::Clear(_) => Err(Refusal::NoPrivateKey),
        }
    }

    /// The private half's PrivateKeyInfo.
    fn info(&self, masters: &Masters) -> Outcome<(Zeroizing<Vec<u8>>, Use)> {
        let (master, wrapped, of) = self.wrapped(masters)?;
        let secret = master.unwrap(&self.said(of), wrapped, Padding::Zeros)?;
        Ok((expand(secret, &self.public)?, of))
    }

    /// A name for what is computed from this token: another token, or another master key, has another name.
    pub(crate) fn name_of_private(&self, masters: &Masters) -> Outcome<[u8; 32]> {
        let (master, wrapped, of) = self.wrapped(masters)?;
        let length = (wrapped.len() as u32).to_be_bytes();
        let said = [b"opened".as_slice(), &length, wrapped, &self.said(of)].concat();
        let name = master.derive(&said)?;
        name[..].try_into().map_err(|_| Refusal::Resource)
    }

    /// The private half, to compute with, and what it may do.
    pub(crate) fn open(&self, masters: &Masters) -> Outcome<(Private, Use)> {
        let (info, of) = self.info(masters)?;
        Ok((Pair::from_info(&info)?.private, of))
    }

    /// Under another master key.
    pub(crate) fn changed(&self, masters: &Masters, master: &MasterKey) -> Outcome<Self> {
        let (info, _) = self.info(masters)?;
        let private = self.private.as_ref().ok_or(Refusal::NoPrivateKey)?;
        let public = Self {
            public: self.public.clone(),
            private: None,
            name: self.name.clone(),
        };
        public.with(&info, private, master)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::master::Registers;

    #[test]
    fn a_section_may_end_anywhere() {
        let sections = |first| (0..=0xff).map(move |section| (first, section));
        for (first, section) in [EXTERNAL, INTERNAL].into_iter().flat_map(sections) {
            for length in 0..200_u16 {
                for fill in [0, 1, 0xff] {
                    let mut token = vec![fill; 8 + usize::from(length)];
                    token[0] = first;
                    token[2..4].copy_from_slice(&(8 + length).to_be_bytes());
                    if length >= 4 {
                        token[8] = section;
                        token[10..12].copy_from_slice(&length.to_be_bytes());
                    }
                    // It is none, or one: it is read without a panic.
                    let _ = PkaToken::parse(&token);
                }
            }
        }
    }

    #[test]
    fn a_token_of_an_earlier_version_works_and_becomes_a_shorter_one() {
        let kind = Kind::Asymmetric;
        let registers = Registers::default().with_random(kind).unwrap();
        let mut masters = Masters::default();
        masters.set(kind, registers.with_new_set(kind).unwrap());
        let master = masters.current(kind).unwrap();
        let pair = Pair::generate(PairKind::Rsa(2048)).unwrap();
        let mut token = PkaToken {
            public: Public::of_pair(&pair).unwrap(),
            private: Some(PrivateSection::skeleton(Use::Both)),
            name: vec![b'N'; 64],
        };
        // As it was: the whole PrivateKeyInfo.
        let said = token.said(Use::Both);
        let wrapped = master.wrap(&said, &pair.info, Padding::Zeros).unwrap();
        let pattern = master.pattern();
        token.private.as_mut().unwrap().secret = Secret::Wrapped { pattern, wrapped };
        let older = PkaToken::parse(&token.token()).unwrap();
        assert_eq!(older.open(&masters).unwrap().1, Use::Both);
        let changed = older.changed(&masters, master).unwrap().token();
        assert!(changed.len() + 256 < older.token().len());
        let changed = PkaToken::parse(&changed).unwrap();
        assert_eq!(changed.info(&masters), older.info(&masters));
    }
}
