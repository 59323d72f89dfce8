//! Hostile clients: the service neither ends, nor grows, nor keeps others waiting, and tells nobody what is not for them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Kernel, NOBODY, Service, answer, ask, connect, packet, packet_of, serves};
use outboard_administration::{Connection, Grant, Reply, Request, Right, Subject};
use outboard_wire::{Answer, Digest, Encryption, KeyId, MOST, Operation, Reference, Status};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

/// xorshift64 (Marsaglia 2003)
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn find(name: &str) -> Vec<u8> {
    let mut packet = Vec::new();
    outboard_wire::Request {
        id: 7,
        key: KeyId([0; 16]),
        ticket: None,
        operation: Operation::Find { name },
    }
    .encode(&mut packet);
    packet
}

#[test]
fn wrong_packets_are_refused_and_leave_nothing() {
    let service = Service::start();
    let key = service.key("site");
    serves(&service, &key);
    let (before, good) = (service.size(), packet(&key));
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..2_000 {
        let socket = connect(service.path());
        let lengths = [0, 1, 4, 8, 23, 24, 25, 300, MOST, MOST + 1, 100_000];
        let length = lengths[random(&mut state) as usize % lengths.len()];
        let mut wrong: Vec<u8> = (0..length).map(|_| random(&mut state) as u8).collect();
        // Most are right for a while.
        let right = random(&mut state) as usize % (good.len() + 1);
        let right = right.min(wrong.len());
        wrong[..right].copy_from_slice(&good[..right]);
        if wrong.len() > 5 {
            wrong[5] = (random(&mut state) % 10) as u8;
        }
        if rustix::net::send(&socket, &wrong, SendFlags::NOSIGNAL).is_ok()
            && length.is_multiple_of(2)
        {
            let _ = rustix::net::shutdown(&socket, rustix::net::Shutdown::Write);
            let _ = rustix::net::recv(&socket, &mut [0; 1000], RecvFlags::empty());
        }
    }
    serves(&service, &key);
    service.has_size_again(before);
}

fn oaep(digest: Digest, label: &[u8]) -> Encryption<'_> {
    Encryption::Oaep {
        digest,
        mgf1: Digest::Sha1,
        label,
    }
}

/// No ciphertext and no label keeps the service from its answers, and a wrong one is an error alone or an answer as long
/// as any.
#[test]
fn wrong_ciphertexts_reveal_nothing() {
    let service = Service::start();
    let (rsa, ec) = (service.key_of("rsa-2048", "site"), service.key("other"));
    let before = service.size();
    let socket = connect(service.path());
    let answers = |key: &_, encryption: Encryption<'_>, ciphertext: &[u8]| {
        let operation = Operation::Decrypt {
            encryption,
            ciphertext,
        };
        let answered = answer(&socket, &packet_of(key, operation)).unwrap();
        let answered = Answer::decode(&answered).unwrap();
        (answered.status, answered.bytes.to_vec())
    };
    let tls = Encryption::Premaster {
        offered: 0x0303,
        negotiated: None,
    };
    let mut refusals = Vec::new();
    for seed in 1..=50_u8 {
        // Below the modulus, whose first bit is set.
        let ciphertext: Vec<u8> = (0..255).map(|place| seed.wrapping_mul(place | 1)).collect();
        let (status, message) = answers(&rsa, Encryption::Pkcs1, &ciphertext);
        assert_eq!((status, message.len()), (Status::Done, 2 + 256));
        assert!(outboard_wire::message::decode(&message).unwrap().len() <= 256 - 11);
        assert_eq!(answers(&rsa, Encryption::Pkcs1, &ciphertext).1, message);
        let (status, secret) = answers(&rsa, tls, &ciphertext);
        assert_eq!((status, secret.len()), (Status::Done, 48));
        assert_eq!(answers(&rsa, tls, &ciphertext).1, secret);
        refusals.push(answers(&rsa, oaep(Digest::Sha512, b""), &ciphertext));
        refusals.push(answers(
            &rsa,
            oaep(Digest::Sha1, &[seed; 60_000]),
            &ciphertext,
        ));
    }
    assert!(refusals.iter().all(|refusal| refusal.0 == Status::Failed));
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]));
    for (key, ciphertext, status) in [
        (&rsa, &[][..], Status::Malformed),
        (&rsa, &[1; 257], Status::Malformed),
        (&rsa, &[0xff; 256], Status::Malformed),
        (&rsa, &[1; 60_000], Status::Malformed),
        (&ec, &[1; 256], Status::NotAllowed),
    ] {
        for encryption in [Encryption::Pkcs1, tls, oaep(Digest::Sha256, b"")] {
            assert_eq!(answers(key, encryption, ciphertext).0, status);
        }
    }
    serves(&service, &ec);
    drop(socket);
    service.has_size_again(before);
}

