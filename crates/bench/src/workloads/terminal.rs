//! The plain service behind a TLS front: a terminal's host, which answers every line with a screen.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use outboard_programs::hold_to;

/// A screen: 24 lines of 80 characters, the last of each a line feed.
pub(super) const SCREEN: usize = 24 * 80;

/// What a client sends.
pub(super) const QUERY: &[u8] = b"QUERY DASD\n";

/// Starts the service on a free port of 127.0.0.1, held to a core. It greets every connection with a screen, answers
/// every line with another, and lives as long as this process: its threads (one a connection, with a
/// small stack) end with their connections.
///
/// # Errors
/// If no port can be had.
pub(super) fn serve(core: Option<usize>) -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        // Its later threads stay on this core too. If it cannot be bound to the core, it runs anyway.
        core.map(|core| hold_to(core).ok());
        for connection in listener.incoming().flatten() {
            // A connection that cannot be served is closed: its client says so.
            let _ = std::thread::Builder::new()
                .stack_size(128 << 10)
                .spawn(move || converse(connection));
        }
    });
    Ok(port)
}

/// Ends when the other side has gone, however it went.
fn converse(connection: TcpStream) -> io::Result<()> {
    let screen = format!("{}\n", ".".repeat(79)).repeat(24).into_bytes();
    connection.set_nodelay(true)?;
    (&connection).write_all(&screen)?;
    for line in BufReader::with_capacity(256, &connection).lines() {
        line?;
        (&connection).write_all(&screen)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn every_line_gets_a_screen() {
        let port = serve(None).unwrap();
        let mut terminal = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut screen = [0; SCREEN];
        terminal.read_exact(&mut screen).unwrap();
        for _ in 0..2 {
            terminal.write_all(QUERY).unwrap();
            terminal.read_exact(&mut screen).unwrap();
            assert_eq!(screen.iter().filter(|&&byte| byte == b'\n').count(), 24);
        }
    }
}
