//! The agent protocol's messages (RFC 9987): bytes in, what a client asks out; and the answers.
//!
//! ```text
//!  0       4       5
//!  ┌───────┬───────┬──────────────────────────────┐     string: a length of 4 bytes, then as many bytes
//!  │length │ type  │ what the message needs       │     Numbers are big-endian.
//!  └───────┴───────┴──────────────────────────────┘
//! ```

/// The most bytes of a message, as OpenSSH has it.
pub(crate) const MOST: usize = 256 * 1024;

/// The extension that tells which session a connection is for (OpenSSH's PROTOCOL.agent, 1).
const SESSION_BIND: &[u8] = b"session-bind@openssh.com";
/// The extension that lists extensions (RFC 9987).
const QUERY: &[u8] = b"query";

const FAILURE: u8 = 5;
const SUCCESS: u8 = 6;
const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;
const EXTENSION: u8 = 27;
const EXTENSION_RESPONSE: u8 = 29;

/// What a client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    /// Which keys there are.
    RequestIdentities,
    /// A signature of the data by the key of that public half.
    Sign {
        key: &'a [u8],
        data: &'a [u8],
        flags: u32,
    },
    /// That the connection is for a session of that identifier.
    Bind { session: &'a [u8], forwards: bool },
    /// Which extensions there are.
    Query,
}

/// The message is none that this agent serves: damaged, or of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotServed;

impl<'a> Message<'a> {
    /// Reads a message, without the length before it.
    pub(super) fn read(message: &'a [u8]) -> Result<Self, NotServed> {
        let mut reader = Reader(message);
        let read = match reader.u8()? {
            REQUEST_IDENTITIES => Self::RequestIdentities,
            SIGN_REQUEST => Self::Sign {
                key: reader.string()?,
                data: reader.string()?,
                flags: reader.u32()?,
            },
            EXTENSION => match reader.string()? {
                QUERY => Self::Query,
                SESSION_BIND => {
                    let (_host_key, session) = (reader.string()?, reader.string()?);
                    let _signature = reader.string()?;
                    let forwards = reader.u8()? != 0;
                    Self::Bind { session, forwards }
                }
                _ => return Err(NotServed),
            },
            _ => return Err(NotServed),
        };
        reader.ends()?;
        Ok(read)
    }
}

/// The session that signed data is for, where the data asks a server to let a user in (RFC 4252, 7).
pub(super) fn session_of(data: &[u8]) -> Option<&[u8]> {
    const USERAUTH_REQUEST: u8 = 50;
    let mut reader = Reader(data);
    let session = reader.string().ok()?;
    (reader.u8() == Ok(USERAUTH_REQUEST)).then_some(session)
}

/// The answer to what is not done, whatever the reason.
pub(crate) fn failure() -> Vec<u8> {
    finished(begun(FAILURE))
}

/// The answer to what is done and needs no other.
pub(crate) fn success() -> Vec<u8> {
    finished(begun(SUCCESS))
}

/// The answer to [`Message::RequestIdentities`]: public halves with their names. Those that the longest answer has no
/// room for are left out.
pub(super) fn identities<'a>(all: impl Iterator<Item = (&'a [u8], &'a str)>) -> Vec<u8> {
    /// As many as OpenSSH's clients read.
    const MOST_IDENTITIES: usize = 2_048;
    const COUNT: std::ops::Range<usize> = 5..9;
    let mut answer = begun(IDENTITIES_ANSWER);
    answer.extend([0; COUNT.end - COUNT.start]);
    let mut count = 0_u32;
    for (public, name) in all.take(MOST_IDENTITIES) {
        if answer.len() + public.len() + name.len() + 8 > MOST {
            break;
        }
        put_string(&mut answer, public);
        put_string(&mut answer, name.as_bytes());
        count += 1;
    }
    answer[COUNT].copy_from_slice(&count.to_be_bytes());
    finished(answer)
}

/// The answer to [`Message::Sign`]: the algorithm's name and what it put out.
pub(super) fn signature(algorithm: &str, signature: &[u8]) -> Vec<u8> {
    let mut inner = Vec::with_capacity(8 + algorithm.len() + signature.len());
    put_string(&mut inner, algorithm.as_bytes());
    put_string(&mut inner, signature);
    let mut answer = begun(SIGN_RESPONSE);
    put_string(&mut answer, &inner);
    finished(answer)
}

/// The answer to [`Message::Query`].
pub(super) fn extensions() -> Vec<u8> {
    let mut answer = begun(EXTENSION_RESPONSE);
    for text in [QUERY, QUERY, SESSION_BIND] {
        put_string(&mut answer, text);
    }
    finished(answer)
}

pub(super) fn put_string(to: &mut Vec<u8>, bytes: &[u8]) {
    // INVARIANT: no string here is longer than a message.
    to.extend((bytes.len() as u32).to_be_bytes());
    to.extend(bytes);
}

