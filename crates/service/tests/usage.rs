//! Who used which key: counted by user and process, told to those who may know, in bounded memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use common::{Service, ask, connect, packet, packet_of, serves};
use outboard_administration::{
    Connection, Grant, KeyUsage, Reply, Request, Right, Subject, Used, UserUsage,
};
use outboard_wire::{Operation, Status};

/// Every page.
fn usage(directory: &Path) -> Vec<KeyUsage> {
    let mut connection = Connection::open(directory).unwrap();
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        match connection.ask(&Request::Usage { after }).unwrap() {
            Reply::Usage { keys, next, .. } => {
                all.extend(keys);
                after = next;
            }
            reply => panic!("{reply:?}"),
        }
        if after.is_none() {
            return all;
        }
    }
}

fn us() -> u32 {
    rustix::process::getuid().as_raw()
}

#[test]
fn a_use_is_counted_by_key_user_operation_and_process() {
    let service = Service::start();
    let (one, other) = (service.key("one"), service.key("other"));
    serves(&service, &one);
    serves(&service, &one);
    // Not what the key does, and not what it needs its private half for.
    let socket = connect(service.path());
    let wrong = packet_of(&one, Operation::Ecdh { point: &[4; 65] });
    assert_eq!(ask(&socket, &wrong), Some(Status::NotAllowed));
    let describe = packet_of(&other, Operation::Describe);
    assert_eq!(ask(&socket, &describe), Some(Status::Done));
    let keys = usage(service.path());
    assert_eq!(keys.len(), 1, "{keys:?}");
    assert_eq!((&keys[0].name, &keys[0].id), (&one.name, &one.id));
    let row = |operation: &str| -> Used {
        let is_it = |row: &&UserUsage| row.operation.as_deref() == Some(operation);
        let row = keys[0].users.iter().find(is_it).unwrap();
        assert_eq!(row.uid, Some(us()));
        row.used
    };
    assert_eq!((row("sign").count, row("sign").refused), (2, 0));
    assert_eq!((row("derive").count, row("derive").refused), (0, 1));
    assert!(row("sign").last >= one.created);
    let process = &keys[0].processes[0];
    assert_eq!(process.pid, Some(std::process::id()));
    let command = std::fs::read_to_string("/proc/self/comm").unwrap();
    assert_eq!(process.command.as_deref(), Some(command.trim_end()));
    assert_eq!((process.used.count, process.used.refused), (2, 1));
    // A key that is gone leaves nothing.
    service.ask(Request::Delete { name: one.name }).unwrap();
    assert_eq!(usage(service.path()), []);
}

/// More keys than one answer has.
#[test]
fn keys_come_in_pages() {
    let service = Service::start();
    let mut made: Vec<String> = (0..120)
        .map(|number| {
            let key = service.key(&format!("key-{number}"));
            serves(&service, &key);
            key.id
        })
        .collect();
    made.sort();
    let ids: Vec<String> = usage(service.path())
        .into_iter()
        .map(|key| key.id)
        .collect();
    assert_eq!(ids, made);
    let malformed = Request::Usage {
        after: Some("x".into()),
    };
    assert!(service.ask(malformed).is_err());
}

/// Whoever asks, the account of a key stays small.
#[test]
fn many_connections_leave_nothing() {
    let service = Service::start();
    let key = service.key("site");
    serves(&service, &key);
    let before = service.size();
    for _ in 0..5_000 {
        assert_eq!(
            ask(connect(service.path()), &packet(&key)),
            Some(Status::Done)
        );
    }
    let keys = usage(service.path());
    assert_eq!(keys[0].processes.len(), 1, "{keys:?}");
    assert_eq!(keys[0].users[0].used.count, 5_001);
    service.has_size_again(before);
}

/// The user whom nothing belongs to.
const NOBODY: u32 = 65_534;

/// A user with a grant sees the own use; the administrator of a key sees that key; nobody else sees anything.
#[test]
fn another_user_sees_what_is_for_it() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let service = Service::start();
    let key = service.key("site");
    serves(&service, &key);
    let sees = |expected: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "as_another_user", "--nocapture"])
            .env("USAGE_DIRECTORY", service.path())
            .env("USAGE_KEY", serde_json::to_string(&key).unwrap())
            .uid(NOBODY)
            .gid(NOBODY)
            .output();
        // The test's own program may be where that user cannot go.
        let Ok(output) = output else { return };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(expected), "{expected}: {said}");
    };
    let grant = |right: Right, given: bool| {
        let (to, name) = (Subject::User(NOBODY), "site".into());
        let grant = Grant { to, right };
        service.ask(Request::Grant { name, grant, given }).unwrap();
    };
    sees("asked: Denied; sees: none;");
    grant(Right::Use, true);
    sees("asked: Done; sees: own 1, refused 1, others 0;");
    grant(Right::Use, false);
    sees("asked: Denied; sees: none;");
    grant(Right::Administer, true);
    sees("asked: Denied; sees: own 1, refused 3, others 1;");
}

/// The other side of [`another_user_sees_what_is_for_it`].
#[test]
fn as_another_user() {
    let Some(directory) = std::env::var_os("USAGE_DIRECTORY") else {
        return;
    };
    let directory = Path::new(&directory);
    let key = serde_json::from_str(&std::env::var("USAGE_KEY").unwrap()).unwrap();
    let asked = ask(connect(directory), &packet(&key)).unwrap();
    let rows: Vec<UserUsage> = usage(directory)
        .into_iter()
        .flat_map(|key| key.users)
        .collect();
    let of = |own: bool, count: fn(Used) -> u64| -> u64 {
        let rows = rows.iter().filter(|row| (row.uid == Some(NOBODY)) == own);
        rows.map(|row| count(row.used)).sum()
    };
    let sees = match rows.is_empty() {
        true => "none".to_owned(),
        false => format!(
            "own {}, refused {}, others {}",
            of(true, |used| used.count),
            of(true, |used| used.refused),
            of(false, |used| used.count)
        ),
    };
    println!("asked: {asked:?}; sees: {sees};");
}