/// Whatever stands where a name should: it is no name, or no key has it.
#[test]
fn wrong_names_find_nothing() {
    let service = Service::start();
    let key = service.key("site");
    let socket = connect(service.path());
    let found = answer(&socket, &find("site")).unwrap();
    let found = Answer::decode(&found).unwrap();
    assert_eq!(found.status, Status::Done);
    let reference = Reference::from_der(found.bytes).unwrap();
    assert_eq!(
        (reference.id.to_string(), reference.name),
        (key.id.clone(), key.name.clone())
    );
    let before = service.size();
    for (name, status) in [
        ("other", Status::NoKey),
        ("site.", Status::NoKey),
        ("", Status::Malformed),
        ("SITE", Status::Malformed),
        ("site\0", Status::Malformed),
        ("' OR 1=1 --", Status::Malformed),
        ("../site", Status::Malformed),
        (&"a".repeat(64), Status::NoKey),
        (&"a".repeat(65), Status::Malformed),
        (&"a".repeat(60_000), Status::Malformed),
    ] {
        assert_eq!(ask(&socket, &find(name)), Some(status), "{name:.80?}");
    }
    let mut binary = find("site");
    binary.push(0xff);
    assert_eq!(ask(&socket, &binary), Some(Status::Malformed));
    serves(&service, &key);
    service.has_size_again(before);
}

#[test]
fn descriptors_in_a_packet_are_closed() {
    for kernel in [Kernel::This, Kernel::Before6_16] {
        descriptors_are_closed(&Service::start_on(kernel));
    }
}

fn descriptors_are_closed(service: &Service) {
    let key = service.key("site");
    serves(service, &key);
    let (before, good) = (service.size(), packet(&key));
    let sockets: Vec<OwnedFd> = (0..100)
        .map(|_| {
            let socket = connect(service.path());
            let stdin = std::io::stdin();
            let descriptors: [BorrowedFd<'_>; 2] = [stdin.as_fd(), socket.as_fd()];
            let mut room = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
            let mut attached = SendAncillaryBuffer::new(&mut room);
            assert!(attached.push(SendAncillaryMessage::ScmRights(&descriptors)));
            let content = [std::io::IoSlice::new(&good)];
            let flags = SendFlags::NOSIGNAL;
            match rustix::net::sendmsg(&socket, &content, &mut attached, flags) {
                // The service reads no such packet: it ends the connection.
                Ok(_) => {
                    let end = rustix::net::recv(&socket, &mut [0; 1000], RecvFlags::empty());
                    assert!(matches!(end, Ok((0, _)) | Err(Errno::CONNRESET)), "{end:?}");
                }
                Err(error) => assert_eq!(error, Errno::PERM),
            }
            socket
        })
        .collect();
    let with = service.size().0;
    assert!(with <= before.0 + sockets.len() + 2, "{with} descriptors");
    drop(sockets);
    service.has_size_again(before);
}

/// A client that floods and reads nothing loses its connection, at most; others are answered meanwhile.
#[test]
fn a_flood_keeps_nobody_out() {
    let service = Service::start();
    let key = service.key("site");
    serves(&service, &key);
    let (before, good) = (service.size(), packet(&key));
    let floods: Vec<OwnedFd> = (0..100)
        .map(|_| {
            let socket = connect(service.path());
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            while rustix::net::send(&socket, &good, flags).is_ok() {}
            socket
        })
        .collect();
    for _ in 0..50 {
        serves(&service, &key);
    }
    drop(floods);
    serves(&service, &key);
    service.has_size_again(before);
}

#[test]
fn what_is_no_json_is_answered_or_ends_the_connection() {
    let service = Service::start();
    let key = service.key("site");
    let before = service.size();
    let deep = format!("{{\"ask\":\"show\",\"name\":{}\n", "[".repeat(50_000));
    for line in [
        "\n",
        "{}\n",
        "null\n",
        "{\"ask\":\"conquer\"}\n",
        "\0\u{7f}\n",
        &deep,
    ] {
        let mut stream = UnixStream::connect(service.path().join("admin.sock")).unwrap();
        stream.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).unwrap();
        assert!(answer.contains("refused"), "{line:.20}: {answer}");
    }
    // A line without an end.
    let mut stream = UnixStream::connect(service.path().join("admin.sock")).unwrap();
    let endless = vec![b' '; 3 << 20];
    let _ = stream.write_all(&endless);
    let mut answer = String::new();
    let _ = BufReader::new(&stream).read_line(&mut answer);
    assert_eq!(answer, "");
    drop(stream);
    serves(&service, &key);
    service.has_size_again(before);
}

