//! The coprocessor's messages, written from parameters and read into them: postcard's format, field by field, as
//! `outboard_cca` has it. A test compares both.

use zeroize::Zeroizing;

/// A request under construction, in room that does not grow: what it left behind would have its secrets.
pub(crate) struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    /// A request of that verb, with room for so many bytes.
    pub(crate) fn new(verb: usize, room: usize) -> Self {
        let mut writer = Self(Zeroizing::new(Vec::with_capacity(room)));
        writer.number(verb as u64);
        writer
    }

    /// Seven bits in each byte, the lowest first.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn keyword(&mut self, keyword: &[u8]) {
        self.0.extend_from_slice(keyword);
    }

    pub(crate) fn finish(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

/// What is left of an answer. None: it is no answer.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_cca::{Answer, Description, Request};

    fn verb(name: &str) -> usize {
        let is_it = |verb: &Description| verb.name == name;
        Request::VERBS.iter().position(is_it).expect("it is there")
    }

    #[test]
    fn a_request_is_read_as_it_is_written() {
        let mut writer = Writer::new(verb("CSNBENC"), 1_000);
        writer.bytes(&[7; 64]);
        writer.bytes(&[8; 200]);
        writer.bytes(&[9; 8]);
        writer.number(2);
        writer.keyword(b"CBC     ");
        writer.keyword(b"INITIAL ");
        writer.number(300);
        writer.bytes(&[0; 18]);
        let Request::Encipher(read) = Request::decode(&writer.finish()).expect("a request") else {
            panic!("another verb");
        };
        assert_eq!(
            (&read.key_identifier[..], &read.plaintext[..]),
            (&[7; 64][..], &[8; 200][..])
        );
        assert_eq!(
            read.rule_array,
            outboard_cca::Rules::of(&["CBC", "INITIAL"])
        );
        assert_eq!(read.pad_character, 300);
    }

    #[test]
    fn an_answer_is_read_as_the_coprocessor_writes_it() {
        let reply = outboard_cca::RandomNumber {
            random_number: [5; 8].into(),
        };
        let answer = Answer {
            return_code: 0,
            reason_code: 0,
            reply: Some(outboard_cca::Reply::RandomNumberGenerate(reply)),
        };
        let bytes = answer.encode().expect("memory");
        let mut reader = Reader(&bytes);
        assert_eq!(
            [reader.number(), reader.number(), reader.number()],
            [Some(0), Some(0), Some(1)]
        );
        assert_eq!(reader.number(), Some(verb("CSNBRNG") as u64));
        assert_eq!(reader.bytes(), Some(&[5; 8][..]));
        assert!(reader.0.is_empty());
        assert_eq!(Reader(&[0x80; 11]).number(), None);
        assert_eq!(Reader(&[9, 1]).bytes(), None);
    }
}
