//! Clients that a server has to bear: many at once, and such that go away in mid-handshake.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use outboard_programs::{Launch, OpenSsl, Process};

use crate::stand::Stand;

/// h2load: so many requests, each over a connection of its own, so many connections at once.
pub(crate) fn load(stock: &OpenSsl, port: u16, clients: u32, requests: u32) -> Launch {
    Launch::new("h2load")
        .unwrap()
        .with(stock)
        .args(["--h1", "--header=Connection: close"])
        .arg(format!("--clients={clients}"))
        .arg(format!("--requests={requests}"))
        .arg(format!("https://127.0.0.1:{port}/"))
        .limit(Duration::from_secs(180))
}

/// Every request was answered.
pub(crate) fn assert_all_answered(output: &str, requests: u32) {
    let all = format!("{requests} succeeded, 0 failed, 0 errored, 0 timeout");
    assert!(output.contains(&all), "{output}");
}

/// openssl's client says a line and, where the service answers, gets it back.
pub(crate) fn one_line(stand: &Stand, port: u16) -> Process {
    let line = stand.workplace.write("line", "a line\n").unwrap();
    let client = stand.stock.command().unwrap();
    let client = client.args(["s_client", "-quiet", "-no_ign_eof", "-connect"]);
    let client = client
        .arg(format!("127.0.0.1:{port}"))
        .input(std::fs::File::open(line).unwrap());
    client.start_quietly().unwrap()
}

/// Such a client saw a certificate.
pub(crate) fn assert_shook_hands(client: Process) {
    let finished = client.finish(Duration::from_secs(120)).unwrap();
    assert!(
        finished.errors.contains("verify return"),
        "{}",
        finished.errors
    );
}

/// What a client says first, as openssl's own says it.
pub(crate) fn hello(stock: &OpenSsl) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let client = stock
        .command()
        .unwrap()
        .args(["s_client", "-connect", &address]);
    let client = client.start_quietly().unwrap();
    let (mut connection, _) = listener.accept().unwrap();
    // A record: type, version, length (RFC 8446, 5.1).
    let mut hello = vec![0; 5];
    connection.read_exact(&mut hello).unwrap();
    let length = usize::from(u16::from_be_bytes([hello[3], hello[4]]));
    hello.resize(5 + length, 0);
    connection.read_exact(&mut hello[5..]).unwrap();
    drop(connection);
    client.finish(Duration::from_secs(60)).unwrap();
    hello
}

/// Clients that begin a handshake and reset the connection in the midst of it, until they are stopped.
pub(crate) struct Droppers {
    stop: Arc<AtomicBool>,
    dropped: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Droppers {
    pub(crate) fn start(hello: &[u8], port: u16, threads: u64) -> Self {
        let (stop, dropped) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let dropper = |seed: u64| {
            let (hello, stop, dropped) = (hello.to_vec(), Arc::clone(&stop), Arc::clone(&dropped));
            std::thread::spawn(move || {
                let mut state = seed + 1;
                while !stop.load(Ordering::Relaxed) {
                    // xorshift64 (Marsaglia 2003)
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    if drop_one(&hello, port, Duration::from_micros(state % 4000)).is_ok() {
                        dropped.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        };
        let threads = (0..threads).map(dropper).collect();
        Self {
            stop,
            dropped,
            threads,
        }
    }

    /// How many connections were reset.
    pub(crate) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        self.dropped.load(Ordering::Relaxed)
    }
}

fn drop_one(hello: &[u8], port: u16, after: Duration) -> std::io::Result<()> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let mut connection = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    connection.write_all(hello)?;
    std::thread::sleep(after);
    // Closed with a reset, not with an end.
    let at_once = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: a live socket, and an option of that type and size.
    let set = unsafe {
        libc::setsockopt(
            connection.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const at_once).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    };
    assert_eq!(set, 0);
    Ok(())
}

/// A service that answers every line with itself, for what stands before it; it ends with the test.
pub(crate) fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let (mut read, mut write) = (connection.try_clone()?, connection);
                std::io::copy(&mut read, &mut write)
            });
        }
    });
    port
}
