//! What a client asks.
//!
//! ```text
//!  0       4       5       6       8             24
//!  ┌───────┬───────┬───────┬───────┬─────────────┬ ─ ─ ─ ─ ┬──────────────────────────┐
//!  │ id    │version│ code  │ how   │ key         │ ticket    │ what the operation needs │
//!  └───────┴───────┴───────┴───────┴─────────────┴ ─ ─ ─ ─ ┴──────────────────────────┘
//!   how: 1 where there is a ticket (32), else 0
//!   nothing, Describe: nothing      Pkcs1: digest, value        Pss: digest, mgf1, salt (2), value
//!   Ecdsa: digest, value            Ecdh: point                 Ed25519: message
//!   Find: name                      Decrypt: encryption, what it has, ciphertext
//!   List: generation (8), name         Verb: the coprocessor's request
//! ```
//!
//! The service adds and removes paddings itself, for a key's policy speaks of paddings and digests.

use std::num::NonZeroU16;

use crate::bytes::Reader;
use crate::{KeyId, MOST, Malformed, Ticket, VERSION, is_name};

/// A request, as it stands in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The client's number for it. The answer carries the same.
    pub id: u32,
    /// The key.
    pub key: KeyId,
    /// What opens the token that the key belongs to.
    pub ticket: Option<Ticket<'a>>,
    /// What to do with it.
    pub operation: Operation<'a>,
}

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Whether the client may use the key. The answer is the key's name.
    Describe,
    /// An RSA signature with the padding of PKCS #1 v1.5. Without a digest, `value` is padded as it is.
    Pkcs1 {
        /// Which digest `value` is.
        digest: Option<Digest>,
        /// The digest.
        value: &'a [u8],
    },
    /// An RSA signature with the padding PSS (RFC 8017, 8.1).
    Pss {
        /// Which digest `value` is.
        digest: Digest,
        /// The digest of the mask.
        mgf1: Digest,
        /// The salt's length.
        salt: Salt,
        /// The digest.
        value: &'a [u8],
    },
    /// An ECDSA signature of a digest. The answer is DER.
    Ecdsa {
        /// Which digest `value` is, where the client knows.
        digest: Option<Digest>,
        /// The digest.
        value: &'a [u8],
    },
    /// The secret shared with a peer: the answer is a coordinate, as long as the field.
    Ecdh {
        /// The peer's point, not compressed.
        point: &'a [u8],
    },
    /// An Ed25519 signature. The answer has 64 bytes.
    Ed25519 {
        /// The message itself.
        message: &'a [u8],
    },
    /// Which key has a name, where the client may know of it; the request's key stands for nothing. The answer is a
    /// [`Reference`](crate::Reference) in DER.
    Find {
        /// The name.
        name: &'a str,
    },
    /// The keys that the client may use, by name; the request's key stands for nothing. The answer is a
    /// [`Page`](crate::Page).
    List {
        /// The generation that the client knows; 0: none. Where it is still that one, the answer has no keys.
        known: u64,
        /// The keys after that name; empty: from the first one.
        after: &'a str,
    },
    /// RSA decryption. The answer is a [`message`](crate::message); the secret of a TLS client comes as its 48 bytes.
    Decrypt {
        /// How the message was padded.
        encryption: Encryption<'a>,
        /// The message, encrypted: at most as many bytes as the modulus has.
        ciphertext: &'a [u8],
    },
    /// A verb of the CCA coprocessor; the request's key stands for nothing. The answer is the coprocessor's.
    Verb {
        /// What `outboard_cca::Request` encodes.
        request: &'a [u8],
    },
}

/// How a message was padded before it was encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption<'a> {
    /// PKCS #1 v1.5 (RFC 8017, 7.2). A wrong padding gives a message, too.
    Pkcs1,
    /// PKCS #1 v1.5 around the secret of a TLS client (RFC 5246, 7.4.7.1). What is no such secret gives 48 bytes, too.
    Premaster {
        /// The version that the client offered.
        offered: u16,
        /// The version that was negotiated, for clients that wrongly send that one.
        negotiated: Option<NonZeroU16>,
    },
    /// OAEP (RFC 8017, 7.1).
    Oaep {
        /// The digest of the label.
        digest: Digest,
        /// The digest of the masks.
        mgf1: Digest,
        /// The label.
        label: &'a [u8],
    },
}

