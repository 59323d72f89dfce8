//! A small service for tests: it answers as it is told, or misbehaves.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use outboard_wire::{Answer, MOST, Request, SERVICE_SOCKET, Status};

use crate::address::{self, Raw};

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An answer.
    Say(Status, Vec<u8>),
    /// An answer to another request, then this one.
    SayLate(Status, Vec<u8>),
    /// These bytes, whatever they are.
    Bytes(Vec<u8>),
    /// Nothing; the connection stays.
    Nothing,
    /// Nothing; the connection ends.
    Close,
}

type Handler = dyn Fn(libc::uid_t, &Request<'_>) -> Reply + Send + Sync;

/// A service that runs until it is dropped.
pub struct Service {
    shared: Arc<Shared>,
    listeners: Vec<JoinHandle<()>>,
}

struct Shared {
    path: PathBuf,
    handler: Box<Handler>,
    ends: AtomicBool,
    connections: Mutex<Vec<Arc<OwnedFd>>>,
    accepted: AtomicUsize,
    open: AtomicUsize,
    listening: Mutex<Vec<Arc<OwnedFd>>>,
}

impl Service {
    /// Listens in that directory, and at its abstract name.
    ///
    /// # Errors
    /// The system refuses a socket.
    pub fn start(
        directory: &Path,
        handler: impl Fn(libc::uid_t, &Request<'_>) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let path = directory.join(SERVICE_SOCKET);
        let _ = fs::remove_file(&path);
        let mut listening = vec![Arc::new(listen(&address::visible(&path)?)?)];
        if let Some(name) = outboard_wire::abstract_name(directory) {
            listening.push(Arc::new(listen(&address::hidden(&name)?)?));
        }
        // Programs that the tests start have users of their own.
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
        let shared = Arc::new(Shared {
            path,
            handler: Box::new(handler),
            ends: AtomicBool::new(false),
            connections: Mutex::default(),
            accepted: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            listening: Mutex::new(listening.clone()),
        });
        let threads = listening.into_iter().map(|listener| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.accept(&listener))
        });
        Ok(Self {
            listeners: threads.collect(),
            shared,
        })
    }

    /// How many connections were made so far.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(SeqCst)
    }

    /// How many connections there are.
    pub fn open(&self) -> usize {
        self.shared.open.load(SeqCst)
    }

    /// Ends every connection; new ones are taken.
    pub fn disconnect(&self) {
        let mut connections = lock(&self.shared.connections);
        connections.drain(..).for_each(|one| shut(&one));
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.ends.store(true, SeqCst);
        let _ = fs::remove_file(&self.shared.path);
        let listening: Vec<_> = lock(&self.shared.listening).drain(..).collect();
        listening.iter().for_each(|one| shut(one));
        drop(listening);
        for listener in self.listeners.drain(..) {
            let _ = listener.join();
        }
        self.disconnect();
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &OwnedFd) {
        loop {
            // SAFETY: a descriptor that lives; no address is wanted.
            let connection = unsafe {
                libc::accept4(
                    listener.as_raw_fd(),
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    libc::SOCK_CLOEXEC,
                )
            };
            if connection < 0 {
                return;
            }
            // SAFETY: just made, and nobody else's.
            let connection = Arc::new(unsafe { OwnedFd::from_raw_fd(connection) });
            if self.ends.load(SeqCst) {
                return;
            }
            lock(&self.connections).push(Arc::clone(&connection));
            self.accepted.fetch_add(1, SeqCst);
            self.open.fetch_add(1, SeqCst);
            let shared = Arc::clone(self);
            thread::spawn(move || {
                shared.serve(&connection);
                shared.open.fetch_sub(1, SeqCst);
                shut(&connection);
                lock(&shared.connections).retain(|one| !Arc::ptr_eq(one, &connection));
            });
        }
    }

    fn serve(&self, connection: &OwnedFd) {
        let mut room = vec![0; MOST];
        let user = user(connection);
        loop {
            // SAFETY: as much room as there is.
            let length = unsafe {
                libc::recv(
                    connection.as_raw_fd(),
                    room.as_mut_ptr().cast(),
                    room.len(),
                    0,
                )
            };
            let Some(packet) = usize::try_from(length)
                .ok()
                .filter(|&length| length > 0)
                .map(|length| &room[..length])
            else {
                return;
            };
            let Ok(request) = Request::decode(packet) else {
                return;
            };
            let id = request.id;
            match (self.handler)(user, &request) {
                Reply::Say(status, bytes) => say(connection, id, status, &bytes),
                Reply::SayLate(status, bytes) => {
                    say(connection, id.wrapping_sub(1), Status::Done, b"late");
                    say(connection, id, status, &bytes);
                }
                Reply::Bytes(bytes) => send(connection, &bytes),
                Reply::Nothing => {}
                Reply::Close => return,
            }
        }
    }
}

fn say(connection: &OwnedFd, id: u32, status: Status, bytes: &[u8]) {
    let mut packet = Vec::new();
    Answer { id, status, bytes }.encode(&mut packet);
    send(connection, &packet);
}

fn send(connection: &OwnedFd, packet: &[u8]) {
    // SAFETY: as many bytes as there are.
    unsafe {
        libc::send(
            connection.as_raw_fd(),
            packet.as_ptr().cast(),
            packet.len(),
            libc::MSG_NOSIGNAL,
        )
    };
}

fn shut(socket: &OwnedFd) {
    // SAFETY: a descriptor that lives.
    unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR) };
}

fn user(connection: &OwnedFd) -> libc::uid_t {
    let mut peer = libc::ucred {
        pid: 0,
        uid: libc::uid_t::MAX,
        gid: libc::gid_t::MAX,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a value of ours, and its length.
    unsafe {
        libc::getsockopt(
            connection.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    peer.uid
}

fn listen(at: &Raw) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: makes a descriptor.
    let socket = unsafe { libc::socket(libc::AF_UNIX, kind, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let since = Instant::now();
    loop {
        // SAFETY: an address and its length.
        let listens = unsafe {
            libc::bind(
                socket.as_raw_fd(),
                (&raw const at.address).cast(),
                at.length,
            ) == 0
                && libc::listen(socket.as_raw_fd(), 128) == 0
        };
        if listens {
            return Ok(socket);
        }
        let error = io::Error::last_os_error();
        // A process that another test starts has the last service's socket for a moment, until it runs its program.
        let passes = error.raw_os_error() == Some(libc::EADDRINUSE);
        if !passes || since.elapsed() > Duration::from_secs(5) {
            return Err(error);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
