//! One answer of HTTP on a TCP connection that systemd has accepted and made the standard input: what Prometheus reads.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// OpenMetrics 1.0, section 4.1.
const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the head of a request may have, in bytes.
const HEAD: usize = 8192;

/// How long a client may take for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The connection, if the standard input is one.
pub(super) fn connection() -> Option<TcpStream> {
    let stream = TcpStream::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    stream.peer_addr().is_ok().then_some(stream)
}

/// Reads one request, and answers one for `/metrics` with the text.
///
/// # Errors
/// If the client is gone or too slow.
pub(super) fn answer(mut client: TcpStream, text: impl FnOnce() -> String) -> io::Result<()> {
    let begun = Instant::now();
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let left = PATIENCE.saturating_sub(begun.elapsed());
        if left.is_zero() || head.len() >= HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        client.set_read_timeout(Some(left))?;
        let mut piece = [0; 1024];
        match client.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => head.extend_from_slice(&piece[..length]),
        }
    }
    client.set_write_timeout(Some(PATIENCE))?;
    client.write_all(response(&head, text).as_bytes())
}

fn response(head: &[u8], text: impl FnOnce() -> String) -> String {
    let line = String::from_utf8_lossy(head);
    let mut words = line.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next(), words.next().unwrap_or_default());
    let path = target.split('?').next();
    let (status, kind, body) = match (method, path) {
        (Some("GET"), Some("/metrics")) => ("200 OK", TYPE, text()),
        (Some("GET"), _) => ("404 Not Found", "text/plain", "see /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", String::new()),
    };
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_metrics_are_told_and_only_to_who_asks_whole() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let ask = |request: &str| {
            let mut client =
                TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
            client.write_all(request.as_bytes()).expect("sent");
            client.shutdown(std::net::Shutdown::Write).expect("sent");
            let (server, _) = listener.accept().expect("a client");
            // Ends the connection, so that the client reads to the end.
            let outcome = answer(server, || "x 1\n# EOF\n".to_owned());
            let mut answered = String::new();
            // Who sent more than was read finds the connection reset.
            let _ = client.read_to_string(&mut answered);
            outcome.map(|()| answered)
        };
        let told = ask("GET /metrics?x HTTP/1.1\r\nHost: x\r\n\r\n").expect("an answer");
        assert!(told.starts_with("HTTP/1.1 200 OK\r\n") && told.ends_with("\r\n\r\nx 1\n# EOF\n"));
        assert!(told.contains("Content-Length: 10\r\n") && told.contains(TYPE));
        for (request, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("\r\n\r\n", "405"),
        ] {
            let told = ask(request).expect("an answer");
            assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{told}");
        }
        ask("GET /metrics HTTP/1.1\r\n").expect_err("no end");
        ask(&"x".repeat(2 * HEAD)).expect_err("too long");
    }
}