/// A digest that a value was computed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // NIST's names
pub enum Digest {
    Md5Sha1 = 1,
    Sha1 = 2,
    Sha224 = 3,
    Sha256 = 4,
    Sha384 = 5,
    Sha512 = 6,
}

impl Digest {
    /// Every digest.
    pub const ALL: [Self; 6] = [
        Self::Md5Sha1,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
    ];

    fn from_code(code: u8) -> Result<Self, Malformed> {
        Self::ALL
            .into_iter()
            .find(|&digest| digest as u8 == code)
            .ok_or(Malformed::Code(code))
    }

    /// 0: no digest is named.
    fn from_optional_code(code: u8) -> Result<Option<Self>, Malformed> {
        match code {
            0 => Ok(None),
            code => Self::from_code(code).map(Some),
        }
    }
}

/// The length of the salt of PSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Salt {
    /// As long as the digest.
    Digest,
    /// That many bytes, at most 65,534.
    Bytes(u16),
}

const SALT_OF_DIGEST: u16 = u16::MAX;

const WITHOUT_TICKET: u16 = 0;
const WITH_TICKET: u16 = 1;

impl<'a> Request<'a> {
    /// Reads a packet.
    ///
    /// # Errors
    /// The bytes are no request of this version.
    pub fn decode(packet: &'a [u8]) -> Result<Self, Malformed> {
        if packet.len() > MOST {
            return Err(Malformed::Long);
        }
        let mut reader = Reader(packet);
        let id = reader.u32()?;
        let version = reader.u8()?;
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        let code = reader.u8()?;
        let has_ticket = match reader.u16()? {
            WITHOUT_TICKET => false,
            WITH_TICKET => true,
            reserved => return Err(Malformed::Code(reserved.to_le_bytes()[0])),
        };
        let key = KeyId(reader.array()?);
        let ticket = match has_ticket {
            true => Some(Ticket(reader.chunk()?)),
            false => None,
        };
        let operation = Operation::decode(code, &mut reader)?;
        Ok(Self {
            id,
            key,
            ticket,
            operation,
        })
    }

    /// Writes a packet into `packet`, which is emptied first.
    pub fn encode(&self, packet: &mut Vec<u8>) {
        packet.clear();
        packet.extend_from_slice(&self.id.to_le_bytes());
        packet.extend_from_slice(&[VERSION, self.operation.code()]);
        let how = match self.ticket {
            Some(_) => WITH_TICKET,
            None => WITHOUT_TICKET,
        };
        packet.extend_from_slice(&how.to_le_bytes());
        packet.extend_from_slice(&self.key.0);
        if let Some(ticket) = self.ticket {
            packet.extend_from_slice(ticket.0);
        }
        self.operation.encode(packet);
    }

    /// The number of a request that may be malformed otherwise, so that its client gets an answer.
    pub fn id_of(packet: &[u8]) -> Option<u32> {
        Reader(packet).u32().ok()
    }
}

impl<'a> Operation<'a> {
    fn code(&self) -> u8 {
        match self {
            Self::Describe => 1,
            Self::Pkcs1 { .. } => 2,
            Self::Pss { .. } => 3,
            Self::Ecdsa { .. } => 4,
            Self::Ecdh { .. } => 5,
            Self::Ed25519 { .. } => 6,
            Self::Find { .. } => 7,
            Self::Decrypt { .. } => 8,
            Self::List { .. } => 9,
            Self::Verb { .. } => 10,
        }
    }

