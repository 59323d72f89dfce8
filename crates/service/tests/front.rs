//! The front of the service for ssh clients: it outlives the service, speaks only for those that are connected to it, and
//! serves others whatever one of them does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::io::{BufRead, BufReader, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::chown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use common::ssh::{self, FAILURE, IDENTITIES, REQUEST_IDENTITIES, SIGNATURE, SUCCESS};
use common::{Daemon, NOBODY, Service, wait_until};
use outboard_administration::{Reply, Request};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketType,
};

/// As the front has it.
const MOST_OF_USER: usize = 256;

/// A service with one key, which this user may use, and its front.
fn stand() -> (Service, Daemon) {
    let service = Service::start();
    service.key("user");
    let front = Daemon::front(&service);
    (service, front)
}

fn kind(answer: Option<Vec<u8>>) -> Option<u8> {
    answer.map(|answer| answer[0])
}

/// Whatever the service is at when it is killed, each request is answered as if it had not been.
#[test]
fn no_request_is_lost_when_the_service_is_killed() {
    const KILLS: u64 = 40;
    let (mut service, front) = stand();
    let ended = AtomicBool::new(false);
    let path = service.path().to_owned();
    let public = ssh::only_key(&ssh::connect(&path).unwrap());
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|number| {
                let (path, public, ended) = (&path, &public, &ended);
                scope.spawn(move || {
                    let (mut stream, mut signatures) = (ssh::connect(path).unwrap(), 0);
                    while !ended.load(Relaxed) {
                        // Some stay, some come anew.
                        if number % 2 == 0 {
                            stream = ssh::connect(path).unwrap();
                        }
                        let answer = ssh::ask(&stream, &ssh::sign(public, b"data"));
                        assert_eq!(kind(answer), Some(SIGNATURE));
                        signatures += 1;
                    }
                    signatures
                })
            })
            .collect();
        for kill in 0..KILLS {
            std::thread::sleep(Duration::from_millis(kill * 37 % 90));
            service.kill(Duration::from_millis(kill % 3 * 20));
            if clients.iter().any(|client| client.is_finished()) {
                break; // it has failed, and says why
            }
        }
        ended.store(true, Relaxed);
        for client in clients {
            assert!(client.join().expect("each request is answered") > 0);
        }
    });
    drop(service);
    let stream = ssh::connect(&path);
    drop(front);
    assert!(stream.is_err(), "the directory is gone");
}

/// What a connection is for holds also after the service has forgotten it.
#[test]
fn a_connection_for_one_login_signs_for_no_other_after_a_kill() {
    let (mut service, _front) = stand();
    let stream = ssh::connect(service.path()).unwrap();
    let public = ssh::only_key(&stream);
    assert_eq!(kind(ssh::ask(&stream, &ssh::bind(b"this"))), Some(SUCCESS));
    for _ in 0..2 {
        let sign = |session| kind(ssh::ask(&stream, &ssh::sign(&public, &ssh::login(session))));
        assert_eq!(sign(b"this"), Some(SIGNATURE));
        assert_eq!(sign(b"other"), Some(FAILURE));
        // A client that repeats it costs nothing.
        for _ in 0..2_000 {
            assert_eq!(kind(ssh::ask(&stream, &ssh::bind(b"other"))), Some(FAILURE));
        }
        service.kill(Duration::ZERO);
    }
    // Whoever says ever more for good loses the connection.
    let stream = ssh::connect(service.path()).unwrap();
    let hop = |number: u32| {
        let mut bind = ssh::bind(&[7; 32]);
        bind.pop();
        // The signature is the last string.
        let signature = bind.len() - ssh::framed(b"signature").len();
        bind.truncate(signature);
        [&bind[..], &ssh::framed(&[number as u8; 20_000]), &[1]].concat()
    };
    let answers = (0..10).map(|number| kind(ssh::ask(&stream, &hop(number))));
    let answers: Vec<_> = answers.take_while(Option::is_some).collect();
    assert_eq!(answers, [Some(SUCCESS); 3]);
}

