//! The service's log: clients repeat a mistake as often as they like, and the log stays short.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::process::Command;
use std::time::Instant;

use common::{Daemon, Service, ask, connect, packet, packet_of, ssh};
use outboard_administration::{Reply, Request, Right, Subject};
use outboard_wire::{Operation, Status};

#[test]
fn each_complaint_has_one_line_a_minute() {
    const TIMES: usize = 300;
    let service = Service::start();
    let mut key = service.key("site");
    let grant = Request::Grant {
        name: "site".into(),
        grant: outboard_administration::Grant {
            to: Subject::User(rustix::process::getuid().as_raw()),
            right: Right::Use,
        },
        given: false,
    };
    service.ask(grant).unwrap();
    let before = service.complaints().len();
    let since = Instant::now();
    let socket = connect(service.path());
    let denied = packet(&key);
    let mut malformed = denied.clone();
    malformed[5] = 99;
    for number in 0..TIMES {
        assert_eq!(ask(&socket, &denied), Some(Status::Denied));
        assert_eq!(ask(&socket, &malformed), Some(Status::Malformed));
        // A client chooses the key that it asks for.
        key.id = format!("{number:032x}");
        let unknown = packet_of(&key, Operation::Describe);
        assert_eq!(ask(&socket, &unknown), Some(Status::NoKey));
    }
    let _front = Daemon::front(&service);
    let agent = ssh::connect(service.path()).unwrap();
    for message in [&ssh::sign(b"no key", b"data")[..], &[19]] {
        for _ in 0..TIMES {
            assert_eq!(ssh::ask(&agent, message), Some(vec![ssh::FAILURE]));
        }
    }
    let lines = service.complaints().split_off(before);
    let minutes = since.elapsed().as_secs() as usize / 60;
    for complaint in [
        "key 'site': permission denied for uid",
        "the message has the unknown code",
        "there is no key",
        "an ssh client's request is refused: there is no such key that the user may use",
        "an ssh client's request is refused: the service does not know that message",
    ] {
        let of_it = lines.iter().filter(|line| line.contains(complaint)).count();
        assert!(
            (1..=1 + minutes).contains(&of_it),
            "{complaint}: {of_it} lines of {lines:#?}"
        );
    }
    assert!(lines.len() <= 5 * (1 + minutes), "{lines:#?}");
    let Reply::Status(status) = service.ask(Request::Status).unwrap() else {
        panic!("no status");
    };
    assert_eq!(status.served.refused, 5 * TIMES as u64);
    let last = status.complaint.unwrap().sentence;
    assert!(lines.last().unwrap().ends_with(&last), "{last}");
}

/// systemd starts a service that has ended again at once: the reason would fill the journal.
#[test]
fn a_start_that_fails_is_not_repeated_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let since = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_outboardd"))
        .arg("--directory")
        .arg(directory.path())
        .args(["--store", "/dev/null/store"])
        .env("NOTIFY_SOCKET", directory.path().join("notify"))
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("/dev/null/store"));
    assert!(since.elapsed().as_secs() >= 4, "{:?}", since.elapsed());
}