    fn decode(code: u8, reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(match code {
            1 => match reader.rest() {
                [] => Self::Describe,
                _ => return Err(Malformed::Long),
            },
            2 => Self::Pkcs1 {
                digest: Digest::from_optional_code(reader.u8()?)?,
                value: reader.rest(),
            },
            3 => Self::Pss {
                digest: Digest::from_code(reader.u8()?)?,
                mgf1: Digest::from_code(reader.u8()?)?,
                salt: match reader.u16()? {
                    SALT_OF_DIGEST => Salt::Digest,
                    bytes => Salt::Bytes(bytes),
                },
                value: reader.rest(),
            },
            4 => Self::Ecdsa {
                digest: Digest::from_optional_code(reader.u8()?)?,
                value: reader.rest(),
            },
            5 => Self::Ecdh {
                point: reader.rest(),
            },
            6 => Self::Ed25519 {
                message: reader.rest(),
            },
            7 => Self::Find {
                name: name(reader.rest())?,
            },
            8 => Self::Decrypt {
                encryption: Encryption::decode(reader)?,
                ciphertext: reader.rest(),
            },
            9 => Self::List {
                known: u64::from_le_bytes(reader.array()?),
                after: match reader.rest() {
                    [] => "",
                    after => name(after)?,
                },
            },
            10 => Self::Verb {
                request: reader.rest(),
            },
            code => return Err(Malformed::Code(code)),
        })
    }

    fn encode(&self, packet: &mut Vec<u8>) {
        let data = match *self {
            Self::Describe => return,
            Self::Pkcs1 { digest, value } | Self::Ecdsa { digest, value } => {
                packet.push(digest.map_or(0, |digest| digest as u8));
                value
            }
            Self::Pss {
                digest,
                mgf1,
                salt,
                value,
            } => {
                let salt = match salt {
                    Salt::Digest => SALT_OF_DIGEST,
                    Salt::Bytes(bytes) => bytes,
                };
                packet.extend_from_slice(&[digest as u8, mgf1 as u8]);
                packet.extend_from_slice(&salt.to_le_bytes());
                value
            }
            Self::Ecdh { point } => point,
            Self::Ed25519 { message } => message,
            Self::Verb { request } => request,
            Self::Find { name } => name.as_bytes(),
            Self::List { known, after } => {
                packet.extend_from_slice(&known.to_le_bytes());
                after.as_bytes()
            }
            Self::Decrypt {
                encryption,
                ciphertext,
            } => {
                encryption.encode(packet);
                ciphertext
            }
        };
        packet.extend_from_slice(data);
    }
}

fn name(bytes: &[u8]) -> Result<&str, Malformed> {
    let name = std::str::from_utf8(bytes).ok();
    name.filter(|name| is_name(name)).ok_or(Malformed::Name)
}

