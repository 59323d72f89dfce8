//! Lines, some of which carry a private key: what was read is wiped.

use std::io::{self, Read};

use zeroize::{Zeroize, Zeroizing};

/// The longest line of either side, in bytes.
pub const MOST_LINE: usize = 1 << 20;

/// Room that every line with a key fits, so that no buffer grows and leaves a copy where it was.
const ROOM: usize = 64 * 1024;

/// The lines of a stream.
pub struct Lines<R> {
    stream: R,
    /// What is read, and not yet given out.
    buffer: Zeroizing<Vec<u8>>,
    length: usize,
    most: usize,
}

impl<R: Read> Lines<R> {
    /// The lines of that stream, each of at most so many bytes.
    pub fn new(stream: R, most: usize) -> Self {
        Self {
            stream,
            buffer: Zeroizing::new(vec![0; ROOM]),
            length: 0,
            most,
        }
    }

    /// The stream, to write to.
    pub fn stream(&mut self) -> &mut R {
        &mut self.stream
    }

    /// The next line, without its end; none where the other side has closed the
    /// connection.
    ///
    /// # Errors
    /// The line is longer, or does not end.
    pub fn next_line(&mut self) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let mut looked = 0;
        loop {
            let end = self.buffer[looked..self.length]
                .iter()
                .position(|&byte| byte == b'\n');
            if let Some(end) = end {
                let end = looked + end;
                let line = Zeroizing::new(self.buffer[..end].to_vec());
                self.buffer.copy_within(end + 1..self.length, 0);
                let left = self.length - end - 1;
                self.buffer[left..self.length].zeroize();
                self.length = left;
                return Ok(Some(line));
            }
            if self.length > self.most {
                let problem = format!("the line is longer than {} bytes", self.most);
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
            looked = self.length;
            if self.length == self.buffer.len() {
                let mut larger = Zeroizing::new(vec![0; 2 * self.length]);
                larger[..self.length].copy_from_slice(&self.buffer);
                self.buffer = larger;
            }
            match self.stream.read(&mut self.buffer[self.length..]) {
                Ok(0) if self.length == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A message as a line, with its end.
///
/// # Errors
/// It cannot be written as JSON.
pub fn to_line(message: &impl serde::Serialize) -> serde_json::Result<Zeroizing<Vec<u8>>> {
    let mut line = Growing(Zeroizing::new(Vec::with_capacity(ROOM)));
    serde_json::to_writer(&mut line, message)?;
    line.extend(b"\n");
    Ok(line.0)
}

/// Bytes that leave nothing behind where they grow.
struct Growing(Zeroizing<Vec<u8>>);

impl Growing {
    fn extend(&mut self, bytes: &[u8]) {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity(needed.next_power_of_two()));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
    }
}

impl io::Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_in_time_or_is_refused() {
        let mut two = Lines::new(&b"one\ntwo\nthr"[..], MOST_LINE);
        assert_eq!(*two.next_line().unwrap().unwrap(), b"one");
        assert_eq!(*two.next_line().unwrap().unwrap(), b"two");
        assert!(two.next_line().is_err());
        assert_eq!(Lines::new(&b""[..], MOST_LINE).next_line().unwrap(), None);
        assert!(Lines::new(io::repeat(b'x'), MOST_LINE).next_line().is_err());
        let longest = [vec![b'x'; MOST_LINE], vec![b'\n']].concat();
        let line = Lines::new(&longest[..], MOST_LINE)
            .next_line()
            .unwrap()
            .unwrap();
        assert_eq!(line.len(), MOST_LINE);
    }

    #[test]
    fn a_line_leaves_nothing_in_the_buffer() {
        let mut lines = Lines::new(&b"a secret\nnext\n"[..], MOST_LINE);
        lines.next_line().unwrap();
        assert_eq!(&lines.buffer[..lines.length], b"next\n");
        assert!(lines.buffer[lines.length..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_long_message_is_a_line() {
        let message = "x".repeat(3 * ROOM);
        let line = to_line(&message).unwrap();
        assert_eq!(*line, format!("\"{message}\"\n").into_bytes());
    }

    /// However a line comes in pieces.
    #[test]
    fn a_line_in_pieces_is_a_line() {
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                let most = room.len().min(7).min(self.0.len());
                room[..most].copy_from_slice(&self.0[..most]);
                self.0 = &self.0[most..];
                Ok(most)
            }
        }
        let long = [vec![b'x'; 3 * ROOM], b"\nshort\n".to_vec()].concat();
        let mut lines = Lines::new(Slow(&long), MOST_LINE);
        assert_eq!(lines.next_line().unwrap().unwrap().len(), 3 * ROOM);
        assert_eq!(*lines.next_line().unwrap().unwrap(), b"short");
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
