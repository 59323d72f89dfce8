//! A message that was decrypted, in an answer that is as long as the modulus, whatever the message's length.
//!
//! ```text
//!  0       2
//!  ┌───────┬───────────────────────┬─────────────┐
//!  │length │ zeros                 │ the message │
//!  └───────┴───────────────────────┴─────────────┘
//! ```

use crate::Malformed;
use crate::bytes::Reader;

/// Writes an answer. The room is as long as the modulus, and ends with the message, which has that length.
pub fn encode(room: &[u8], length: u16, answer: &mut Vec<u8>) {
    answer.clear();
    answer.reserve_exact(2 + room.len()); // no copy of it stays behind
    answer.extend_from_slice(&length.to_le_bytes());
    answer.extend_from_slice(room);
}

/// The message in an answer.
///
/// # Errors
/// The bytes are no such answer.
pub fn decode(answer: &[u8]) -> Result<&[u8], Malformed> {
    let mut reader = Reader(answer);
    let length = usize::from(reader.u16()?);
    let room = reader.rest();
    let zeros = room.len().checked_sub(length).ok_or(Malformed::Short)?;
    Ok(&room[zeros..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_message_is_read_as_it_is_written(message in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut room = vec![0; 512];
            room[512 - message.len()..].copy_from_slice(&message);
            let mut answer = Vec::new();
            encode(&room, message.len() as u16, &mut answer);
            prop_assert_eq!(answer.len(), 514);
            prop_assert_eq!(decode(&answer), Ok(&message[..]));
        }

        #[test]
        fn nothing_makes_reading_panic(answer in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode(&answer);
        }
    }
}