/// What another user learns and may do: nothing, until there is a grant; and no longer than that.
#[test]
fn another_user_has_what_is_granted() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let service = Service::start();
    let key = service.key("site");
    let answers = |expected: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "as_another_user",
                "--nocapture",
                "--test-threads=1",
            ])
            .env("HOSTILE_DIRECTORY", service.path())
            .env("HOSTILE_KEY", &key.id)
            .uid(NOBODY)
            .gid(NOBODY)
            .output();
        // The test's own program may be where that user cannot go.
        let Ok(output) = output else { return };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(expected), "{said}");
    };
    let grant = |to: Subject, right: Right, given: bool| {
        let grant = Grant { to, right };
        let name = "site".into();
        service.ask(Request::Grant { name, grant, given }).unwrap();
    };
    answers(
        "use: Denied; find: NoKey NoKey; others: Denied Denied Denied Denied Denied; show: NoKey; list: 0",
    );
    grant(Subject::Group(NOBODY), Right::Use, true);
    answers(
        "use: Done; find: Done NoKey; others: Denied Denied Denied Denied Denied; show: yes; list: 1",
    );
    grant(Subject::Group(NOBODY), Right::Use, false);
    grant(Subject::User(NOBODY), Right::Administer, true);
    answers(
        "use: Denied; find: Done NoKey; others: Denied Denied Denied Denied Denied; show: yes; list: 1",
    );
}

/// Commands that say nothing, as many as another user may have and more, do not keep root out.
#[test]
fn another_user_s_silence_keeps_nobody_out() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let service = Service::start();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "as_a_silent_user",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("HOSTILE_SILENCE", service.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .uid(NOBODY)
        .gid(NOBODY)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("silent")));
    for _ in 0..20 {
        assert!(matches!(service.ask(Request::Status), Ok(Reply::Status(_))));
    }
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// The other side of [`another_user_s_silence_keeps_nobody_out`].
#[test]
fn as_a_silent_user() {
    let Some(directory) = std::env::var_os("HOSTILE_SILENCE") else {
        return;
    };
    let socket = Path::new(&directory).join("admin.sock");
    let silent: Vec<_> = (0..100).map(|_| UnixStream::connect(&socket)).collect();
    println!("\nsilent");
    let _ = std::io::stdin().read_line(&mut String::new());
    drop(silent);
}

