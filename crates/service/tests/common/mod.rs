//! What the tests of the card service share.

#![allow(dead_code, reason = "each test uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

pub(crate) mod ssh;

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use outboard_administration::{Connection, Grant, KeyInfo, Reply, Request, Right, Subject};
use outboard_programs::sandbox;
use outboard_wire::{Answer, MOST, Operation, SERVICE_SOCKET, Status};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use tempfile::TempDir;

/// The user whom nothing belongs to.
pub(crate) const NOBODY: u32 = 65_534;

/// A service of a test's own.
pub(crate) struct Service {
    process: Daemon,
    directory: TempDir,
}

/// A process of outboardd, killed at its end.
pub(crate) struct Daemon(pub(crate) Child);

impl Daemon {
    /// One that is started with these words, and writes its log to that file.
    pub(crate) fn start(words: &[&Path], log: PathBuf) -> Self {
        Self::start_on(Kernel::This, words, log)
    }

    /// One on that kernel.
    pub(crate) fn start_on(kernel: Kernel, words: &[&Path], log: PathBuf) -> Self {
        let mut command = Command::new("sh");
        if kernel == Kernel::Before6_16 {
            // SAFETY: makes system calls alone.
            unsafe { command.pre_exec(|| sandbox::forget_socket_option(SO_PASSRIGHTS)) };
        }
        // As a login limits it: the service raises that itself.
        let child = command
            .args(["-c", "ulimit -S -n 1024 && exec \"$@\"", "sh"])
            .arg(env!("CARGO_BIN_EXE_outboardd"))
            .args(words)
            .stderr(fs::File::create(log).unwrap())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Descriptors, and kilobytes of memory.
    pub(crate) fn size(&self) -> (usize, usize) {
        let process = format!("/proc/{}", self.0.id());
        let descriptors = fs::read_dir(format!("{process}/fd")).map_or(0, Iterator::count);
        let status = fs::read_to_string(format!("{process}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS"));
        let memory = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        (descriptors, memory.unwrap())
    }

    /// Waits until all connections are closed.
    #[track_caller]
    pub(crate) fn has_size_again(&self, before: (usize, usize)) {
        let since = Instant::now();
        while self.size().0 > before.0 {
            assert!(
                since.elapsed() < Duration::from_secs(30),
                "descriptors stay"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        let (_, memory) = self.size();
        assert!(
            memory < before.1 + 16 * 1024,
            "{memory} kB after {before:?}"
        );
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The kernel that a process of a test sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    This,
    /// One whose sockets take descriptors always.
    Before6_16,
}

/// As the service has it.
const SO_PASSRIGHTS: i32 = 83;

/// Waits until that is so.
#[track_caller]
pub(crate) fn wait_until(what: impl Fn() -> bool) {
    let since = Instant::now();
    while !what() {
        assert!(since.elapsed() < Duration::from_secs(60), "it never is");
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Service {
    pub(crate) fn start() -> Self {
        Self::start_on(Kernel::This)
    }

    pub(crate) fn start_on(kernel: Kernel) -> Self {
        let directory = TempDir::new().unwrap();
        // For a child of another user.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(directory.path(), open).unwrap();
        let process = Self::process(kernel, directory.path());
        let service = Self { process, directory };
        wait_until(|| Connection::open(service.path()).is_ok());
        service
    }

    fn process(kernel: Kernel, directory: &Path) -> Daemon {
        let ledger = directory.join("ledger");
        let words = [
            "--directory".as_ref(),
            directory,
            "--ledger".as_ref(),
            &ledger,
        ];
        Daemon::start_on(kernel, &words, directory.join("log"))
    }

    /// Kills it, and starts it again after that time.
    pub(crate) fn kill(&mut self, pause: Duration) {
        self.process.0.kill().unwrap();
        self.process.0.wait().unwrap();
        std::thread::sleep(pause);
        self.process = Self::process(Kernel::This, self.path());
    }

    /// Kills it, does that, and starts it again.
    pub(crate) fn kill_and(&mut self, then: impl FnOnce()) {
        self.process.0.kill().unwrap();
        self.process.0.wait().unwrap();
        then();
        self.process = Self::process(Kernel::This, self.path());
        wait_until(|| Connection::open(self.path()).is_ok());
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The number of its process.
    pub(crate) fn process_number(&self) -> u32 {
        self.process.0.id()
    }

    /// That of the process which carries out verbs, if there is one.
    pub(crate) fn verbs(&self) -> Option<u32> {
        let parent = format!("PPid:\t{}", self.process_number());
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut numbers =
            processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        numbers.find(|number| {
            let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
            // A dead one that is not yet reaped is none.
            status.lines().any(|line| line == parent) && !status.contains("State:\tZ")
        })
    }

    /// The lines of its log that complain.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path().join("log")).unwrap();
        let lines = log.lines().filter(|line| line.contains("WARN"));
        lines.map(str::to_owned).collect()
    }

    pub(crate) fn ask(&self, request: Request) -> Result<Reply, outboard_administration::Error> {
        Connection::open(self.path()).unwrap().ask(&request)
    }

    /// A key that this user may use.
    pub(crate) fn key(&self, name: &str) -> KeyInfo {
        self.key_of("ed25519", name)
    }

    /// One of that type.
    pub(crate) fn key_of(&self, kind: &str, name: &str) -> KeyInfo {
        let generate = Request::Generate {
            name: name.into(),
            kind: kind.into(),
            exportable: false,
        };
        self.ask(generate).unwrap();
        self.grant(name, rustix::process::getuid().as_raw())
    }

    /// Lets a user use a key.
    pub(crate) fn grant(&self, name: &str, uid: u32) -> KeyInfo {
        let grant = Request::Grant {
            name: name.into(),
            grant: Grant {
                to: Subject::User(uid),
                right: Right::Use,
            },
            given: true,
        };
        match self.ask(grant).unwrap() {
            Reply::Key(key) => *key,
            reply => panic!("{reply:?}"),
        }
    }

    /// As [`Daemon::size`].
    pub(crate) fn size(&self) -> (usize, usize) {
        self.process.size()
    }

    /// As [`Daemon::has_size_again`].
    #[track_caller]
    pub(crate) fn has_size_again(&self, before: (usize, usize)) {
        self.process.has_size_again(before);
    }
}

pub(crate) fn connect(directory: &Path) -> OwnedFd {
    let flags = SocketFlags::CLOEXEC;
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    let address = SocketAddrUnix::new(directory.join(SERVICE_SOCKET)).unwrap();
    rustix::net::connect(&socket, &address).unwrap();
    socket
}

pub(crate) fn packet(key: &KeyInfo) -> Vec<u8> {
    packet_of(key, Operation::Ed25519 { message: b"hello" })
}

pub(crate) fn packet_of(key: &KeyInfo, operation: Operation<'_>) -> Vec<u8> {
    let mut packet = Vec::new();
    outboard_wire::Request {
        id: 7,
        key: key.id.parse().unwrap(),
        ticket: None,
        operation,
    }
    .encode(&mut packet);
    packet
}

pub(crate) fn ask(socket: impl AsFd, packet: &[u8]) -> Option<Status> {
    let answer = answer(socket, packet)?;
    Some(Answer::decode(&answer).ok()?.status)
}

pub(crate) fn answer(socket: impl AsFd, packet: &[u8]) -> Option<Vec<u8>> {
    rustix::net::send(&socket, packet, SendFlags::NOSIGNAL).ok()?;
    let mut room = vec![0; MOST];
    let (length, _) = rustix::net::recv(&socket, &mut room, RecvFlags::empty()).ok()?;
    room.truncate(length);
    Some(room)
}

#[track_caller]
pub(crate) fn serves(service: &Service, key: &KeyInfo) {
    let status = ask(connect(service.path()), &packet(key));
    assert_eq!(status, Some(Status::Done));
}
