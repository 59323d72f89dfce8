//! What the service answers.
//!
//! ```text
//!  0       4       5       6       8
//!  ┌───────┬───────┬───────┬───────┬──────────────────────────────────────┐
//!  │ id    │version│status │ zero  │ the result, or a sentence in UTF-8   │
//!  └───────┴───────┴───────┴───────┴──────────────────────────────────────┘
//! ```

use crate::bytes::Reader;
use crate::{MOST, Malformed, VERSION};

/// An answer, as it stands in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The number of its request.
    pub id: u32,
    /// How it went.
    pub status: Status,
    /// The result, or where it is not [`Status::Done`], a sentence for the program's error queue.
    pub bytes: &'a [u8],
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is done, and the result was verified.
    Done = 0,
    /// The client may not use the key.
    Denied = 1,
    /// There is no such key.
    NoKey = 2,
    /// The key's policy does not allow it, or the key's type has no such operation.
    NotAllowed = 3,
    /// The request makes no sense: a length, a point off the curve, another version.
    Malformed = 4,
    /// The service has no master key yet, or ends. Another try may succeed.
    Unavailable = 5,
    /// The operation failed; nothing was released.
    Failed = 6,
    /// The client, its user or the key has too many requests at a time. Another try may succeed.
    Busy = 7,
    /// The key is a token's, and the request's ticket is missing, or no longer good.
    LoggedOut = 8,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 9] = [
        Self::Done,
        Self::Denied,
        Self::NoKey,
        Self::NotAllowed,
        Self::Malformed,
        Self::Unavailable,
        Self::Failed,
        Self::Busy,
        Self::LoggedOut,
    ];

    /// Whether another try may succeed.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::Unavailable | Self::Busy)
    }
}

impl<'a> Answer<'a> {
    /// Reads a packet.
    ///
    /// # Errors
    /// The bytes are no answer of this version.
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
        let status = Status::ALL
            .into_iter()
            .find(|&status| status as u8 == code)
            .ok_or(Malformed::Code(code))?;
        reader.take(2)?;
        Ok(Self {
            id,
            status,
            bytes: reader.rest(),
        })
    }

    /// Writes a packet into `packet`, which is emptied first.
    pub fn encode(&self, packet: &mut Vec<u8>) {
        packet.clear();
        packet.extend_from_slice(&self.id.to_le_bytes());
        packet.extend_from_slice(&[VERSION, self.status as u8, 0, 0]);
        packet.extend_from_slice(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_answer_is_read_as_it_is_written(
            id: u32, status in proptest::sample::select(&Status::ALL[..]),
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let answer = Answer { id, status, bytes: &bytes };
            let mut packet = Vec::new();
            answer.encode(&mut packet);
            prop_assert_eq!(Answer::decode(&packet), Ok(answer));
        }

        #[test]
        fn nothing_makes_reading_panic(packet in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Answer::decode(&packet);
        }
    }
}