impl<'a> Encryption<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(match reader.u8()? {
            1 => Self::Pkcs1,
            2 => Self::Premaster {
                offered: reader.u16()?,
                negotiated: NonZeroU16::new(reader.u16()?),
            },
            3 => Self::Oaep {
                digest: Digest::from_code(reader.u8()?)?,
                mgf1: Digest::from_code(reader.u8()?)?,
                label: {
                    let length = reader.u16()?;
                    reader.take(length.into())?
                },
            },
            code => return Err(Malformed::Code(code)),
        })
    }

    /// A label of more than 65,535 bytes makes a packet that is longer than any.
    fn encode(&self, packet: &mut Vec<u8>) {
        match *self {
            Self::Pkcs1 => packet.push(1),
            Self::Premaster {
                offered,
                negotiated,
            } => {
                packet.push(2);
                packet.extend_from_slice(&offered.to_le_bytes());
                packet.extend_from_slice(&negotiated.map_or(0, NonZeroU16::get).to_le_bytes());
            }
            Self::Oaep {
                digest,
                mgf1,
                label,
            } => {
                packet.extend_from_slice(&[3, digest as u8, mgf1 as u8]);
                let length = u16::try_from(label.len()).unwrap_or(u16::MAX);
                packet.extend_from_slice(&length.to_le_bytes());
                packet.extend_from_slice(label);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn digest() -> impl Strategy<Value = Digest> {
        proptest::sample::select(&Digest::ALL[..])
    }

    proptest! {
        #[test]
        fn a_request_is_read_as_it_is_written(
            id: u32, key: [u8; 16], ticket: Option<[u8; 32]>, code in 1..=12_u8, named: bool, known: u64,
            name in "[a-z0-9][a-z0-9._-]{0,63}",
            digest in digest(), mgf1 in digest(), salt in 0..=65_534_u16,
            data in proptest::collection::vec(any::<u8>(), 0..300),
            label in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let decrypt = |encryption| Operation::Decrypt { encryption, ciphertext: &data };
            let operation = match code {
                1 => Operation::Describe,
                2 => Operation::Pkcs1 { digest: named.then_some(digest), value: &data },
                3 => Operation::Pss {
                    digest,
                    mgf1,
                    salt: if named { Salt::Digest } else { Salt::Bytes(salt) },
                    value: &data,
                },
                4 => Operation::Ecdsa { digest: named.then_some(digest), value: &data },
                5 => Operation::Ecdh { point: &data },
                6 => Operation::Ed25519 { message: &data },
                7 => decrypt(Encryption::Pkcs1),
                8 => decrypt(Encryption::Premaster {
                    offered: salt,
                    negotiated: NonZeroU16::new(salt / 2),
                }),
                9 => decrypt(Encryption::Oaep { digest, mgf1, label: &label }),
                10 => Operation::Find { name: &name },
                11 => Operation::Verb { request: &data },
                _ => Operation::List { known, after: if named { &name } else { "" } },
            };
            let ticket = ticket.as_ref().map(Ticket);
            let request = Request { id, key: KeyId(key), ticket, operation };
            let mut packet = vec![1, 2, 3];
            request.encode(&mut packet);
            prop_assert_eq!(Request::decode(&packet), Ok(request));
            prop_assert_eq!(Request::id_of(&packet), Some(id));
        }

        /// Whatever is read is written as the same bytes: a message has one form.
        #[test]
        fn what_is_read_is_written_the_same(mut packet in proptest::collection::vec(any::<u8>(), 0..100)) {
            if packet.len() > 8 {
                (packet[4], packet[5]) = (VERSION, packet[5] % 12);
                (packet[6], packet[7]) = (packet[6] % 2, 0);
            }
            if let Ok(request) = Request::decode(&packet) {
                let mut again = Vec::new();
                request.encode(&mut again);
                prop_assert_eq!(again, packet);
            }
        }
    }

    #[test]
    fn the_longest_message_fits_with_a_ticket() {
        let request = Request {
            id: 7,
            key: KeyId([1; 16]),
            ticket: Some(Ticket(&[2; Ticket::LENGTH])),
            operation: Operation::Ed25519 {
                message: &[0; crate::MOST_MESSAGE],
            },
        };
        let mut packet = Vec::new();
        request.encode(&mut packet);
        assert_eq!(Request::decode(&packet), Ok(request));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let mut packet = Vec::new();
        let operation = Operation::Find { name: "site" };
        let key = KeyId([0; 16]);
        let request = Request {
            id: 7,
            key,
            ticket: None,
            operation,
        };
        request.encode(&mut packet);
        assert_eq!(Request::decode(&packet), Ok(request));
        let long = [b'a'; MOST - 24];
        for name in [
            &b""[..],
            b"Site",
            b"site\0",
            b"../site",
            b"s%69te",
            b"\xff",
            &long,
        ] {
            packet.truncate(24);
            packet.extend_from_slice(name);
            assert_eq!(Request::decode(&packet), Err(Malformed::Name));
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let mut packet = Vec::new();
        let request = Request {
            id: 7,
            key: KeyId([9; 16]),
            ticket: None,
            operation: Operation::Describe,
        };
        request.encode(&mut packet);
        for end in 0..packet.len() {
            assert_eq!(Request::decode(&packet[..end]), Err(Malformed::Short));
        }
        let with = |index: usize, value: u8| {
            let mut packet = packet.clone();
            packet[index] = value;
            Request::decode(&packet).map(|_| ()).unwrap_err()
        };
        assert_eq!(with(4, 2), Malformed::Version(2));
        assert_eq!(with(5, 0), Malformed::Code(0));
        assert_eq!(with(5, 200), Malformed::Code(200));
        assert_eq!(with(6, 1), Malformed::Short); // no ticket follows
        assert_eq!(with(6, 2), Malformed::Code(2));
        packet.push(0);
        assert_eq!(Request::decode(&packet), Err(Malformed::Long));
        packet.resize(MOST + 1, 0);
        assert_eq!(Request::decode(&packet), Err(Malformed::Long));
    }
}