#[test]
fn a_request_waits_for_the_service_and_fails_after_a_while() {
    let service = Service::start();
    service.key("user");
    let directory = service.path().to_owned();
    let front = Daemon::front(&service);
    let stream = ssh::connect(&directory).unwrap();
    let public = ssh::only_key(&stream);
    // Nobody listens, as when a service ends for good.
    let (there, gone) = (directory.join("relay.sock"), directory.join("aside"));
    std::fs::rename(&there, &gone).unwrap();
    assert_eq!(kind(ssh::ask(&stream, REQUEST_IDENTITIES)), Some(FAILURE));
    // The connection stays.
    std::fs::rename(&gone, &there).unwrap();
    assert_eq!(
        kind(ssh::ask(&stream, REQUEST_IDENTITIES)),
        Some(IDENTITIES)
    );
    let answer = std::thread::scope(|scope| {
        std::fs::rename(&there, &gone).unwrap();
        let asked = scope.spawn(|| ssh::ask(&stream, &ssh::sign(&public, b"data")));
        std::thread::sleep(Duration::from_millis(500));
        std::fs::rename(&gone, &there).unwrap();
        asked.join().unwrap()
    });
    assert_eq!(kind(answer), Some(SIGNATURE));
    drop(front);

    // As long as the option says, and no longer.
    let _front = Daemon::front_with(&service, &["--service-limit", "1"]);
    let stream = ssh::connect(&directory).unwrap();
    let answer = std::thread::scope(|scope| {
        std::fs::rename(&there, &gone).unwrap();
        let asked = scope.spawn(|| ssh::ask(&stream, REQUEST_IDENTITIES));
        std::thread::sleep(Duration::from_millis(2_500));
        std::fs::rename(&gone, &there).unwrap();
        asked.join().unwrap()
    });
    assert_eq!(kind(answer), Some(FAILURE));
}

/// A rate that is used up passes: ssh waits for it as other programs do.
#[test]
fn a_rate_is_waited_for() {
    let (service, _front) = stand();
    let rate = Request::Policy {
        name: "user".into(),
        set: [("rate".to_owned(), 4.into())].into_iter().collect(),
    };
    service.ask(rate).unwrap();
    let stream = ssh::connect(service.path()).unwrap();
    let public = ssh::only_key(&stream);
    for _ in 0..12 {
        let answer = ssh::ask(&stream, &ssh::sign(&public, b"data"));
        assert_eq!(kind(answer), Some(SIGNATURE));
    }
}

/// Half messages, answers that nobody reads and whatever else: the front goes on, and gives everything back.
#[test]
fn hostile_clients_delay_nobody() {
    let (service, front) = stand();
    let path = service.path();
    let public = ssh::only_key(&ssh::connect(path).unwrap());
    let before = front.size();
    let long = [&(256_u32 << 10).to_be_bytes()[..], &vec![13; 200_000]].concat();
    let flood = ssh::framed(REQUEST_IDENTITIES).repeat(100_000);
    let hostile: Vec<_> = (0..60)
        .map(|number| {
            let stream = ssh::connect(path).unwrap();
            stream.set_nonblocking(true).unwrap();
            let said = match number % 6 {
                0 => &[0, 0][..],
                1 => &long[..],
                2 => &flood,
                3 => &[0; 4],
                4 => &[0xff; 4],
                _ => b"GET / HTTP/1.1\r\n\r\n",
            };
            let _ = (&stream).write(said);
            stream
        })
        .collect();
    for _ in 0..50 {
        let stream = ssh::connect(path).unwrap();
        let answer = ssh::ask(&stream, &ssh::sign(&public, b"data"));
        assert_eq!(kind(answer), Some(SIGNATURE));
    }
    drop(hostile);
    front.has_size_again(before);
    // A client with a name of its own, even one that fills an address, is refused (`Peer::of_accepted`).
    for length in [1, 107 - path.as_os_str().len()] {
        let named = UnixStream::from(bound(&path.join("n".repeat(length))));
        let to = SocketAddrUnix::new(path.join("agent.sock")).unwrap();
        rustix::net::connect(&named, &to).unwrap();
        assert_eq!(kind(ssh::ask(&named, REQUEST_IDENTITIES)), None);
    }
    // Clients that do not wait for their answers.
    for _ in 0..500 {
        let mut stream = ssh::connect(path).unwrap();
        stream
            .write_all(&ssh::framed(&ssh::sign(&public, b"data")))
            .unwrap();
    }
    assert_eq!(
        kind(ssh::ask(&ssh::connect(path).unwrap(), REQUEST_IDENTITIES)),
        Some(IDENTITIES)
    );
    front.has_size_again(before);
}

