//! Connections as fast as a server takes them: each a handshake and one exchange of 2,048 bytes.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use outboard_programs::hold_to;

use super::client::Client;
use crate::Failure;

/// Bytes of the request, and of the answer's body: one packet each way, as the published workloads
/// exchange after a handshake.
pub(crate) const EXCHANGE: usize = 2048;

/// What the servers offer under this name.
pub(crate) const FILE: &str = "packet";

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) struct Storm {
    /// So many connections resumed a session.
    pub(crate) resumed: u64,
    /// How long each handshake took its client, from its first packet on, in seconds.
    pub(crate) handshakes: Vec<f64>,
    /// From the first to the last.
    pub(crate) wall: Duration,
}

impl Storm {
    /// Makes so many connections, as many at once as there are clients.
    ///
    /// # Errors
    /// If any of them fails: a server that answers wrongly has no figure.
    pub(crate) fn run(
        clients: &[Client],
        port: u16,
        connections: u64,
        core: Option<usize>,
    ) -> Result<Self, Failure> {
        let request = request();
        let left = AtomicU64::new(connections);
        let resumed = AtomicU64::new(0);
        let handshakes = Mutex::new(Vec::new());
        let failed: Mutex<Option<io::Error>> = Mutex::new(None);
        let start = Instant::now();
        std::thread::scope(|scope| {
            for client in clients {
                let work = || -> io::Result<()> {
                    core.map_or(Ok(()), hold_to)?;
                    let mut mine = Vec::new();
                    while take_one(&left) {
                        let (handshake, was_resumed) = exchange(client, port, &request)?;
                        mine.push(handshake.as_secs_f64());
                        resumed.fetch_add(u64::from(was_resumed), Ordering::Relaxed);
                    }
                    let mut all = handshakes.lock().unwrap_or_else(|e| e.into_inner());
                    all.extend(mine);
                    Ok(())
                };
                let (left, failed) = (&left, &failed);
                scope.spawn(move || {
                    if let Err(error) = work() {
                        // The others stop as well. The first failure is reported.
                        left.store(0, Ordering::Relaxed);
                        let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
                        failed.get_or_insert(error);
                    }
                });
            }
        });
        let failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
        if let Some(error) = failed {
            return Err(format!("a connection to 127.0.0.1:{port} failed: {error}").into());
        }
        Ok(Self {
            wall: start.elapsed(),
            resumed: resumed.into_inner(),
            handshakes: handshakes.into_inner().unwrap_or_else(|e| e.into_inner()),
        })
    }
}

/// One connection, request and answer. Answers how long the handshake took, and whether a session was resumed.
fn exchange(client: &Client, port: u16, request: &[u8]) -> io::Result<(Duration, bool)> {
    let start = Instant::now();
    let mut connection = client.connect(port)?;
    let handshake = start.elapsed();
    connection.send(request)?;
    let answer = connection.receive_all()?;
    let body = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map(|end| &answer[end + 4..]);
    let is_ok = answer.starts_with(b"HTTP/1.1 200 ") || answer.starts_with(b"HTTP/1.0 200 ");
    if !is_ok || body.map(<[u8]>::len) != Some(EXCHANGE) {
        let text = String::from_utf8_lossy(&answer[..answer.len().min(300)]).into_owned();
        return Err(io::Error::other(format!("not the answer expected: {text}")));
    }
    Ok((handshake, connection.resumed()))
}

fn request() -> Vec<u8> {
    let head =
        format!("GET /{FILE} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Padding: ");
    let end = "\r\n\r\n";
    let padding = "x".repeat(EXCHANGE - head.len() - end.len());
    format!("{head}{padding}{end}").into_bytes()
}

/// Takes one from a number that is shared; false when none is left.
fn take_one(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(1)
    })
    .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_packet() {
        assert_eq!(request().len(), EXCHANGE);
    }

    #[test]
    fn no_connection_too_many() {
        let left = AtomicU64::new(2);
        let taken = (0..5).filter(|_| take_one(&left)).count();
        assert_eq!(taken, 2);
    }
}
