//! A slow link between a client and a server on loopback: each byte arrives later, and no faster than the link carries it.
//!
//! (netem would need root, and a kernel that has it. Packets are not lost here, and TCP's own connection is made at once.)
//!
//! ```text
//! client ──▶ read ──▶ queue (bytes, time of arrival) ──▶ write ──▶ server, and the same the other way
//! ```

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A link, alike in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// How long a byte is on its way.
    pub(super) delay: Duration,
    /// In bits per second.
    pub(super) rate: f64,
}

/// What passed through a link: bytes of TCP's payload.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    pub(super) to_server: u64,
    pub(super) to_client: u64,
    /// How often the client spoke after it had listened, and at first.
    pub(super) turns: u64,
    client_speaks: bool,
}

/// A packet's payload, and its headers of IP and TCP, in bytes.
const PAYLOAD: usize = 1448;
const HEADERS: usize = 52;

impl Link {
    /// Lets `client` make one connection, to the port that it is told, which leads to `server` over this link. `passed`
    /// counts.
    ///
    /// # Errors
    /// What the client says, or a socket.
    pub(super) fn between<R>(
        self,
        server: u16,
        passed: &Mutex<Passed>,
        client: impl FnOnce(u16) -> io::Result<R>,
    ) -> io::Result<R> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        thread::scope(|scope| {
            let relay = scope.spawn(|| self.relay(&listener, server, passed));
            let result = client(address.port());
            // A client that never came would be waited for.
            drop(TcpStream::connect(address));
            let relayed = relay.join().expect("no panic in the relay");
            let result = result?;
            relayed.map(|()| result)
        })
    }

    fn relay(self, listener: &TcpListener, server: u16, passed: &Mutex<Passed>) -> io::Result<()> {
        let (client, _) = listener.accept()?;
        let server = TcpStream::connect(("127.0.0.1", server))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        thread::scope(|scope| {
            let there = scope.spawn(|| self.carry(&client, &server, passed, true));
            let back = self.carry(&server, &client, passed, false);
            let there = there.join().expect("no panic in the relay");
            there.and(back)
        })
    }

    /// One direction, until its end.
    fn carry(
        self,
        mut from: &TcpStream,
        mut to: &TcpStream,
        passed: &Mutex<Passed>,
        to_server: bool,
    ) -> io::Result<()> {
        thread::scope(|scope| {
            // Its sender goes with this closure, and then the thread ends.
            let (queue, arrivals) = mpsc::channel::<(Instant, Vec<u8>)>();
            scope.spawn(move || {
                for (time, bytes) in arrivals {
                    thread::sleep(time.saturating_duration_since(Instant::now()));
                    // The other end may have had enough.
                    if to.write_all(&bytes).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Write);
            });
            let mut free = Instant::now();
            let mut packet = [0; PAYLOAD];
            loop {
                let length = match from.read(&mut packet) {
                    Ok(length) => length,
                    Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
                    Err(error) => return Err(error),
                };
                if length == 0 {
                    return Ok(());
                }
                passed
                    .lock()
                    .unwrap_or_else(|error| error.into_inner())
                    .count(length as u64, to_server);
                let takes = (length + HEADERS) as f64 * 8.0 / self.rate;
                free = free.max(Instant::now()) + Duration::from_secs_f64(takes);
                let packet = (free + self.delay, packet[..length].to_vec());
                if queue.send(packet).is_err() {
                    return Ok(());
                }
            }
        })
    }
}

impl Passed {
    fn count(&mut self, length: u64, to_server: bool) {
        match to_server {
            true => self.to_server += length,
            false => self.to_client += length,
        }
        self.turns += u64::from(to_server && !self.client_speaks);
        self.client_speaks = to_server;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers each byte with a thousand.
    fn server() -> io::Result<u16> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            let mut byte = [0];
            while stream.read(&mut byte)? == 1 {
                stream.write_all(&[7; 1000])?;
            }
            io::Result::Ok(())
        });
        Ok(port)
    }

    #[test]
    fn bytes_take_their_time_and_are_counted() {
        let link = Link {
            delay: Duration::from_millis(20),
            rate: 1e6,
        };
        let passed = Mutex::new(Passed::default());
        let start = Instant::now();
        link.between(server().unwrap(), &passed, |port| {
            let mut stream = TcpStream::connect(("127.0.0.1", port))?;
            for _ in 0..2 {
                stream.write_all(&[1])?;
                let mut answer = [0; 1000];
                stream.read_exact(&mut answer)?;
                assert_eq!(answer, [7; 1000]);
            }
            Ok(())
        })
        .unwrap();
        // Two round trips of 40 ms, and two answers of 8.4 ms.
        assert!(start.elapsed() > Duration::from_millis(95));
        let passed = passed.into_inner().unwrap();
        assert_eq!((passed.to_server, passed.to_client), (2, 2000));
        assert_eq!(passed.turns, 2);
    }

    #[test]
    fn a_client_that_does_not_come_is_not_waited_for() {
        let link = Link {
            delay: Duration::ZERO,
            rate: 1e9,
        };
        let passed = Mutex::new(Passed::default());
        let failed = || io::Error::other("no");
        let result = link.between::<()>(server().unwrap(), &passed, |_| Err(failed()));
        assert_eq!(result.unwrap_err().to_string(), "no");
    }
}
