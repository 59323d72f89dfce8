//! A share of a master key on its way to another card: the publication's *cloning information token*.
//!
//! ```text
//! 1d, version 01; 2 length; 4 zeros; 8 index of the share, 4 bytes; 12 environment identifier of the source; 28 eight zeros
//! 36 encrypted:  01 share     4 index, 5 the share
//!                02 set       4 which master key, m, n; 7 number of the set; 15 its name; 31 pattern of the master key;
//!                             39 SHA-256 of the receiver's public section
//!                45 signature as a certificate's, of all before it, from the first byte (1d) on
//! ```
//! The publication's version 00 has a signature with SHA-1 and ISO 9796-1, Triple DES in CBC mode, and no section 02: what binds shares of
//! one set to each other is not published. Here the encryption is AES key wrap (RFC 5649) under a key that is drawn for the share alone, and
//! that key is encrypted under the receiver's RSA key (OAEP with SHA-256).

use outboard_engine::scalar::key_wrap::{self, Padding};
use outboard_engine::scalar::rsa;
use zeroize::Zeroizing;

use super::certificate::{self, Environment, is_signed, section, sign, signature_head, take};
use crate::answer::{Outcome, Refusal};
use crate::card::master::{Kind, Pattern};
use crate::value::Label;

/// Bytes before what is encrypted.
const HEAD: usize = 36;

/// What a share says of its set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    /// Which master key.
    pub(crate) kind: Kind,
    /// How many shares are needed, and how many there are.
    pub(crate) needed: u8,
    pub(crate) all: u8,
    /// The source counts its sets.
    pub(crate) number: u64,
    pub(crate) name: [u8; 16],
    /// Of the master key.
    pub(crate) pattern: Pattern,
}

/// A share, with what goes with it.
pub(crate) struct Share {
    pub(crate) set: Set,
    pub(crate) index: u8,
    pub(crate) environment: Environment,
    /// The hash of the receiver's public section.
    pub(crate) receiver: [u8; 32],
    pub(crate) share: Zeroizing<Vec<u8>>,
}

impl Share {
    /// Signed by that key, which has that label, and encrypted under a key of 32 bytes.
    pub(crate) fn seal(&self, signer: (&Label, &rsa::Key), key: &[u8]) -> Outcome<Vec<u8>> {
        let (label, signing) = signer;
        let set = [
            &[self.set.kind as u8, self.set.needed, self.set.all][..],
            &self.set.number.to_be_bytes(),
            &self.set.name,
            &self.set.pattern,
            &self.receiver,
        ];
        let content = Zeroizing::new([&[self.index], &self.share[..]].concat());
        let share = Zeroizing::new(section(0x01, &content));
        let head = signature_head(label, signing.length());
        let inner = [&share[..], &section(0x02, &set.concat()), &head].concat();
        let inner = Zeroizing::new(inner);
        let wrapped = key_wrap::wrapped_length(inner.len() + signing.length(), Padding::Zeros)?;
        let mut token = vec![0; HEAD];
        token[..2].copy_from_slice(&[0x1d, 0x01]);
        token[2..4].copy_from_slice(&((HEAD + wrapped) as u16).to_be_bytes());
        token[11] = self.index;
        token[12..28].copy_from_slice(&self.environment);
        let signed = Zeroizing::new([&token[..], &inner].concat());
        let signature = sign(signing, &signed)?;
        let whole = Zeroizing::new([&inner[..], &signature].concat());
        token.extend(key_wrap::wrap(key, &whole, Padding::Zeros)?);
        Ok(token)
    }

    /// The share, if that key encrypted it and the owner of that public key signed it.
    pub(crate) fn open(token: &[u8], signer: &rsa::Key, key: &[u8]) -> Outcome<Self> {
        let head = token.get(..HEAD).ok_or(Refusal::MasterKeyShare)?;
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        if head[..2] != [0x1d, 0x01] || length != token.len() {
            return Err(Refusal::MasterKeyShare);
        }
        let inner = key_wrap::unwrap(key, &token[HEAD..], Padding::Zeros);
        let inner = inner.map_err(|_| Refusal::ShareKey)?;
        let whole = Zeroizing::new([head, &inner[..]].concat());
        let (share, signed, signature) = Self::read(&whole).ok_or(Refusal::MasterKeyShare)?;
        match is_signed(signer, signed, signature)? {
            true => Ok(share),
            false => Err(Refusal::MasterKeyShare),
        }
    }

    /// The share, what is signed of it, and the signature.
    fn read(whole: &[u8]) -> Option<(Self, &[u8], &[u8])> {
        let mut rest = whole.get(HEAD..)?;
        let (index, share) = take(&mut rest, 0x01)?.get(4..)?.split_first()?;
        let set = take(&mut rest, 0x02)?.get(4..)?;
        let (signed, signature) = certificate::signed(whole, rest)?;
        let [kind, needed, all, rest @ ..] = set else {
            return None;
        };
        let (number, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_first_chunk()?;
        let (pattern, receiver) = rest.split_first_chunk()?;
        let kind = Kind::ALL.into_iter().find(|known| *known as u8 == *kind)?;
        let is_whole = whole[8..12] == u32::from(*index).to_be_bytes()
            && share.len() == kind.length()
            && (1..=*all).contains(index)
            && needed <= all;
        let share = Self {
            set: Set {
                kind,
                needed: *needed,
                all: *all,
                number: u64::from_be_bytes(*number),
                name: *name,
                pattern: *pattern,
            },
            index: *index,
            environment: whole[12..28].try_into().ok()?,
            receiver: receiver.try_into().ok()?,
            share: Zeroizing::new(share.to_vec()),
        };
        is_whole.then_some((share, signed, signature))
    }
}