/// Writes a number that is not negative (RFC 4251, 5), of bytes with the most significant first.
pub(super) fn put_number(to: &mut Vec<u8>, bytes: &[u8]) {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    let bytes = &bytes[zeros..];
    let sign = usize::from(bytes.first().is_some_and(|&byte| byte >= 0x80));
    to.extend(((bytes.len() + sign) as u32).to_be_bytes());
    to.extend(&[0][..sign]);
    to.extend(bytes);
}

/// An answer of that type, with room for its length.
fn begun(kind: u8) -> Vec<u8> {
    vec![0, 0, 0, 0, kind]
}

fn finished(mut answer: Vec<u8>) -> Vec<u8> {
    let length = (answer.len() - 4) as u32;
    answer[..4].copy_from_slice(&length.to_be_bytes());
    answer
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn u8(&mut self) -> Result<u8, NotServed> {
        let (&first, rest) = self.0.split_first().ok_or(NotServed)?;
        self.0 = rest;
        Ok(first)
    }

    fn u32(&mut self) -> Result<u32, NotServed> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(NotServed)?;
        self.0 = rest;
        Ok(u32::from_be_bytes(*bytes))
    }

    fn string(&mut self) -> Result<&'a [u8], NotServed> {
        let length = usize::try_from(self.u32()?).map_err(|_| NotServed)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(NotServed)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn ends(&self) -> Result<(), NotServed> {
        match self.0 {
            [] => Ok(()),
            _ => Err(NotServed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(any::<u8>(), 0..most)
    }

    proptest! {
        #[test]
        fn a_message_is_read_as_a_client_writes_it(
            key in bytes(300), data in bytes(300), flags: u32, forwards: bool,
        ) {
            let mut sign = vec![SIGN_REQUEST];
            put_string(&mut sign, &key);
            put_string(&mut sign, &data);
            sign.extend(flags.to_be_bytes());
            let read = Message::Sign { key: &key, data: &data, flags };
            prop_assert_eq!(Message::read(&sign), Ok(read));

            let mut bind = vec![EXTENSION];
            for text in [SESSION_BIND, &key, &data, b"signature"] {
                put_string(&mut bind, text);
            }
            bind.push(forwards.into());
            prop_assert_eq!(Message::read(&bind), Ok(Message::Bind { session: &data, forwards }));

            for whole in [sign, bind] {
                for end in 0..whole.len() {
                    prop_assert_eq!(Message::read(&whole[..end]), Err(NotServed));
                }
                let longer = [&whole[..], &[0]].concat();
                prop_assert_eq!(Message::read(&longer), Err(NotServed));
            }
        }

        /// Whatever the bytes are, they are read or refused.
        #[test]
        fn no_bytes_do_harm(mut message in bytes(200), kind in proptest::sample::select(&[11, 13, 27, 50, 0][..])) {
            if let Some(first) = message.first_mut() {
                *first = kind;
            }
            let _ = Message::read(&message);
            let _ = session_of(&message);
        }

        #[test]
        fn a_number_has_no_sign_and_no_zeros(number: u128) {
            let mut written = Vec::new();
            put_number(&mut written, &[&[0; 5][..], &number.to_be_bytes()].concat());
            let mut reader = Reader(&written);
            let bytes = reader.string().unwrap();
            prop_assert!(reader.ends().is_ok());
            let value = bytes.iter().fold(0, |value, &byte| value << 8 | u128::from(byte));
            prop_assert_eq!(value, number);
            prop_assert!(bytes.first().is_none_or(|&byte| byte < 0x80));
            prop_assert!(bytes.len() < 2 || bytes[0] != 0 || bytes[1] >= 0x80);
        }
    }

    #[test]
    fn answers_have_the_form_of_the_protocol() {
        assert_eq!(failure(), [0, 0, 0, 1, 5]);
        assert_eq!(success(), [0, 0, 0, 1, 6]);
        assert_eq!(
            identities([(&b"ab"[..], "c")].into_iter()),
            b"\0\0\0\x10\x0c\0\0\0\x01\0\0\0\x02ab\0\0\0\x01c"
        );
        assert_eq!(
            signature("x", b"yz"),
            b"\0\0\0\x10\x0e\0\0\0\x0b\0\0\0\x01x\0\0\0\x02yz"
        );
    }

    #[test]
    fn a_list_fits_a_message() {
        let public = [7; 500];
        let answer = identities(std::iter::repeat_n((&public[..], "name"), 100_000));
        assert!(answer.len() <= MOST && answer.len() > MOST - 1000);
        let count = u32::from_be_bytes(answer[5..9].try_into().unwrap());
        assert_eq!(count as usize, (answer.len() - 9) / 512);
    }
}
