//! What a hostile client attaches to its messages: descriptors that take for ever to close. Nobody else waits for them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::io::{BufRead, BufReader, IoSlice, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use common::ssh::{self, REQUEST_IDENTITIES};
use common::{Daemon, Kernel, NOBODY, Service, serves};
use outboard_administration::{Reply, Request};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sockopt};

/// How many connections the attacker makes to each socket: the service has no thread for so many, and for commands it is more than
/// one user may have.
const CONNECTIONS: usize = 24;
const DIRECTORY: &str = "ATTACHED_DIRECTORY";

/// A connection that takes ten minutes to close, and what keeps it so.
fn slow() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (never_reads, _) = listener.accept().unwrap();
    slow.set_nonblocking(true).unwrap();
    while (&slow).write(&[0; 65_536]).is_ok() {}
    sockopt::set_socket_linger(&slow, Some(Duration::from_secs(600))).unwrap();
    (slow, never_reads)
}

fn send_with(socket: impl AsFd, bytes: &[u8], attached: Vec<OwnedFd>, flags: SendFlags) {
    let descriptors: Vec<_> = attached.iter().map(AsFd::as_fd).collect();
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
    let flags = flags | SendFlags::NOSIGNAL;
    // The kernel may refuse it, and the service may have received it: then it is closed here.
    let _ = rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags);
    drop(descriptors);
    std::thread::spawn(move || drop(attached));
}

/// The attacker: another user where there can be one.
fn attacker(directory: &Path) -> Option<(Child, BufReader<ChildStdout>)> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "as_an_attacker",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DIRECTORY, directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if rustix::process::getuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    // The test's own program may be where that user cannot go.
    let mut child = command.spawn().ok()?;
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("attacked") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0);
    }
    Some((child, said))
}

/// The other side of [`nobody_waits_for_what_an_attacker_attaches`].
#[test]
fn as_an_attacker() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let directory = Path::new(&directory);
    let is_another = rustix::process::getuid().as_raw() == NOBODY;
    let mut kept = Vec::new();
    for number in 0..CONNECTIONS {
        // What is attached, and whether it comes first, is out of band, or is never read.
        let before = [&b""[..], &[0, 0]][number % 2];
        let flags = [SendFlags::empty(), SendFlags::OOB][number / 2 % 2];
        let mut attack = |socket: OwnedFd, flags| {
            let (slow, never_reads) = slow();
            if !before.is_empty() {
                let _ = rustix::net::send(&socket, before, SendFlags::NOSIGNAL);
            }
            send_with(&socket, b"\0", vec![slow.into()], flags);
            kept.push((socket, never_reads));
        };
        attack(common::connect(directory), SendFlags::empty());
        let stream = |name| UnixStream::connect(directory.join(name)).unwrap().into();
        attack(stream("agent.sock"), flags);
        attack(stream("relay.sock"), flags);
        // A user has few commands, and the test is one, too.
        if is_another || number < 8 {
            attack(stream("admin.sock"), flags);
        }
    }
    println!("\nattacked");
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn nobody_waits_for_what_an_attacker_attaches() {
    for kernel in [Kernel::This, Kernel::Before6_16] {
        let service = Service::start_on(kernel);
        let key = service.key("site");
        let words = ["--agent", "--directory"].map(Path::new);
        let words = [words[0], words[1], service.path()];
        let front = Daemon::front_on(kernel, service.path(), &words);
        let Some((mut child, _said)) = attacker(service.path()) else {
            return;
        };
        let since = Instant::now();
        for _ in 0..10 {
            serves(&service, &key);
            let stream = ssh::connect(service.path()).unwrap();
            assert!(ssh::ask(&stream, REQUEST_IDENTITIES).is_some());
            let status = service.ask(Request::Status);
            assert!(matches!(status, Ok(Reply::Status(_))), "{status:?}");
        }
        let elapsed = since.elapsed();
        assert!(elapsed < Duration::from_secs(30), "{kernel:?}: {elapsed:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
        drop(front);
    }
}

/// A front that an attacker controls does not stop the service either.
#[test]
fn nobody_waits_for_what_the_front_attaches() {
    let service = Service::start();
    let key = service.key("site");
    // Whoever owns that socket is the front.
    let _front = Daemon::front(&service);
    let before = service.size();
    let mut kept = Vec::new();
    for number in 0..CONNECTIONS {
        let client = ssh::connect(service.path()).unwrap();
        let relay = UnixStream::connect(service.path().join("relay.sock")).unwrap();
        let (slow, never_reads) = slow();
        let slow = OwnedFd::from(slow);
        match number % 4 {
            // Instead of a client, and beside it.
            0 => send_with(&relay, &[1], vec![slow], SendFlags::empty()),
            1 => {
                let two = vec![client.try_clone().unwrap().into(), slow];
                send_with(&relay, &[1], two, SendFlags::empty());
            }
            2 => {
                let copy = slow.try_clone().unwrap();
                let three = vec![slow, copy, client.try_clone().unwrap().into()];
                send_with(&relay, &[1], three, SendFlags::empty());
            }
            // With a message.
            _ => {
                let message = ssh::framed(REQUEST_IDENTITIES);
                send_with(&relay, &message, vec![slow], SendFlags::empty());
            }
        }
        kept.push((client, relay, never_reads));
    }
    for _ in 0..10 {
        serves(&service, &key);
        let stream = ssh::connect(service.path()).unwrap();
        assert!(ssh::ask(&stream, REQUEST_IDENTITIES).is_some());
    }
    // Nothing keeps the connections from closing any longer.
    drop(kept);
    service.has_size_again(before);
}
