//! The front, and what an ssh client says to it (RFC 9987).

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::{Daemon, Kernel, Service, wait_until};

pub(crate) const FAILURE: u8 = 5;
pub(crate) const SUCCESS: u8 = 6;
pub(crate) const IDENTITIES: u8 = 12;
pub(crate) const SIGNATURE: u8 = 14;

/// What asks for the list of keys.
pub(crate) const REQUEST_IDENTITIES: &[u8] = &[11];

impl Daemon {
    /// The front of that service.
    pub(crate) fn front(service: &Service) -> Self {
        Self::front_with(service, &[])
    }

    /// The front of that service, with those options.
    pub(crate) fn front_with(service: &Service, options: &[&str]) -> Self {
        let directory = service.path();
        let mut words = vec!["--agent".as_ref(), "--directory".as_ref(), directory];
        words.extend(options.iter().map(Path::new));
        Self::front_on(Kernel::This, directory, &words)
    }

    /// The front of the service in that directory, on that kernel.
    pub(crate) fn front_on(kernel: Kernel, directory: &Path, words: &[&Path]) -> Self {
        let front = Self::start_on(kernel, words, directory.join("front-log"));
        wait_until(|| connect(directory).is_ok());
        front
    }
}

/// An ssh client's connection to the front.
pub(crate) fn connect(directory: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(directory.join("agent.sock"))
}

/// What the front answers to a message, without the length; none where it ends the connection.
pub(crate) fn ask(mut stream: &UnixStream, message: &[u8]) -> Option<Vec<u8>> {
    stream.write_all(&framed(message)).ok()?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).ok()?;
    Some(answer)
}

/// A message with its length.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u32).to_be_bytes(), message].concat()
}

/// A request for a signature of the data, by the key of that public half.
pub(crate) fn sign(public: &[u8], data: &[u8]) -> Vec<u8> {
    [&[13], &framed(public)[..], &framed(data), &[0; 4]].concat()
}

/// What tells that the connection is for that session (OpenSSH's PROTOCOL.agent, 1).
pub(crate) fn bind(session: &[u8]) -> Vec<u8> {
    let strings = [
        b"session-bind@openssh.com",
        &b"host key"[..],
        session,
        b"signature",
    ];
    let strings = strings.map(framed).concat();
    [&[27], &strings[..], &[0]].concat()
}

/// What ssh signs to log in, in that session (RFC 4252, 7).
pub(crate) fn login(session: &[u8]) -> Vec<u8> {
    [&framed(session)[..], &[50], b"the rest"].concat()
}

/// The public half of the only key, in SSH's form, as the list of keys has it.
pub(crate) fn only_key(stream: &UnixStream) -> Vec<u8> {
    let list = ask(stream, REQUEST_IDENTITIES).unwrap();
    assert_eq!(list[..5], [IDENTITIES, 0, 0, 0, 1], "{list:?}");
    let length = u32::from_be_bytes(list[5..9].try_into().unwrap()) as usize;
    list[9..9 + length].to_vec()
}