/// A packet for the service: bytes, with these sockets.
fn relay(directory: &Path, bytes: &[u8], sockets: &[BorrowedFd<'_>]) -> UnixStream {
    let stream = UnixStream::connect(directory.join("relay.sock")).unwrap();
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut attached = SendAncillaryBuffer::new(&mut room);
    assert!(attached.push(SendAncillaryMessage::ScmRights(sockets)));
    // A service that has closed the connection has refused it.
    let _ = rustix::net::sendmsg(
        &stream,
        &[IoSlice::new(bytes)],
        &mut attached,
        SendFlags::NOSIGNAL,
    );
    stream
}

/// A socket with that name, which neither listens nor is connected.
fn bound(path: &Path) -> OwnedFd {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    socket
}

/// The front of which an attacker is the master speaks for its clients, and for nobody else: of a socket that the attacker
/// made, the kernel may tell that root is at the other end.
#[test]
fn the_front_speaks_for_its_clients_alone() {
    let service = Service::start();
    service.key("user");
    let path = service.path().join("agent.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let connecting = UnixStream::connect(&path).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    let elsewhere = UnixListener::bind(service.path().join("else.sock")).unwrap();
    let other = UnixStream::connect(service.path().join("else.sock")).unwrap();
    let (accepted_elsewhere, _) = elsewhere.accept().unwrap();
    let (pair, _pair) = UnixStream::pair().unwrap();
    let file = std::fs::File::open("/dev/null").unwrap();
    let internet = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    // As an attacker binds it in a mount namespace, where that path leads elsewhere. The kernel says of it who listens.
    std::fs::rename(&path, service.path().join("aside")).unwrap();
    let named = bound(&path);
    let to = SocketAddrUnix::new(service.path().join("else.sock")).unwrap();
    rustix::net::connect(&named, &to).unwrap();
    std::fs::rename(service.path().join("aside"), &path).unwrap();
    let length = 107 - service.path().as_os_str().len();
    let longest = bound(&service.path().join("l".repeat(length)));
    let lists = |bytes: &[u8], sockets: &[BorrowedFd<'_>]| {
        let stream = relay(service.path(), bytes, sockets);
        kind(ssh::ask(&stream, REQUEST_IDENTITIES)) == Some(IDENTITIES)
    };
    let before = service.size();
    let client = accepted.as_fd();
    assert!(lists(&[1], &[client]));
    for (bytes, sockets) in [
        (&[1][..], &[][..]),
        (&[1], &[client, client]),
        (&[1], &[client; 8]),
        (&[0], &[client]),
        (&[2], &[client]),
        (&[1], &[connecting.as_fd()]),
        (&[1], &[listener.as_fd()]),
        (&[1], &[accepted_elsewhere.as_fd()]),
        (&[1], &[other.as_fd()]),
        (&[1], &[named.as_fd()]),
        (&[1], &[longest.as_fd()]),
        (&[1], &[pair.as_fd()]),
        (&[1], &[file.as_fd()]),
        (&[1], &[internet.as_fd()]),
    ] {
        assert!(!lists(bytes, sockets), "{bytes:?}, {sockets:?}");
    }
    // A second client on the same connection is none.
    let stream = relay(service.path(), &[1], &[client]);
    ssh::only_key(&stream);
    drop(stream);
    service.has_size_again(before);
    // Only the owner of the agent's socket is the front.
    if rustix::process::getuid().is_root() {
        chown(&path, Some(NOBODY), None).unwrap();
        assert!(!lists(&[1], &[client]));
        let mut front = as_nobody("relays", service.path());
        let is_connected = || match service.ask(Request::Status).unwrap() {
            Reply::Status(status) => status.connections == 1,
            reply => panic!("{reply:?}"),
        };
        wait_until(is_connected);
        front.kill().unwrap();
        front.wait().unwrap();
        // A socket pair that root made for another purpose, and that the attacker has bound as above: the kernel says that root is at
        // the other end.
        std::fs::rename(&path, service.path().join("aside")).unwrap();
        let (pair, _pair) = UnixStream::pair().unwrap();
        rustix::net::bind(&pair, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        std::fs::rename(service.path().join("aside"), &path).unwrap();
        let front = nobody("lists", service.path(), OwnedFd::from(pair).into());
        let said = front.wait_with_output().unwrap().stdout;
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("answer: None"), "{said}");
        chown(&path, Some(0), None).unwrap();
        let other = as_nobody("relays", service.path());
        let said = other.wait_with_output().unwrap().stdout;
        assert!(String::from_utf8_lossy(&said).contains("closed"));
    }
}

/// This program's helper, as the user nobody.
fn as_nobody(what: &str, directory: &Path) -> std::process::Child {
    nobody(what, directory, Stdio::piped())
}

/// The same, with that standard input.
fn nobody(what: &str, directory: &Path, stdin: Stdio) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "as_another_user",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("FRONT_WHAT", what)
        .env("FRONT_DIRECTORY", directory)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .uid(NOBODY)
        .gid(NOBODY);
    command.spawn().unwrap()
}

/// The other side of [`as_nobody`].
#[test]
fn as_another_user() {
    let (Ok(what), Some(directory)) = (
        std::env::var("FRONT_WHAT"),
        std::env::var_os("FRONT_DIRECTORY"),
    ) else {
        return;
    };
    let directory = Path::new(&directory);
    if what == "crowds" {
        let crowd = (0..2 * MOST_OF_USER).map(|_| ssh::connect(directory).unwrap());
        let crowd: Vec<_> = crowd.collect();
        println!("\nconnected");
        let _ = std::io::stdin().read_line(&mut String::new());
        let is_open = |stream: &&UnixStream| ssh::ask(stream, REQUEST_IDENTITIES).is_some();
        println!("open: {}", crowd.iter().filter(is_open).count());
        return;
    }
    if what == "lists" {
        let stream = relay(directory, &[1], &[std::io::stdin().as_fd()]);
        let answer = kind(ssh::ask(&stream, REQUEST_IDENTITIES));
        println!("\nanswer: {answer:?}");
        return;
    }
    // Until the service ends the connection.
    let mut stream = UnixStream::connect(directory.join("relay.sock")).unwrap();
    let _ = stream.read(&mut [0]);
    println!("\nclosed");
}

#[test]
fn a_user_has_so_many_connections_and_keeps_nobody_out() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let (service, front) = stand();
    let before = front.size();
    let mut child = as_nobody("crowds", service.path());
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("connected")));
    for _ in 0..20 {
        let stream = ssh::connect(service.path()).unwrap();
        ssh::only_key(&stream);
    }
    drop(child.stdin.take());
    let open = said.find_map(|line| Some(line.unwrap().strip_prefix("open: ")?.to_owned()));
    assert_eq!(open, Some(MOST_OF_USER.to_string()));
    child.wait().unwrap();
    front.has_size_again(before);
}

/// The front's end: a client that is connected is still served, and the next front serves whoever comes then.
#[test]
fn a_front_that_ends_serves_who_is_there() {
    let (service, mut front) = stand();
    let path = service.path();
    let stream = ssh::connect(path).unwrap();
    let public = ssh::only_key(&stream);
    let process = rustix::process::Pid::from_child(&front.0);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert_eq!(
        kind(ssh::ask(&stream, &ssh::sign(&public, b"data"))),
        Some(SIGNATURE)
    );
    assert!(front.0.wait().unwrap().success());
    assert_eq!(kind(ssh::ask(&stream, REQUEST_IDENTITIES)), None);
    assert!(!path.join("agent.sock").exists());

    // One that has nobody to serve ends at once; one that was killed leaves its socket to the next.
    let mut front = Daemon::front(&service);
    front.0.kill().unwrap();
    front.0.wait().unwrap();
    let front = Daemon::front(&service);
    ssh::only_key(&ssh::connect(path).unwrap());
    wait_until(|| front.size().0 < 32);
}