/// The other side of [`another_user_has_what_is_granted`].
#[test]
fn as_another_user() {
    let Some(directory) = std::env::var_os("HOSTILE_DIRECTORY") else {
        return;
    };
    let directory = Path::new(&directory);
    let key: KeyId = std::env::var("HOSTILE_KEY").unwrap().parse().unwrap();
    let mut packet = Vec::new();
    let operation = Operation::Ed25519 { message: b"hello" };
    outboard_wire::Request {
        id: 7,
        key,
        ticket: None,
        operation,
    }
    .encode(&mut packet);
    let status = ask(connect(directory), &packet).unwrap();
    // A key that is there, and one that is not: without a right to it, the answers differ in the name alone.
    let named = ["site", "none"].map(|name| {
        let found = answer(connect(directory), &find(name)).unwrap();
        let found = Answer::decode(&found).unwrap();
        let sentence = String::from_utf8_lossy(found.bytes).replace(name, "NAME");
        (found.status, sentence)
    });
    assert!(
        named[0].0 == Status::Done || named[0] == named[1],
        "{named:?}"
    );
    let found = named.map(|(status, _)| format!("{status:?}")).join(" ");
    let mut service = Connection::open(directory).unwrap();
    let mut refusal = |request: &Request| match service.ask(request) {
        Err(outboard_administration::Error::Refused(refusal)) => format!("{:?}", refusal.code),
        Ok(Reply::Keys { keys, .. }) => keys.len().to_string(),
        Ok(_) => "yes".into(),
        Err(error) => panic!("{error}"),
    };
    let generate = Request::Generate {
        name: "mine".into(),
        kind: "p256".into(),
        exportable: true,
    };
    let roll = Request::Roll {
        step: "cancel".into(),
    };
    let backup = Request::Backup {
        file: "copy".into(),
    };
    let (number, online) = (0, false);
    let card = Request::SetCard { number, online };
    let others = [generate, roll, backup, card, Request::Audit { from: 0 }];
    let others = others.each_ref().map(&mut refusal).join(" ");
    let show = refusal(&Request::Show {
        name: "site".into(),
    });
    let list = refusal(&Request::List { after: None });
    match service.ask(&Request::Status).unwrap() {
        // Complaints name users and keys.
        Reply::Status(status) => assert_eq!(status.complaint, None),
        reply => panic!("{reply:?}"),
    }
    println!("use: {status:?}; find: {found}; others: {others}; show: {show}; list: {list}");
}

/// Whoever can write into the directory of the sockets could put others there, and move the store away.
#[test]
fn a_directory_that_others_can_write_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let ends = |problem: &str| {
        for words in [&["--directory"][..], &["--agent", "--directory"]] {
            let output = Command::new(env!("CARGO_BIN_EXE_outboardd"))
                .args(words)
                .arg(path)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && said.contains(problem), "{said}");
        }
    };
    for mode in [0o777, 0o1777, 0o775] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(path, mode).unwrap();
        ends(&format!(
            "others can write there (run 'chmod go-w {}')",
            path.display()
        ));
    }
    if rustix::process::getuid().is_root() {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
        std::os::unix::fs::chown(path, Some(NOBODY), None).unwrap();
        ends("it belongs to uid 65534");
    }
    assert_eq!(std::fs::read_dir(path).unwrap().count(), 0);
}

/// Anybody can take the abstract address of a service that does not run. It starts without it.
#[test]
fn whoever_takes_the_abstract_address_keeps_the_service_from_nobody_else() {
    let mut service = Service::start();
    let key = service.key("site");
    let name = outboard_wire::abstract_name(service.path()).unwrap();
    let address = rustix::net::SocketAddrUnix::new_abstract_name(&name).unwrap();
    let squatter = rustix::net::socket(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        None,
    )
    .unwrap();
    assert_eq!(
        rustix::net::bind(&squatter, &address),
        Err(Errno::ADDRINUSE)
    );
    service.kill_and(|| rustix::net::bind(&squatter, &address).unwrap());
    serves(&service, &key);
    let complaints = service.complaints().join("\n");
    assert!(complaints.contains("abstract address"), "{complaints}");
}
