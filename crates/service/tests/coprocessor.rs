//! The CCA coprocessor: off by default, for those with a grant, stored in the vault, counted, and no burden to others.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{NOBODY, Service, ask, connect, packet_of, serves};
use outboard_administration::{
    CoprocessorInfo, CoprocessorRequest, Grant, Reply, Request, Right, Subject,
};
use outboard_cca::{self as cca, Answer, Keyword, Rules};
use outboard_client::{Client, Problem, Settings};
use outboard_wire::{Operation, Status};
use zeroize::Zeroizing;

fn administer(service: &Service, what: CoprocessorRequest) -> CoprocessorInfo {
    match service.ask(Request::Coprocessor { what }).unwrap() {
        Reply::Coprocessor(info) => *info,
        reply => panic!("{reply:?}"),
    }
}

fn call(client: &Client, request: impl Into<cca::Request>) -> Result<Answer, Problem> {
    let request = request.into();
    let mut answer = Zeroizing::new(Vec::new());
    let changes = request.description().changes();
    let limit = Duration::from_secs(300);
    client.verb(&request.encode().unwrap(), changes, limit, &mut answer)?;
    Ok(Answer::decode(&answer).unwrap())
}

fn codes(client: &Client, request: impl Into<cca::Request>) -> (u32, u32) {
    let answer = call(client, request).unwrap();
    (answer.return_code, answer.reason_code)
}

fn client(directory: &Path) -> Client {
    Client::new(Settings::of(directory))
}

fn rules(words: &[&str]) -> Rules {
    Rules(words.iter().map(|word| Keyword::new(word)).collect())
}

fn random() -> cca::RandomNumberGenerate {
    cca::RandomNumberGenerate {
        form: Keyword::new("RANDOM"),
    }
}

fn create(label: &str) -> cca::KeyRecordCreate {
    cca::KeyRecordCreate {
        key_label: label.into(),
    }
}

fn read(label: &str) -> cca::KeyRecordRead {
    cca::KeyRecordRead {
        key_label: label.into(),
    }
}

/// A child of this test that is another user: it calls a verb, and ends with 0 if that is answered as expected.
fn as_nobody(directory: &Path, test: &str) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture", "--ignored"])
        .env("OUTBOARD_TEST_DIRECTORY", directory);
    command.uid(NOBODY).gid(NOBODY);
    command.output().unwrap().status.success()
}

fn directory_of_child() -> Option<std::path::PathBuf> {
    std::env::var_os("OUTBOARD_TEST_DIRECTORY").map(Into::into)
}

#[test]
#[ignore = "a child of another test"]
fn child_is_refused() {
    let Some(directory) = directory_of_child() else {
        return;
    };
    let refused = call(&client(&directory), random()).unwrap_err();
    let Problem::Refused { status, sentence } = refused else {
        panic!("{refused}");
    };
    assert_eq!(status, Status::Denied);
    assert!(
        sentence.contains("outboard cca grant --user 65534"),
        "{sentence}"
    );
}

#[test]
#[ignore = "a child of another test"]
fn child_calls_and_does_not_administer() {
    let Some(directory) = directory_of_child() else {
        return;
    };
    let client = client(&directory);
    assert_eq!(codes(&client, random()), (0, 0));
    // Not what others made for themselves, but what an administrator made for all.
    assert_eq!(codes(&client, read("SHARED")), (0, 0));
    assert_eq!(codes(&client, create("OWN")), (0, 0));
    let clear = cca::MasterKeyProcess {
        rule_array: rules(&["CLEAR", "SYM-MK"]),
        ..Default::default()
    };
    assert_eq!(codes(&client, clear), (8, 90));
}

#[test]
#[ignore = "a child of another test"]
fn child_loses_its_grant_on_a_connection_that_it_keeps() {
    let Some(directory) = directory_of_child() else {
        return;
    };
    let client = client(&directory);
    assert_eq!(codes(&client, random()), (0, 0));
    println!("called");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let Err(Problem::Refused { status, .. }) = call(&client, random()) else {
        panic!("it may still call");
    };
    assert_eq!(status, Status::Denied);
}

#[test]
fn it_is_off_until_an_administrator_switches_it_on() {
    let service = Service::start();
    let client = client(service.path());
    let refused = call(&client, random()).unwrap_err().to_string();
    assert!(
        refused.contains("outboard cca enable --directory"),
        "{refused}"
    );
    let info = administer(&service, CoprocessorRequest::Show);
    assert!(!info.made && !info.enabled);
    let info = administer(&service, CoprocessorRequest::Enable);
    assert!(info.made && info.enabled && info.may_administer);
    assert_eq!(codes(&client, random()), (0, 0));
    assert_eq!(codes(&client, create("SHARED")), (0, 0));
    let info = administer(&service, CoprocessorRequest::Disable);
    assert!(info.made && !info.enabled);
    assert!(call(&client, random()).is_err());
    administer(&service, CoprocessorRequest::Enable);
    assert_eq!(codes(&client, read("SHARED")), (0, 0), "the state is there");
    administer(&service, CoprocessorRequest::Destroy);
    assert!(call(&client, random()).is_err());
    administer(&service, CoprocessorRequest::Enable);
    assert_eq!(codes(&client, read("SHARED")), (8, 30), "the state is gone");
    // It is neither a key nor a token.
    assert!(
        service
            .ask(Request::Show {
                name: "coprocessor".into()
            })
            .is_err()
    );
    assert!(
        service
            .ask(Request::Delete {
                name: "coprocessor".into()
            })
            .is_err()
    );
}

#[test]
fn others_call_it_with_a_grant_and_administer_nothing() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let service = Service::start();
    administer(&service, CoprocessorRequest::Enable);
    assert_eq!(codes(&client(service.path()), create("SHARED")), (0, 0));
    assert!(as_nobody(service.path(), "child_is_refused"));
    let grant = |given| {
        let grant = Grant {
            to: Subject::User(NOBODY),
            right: Right::Use,
        };
        administer(&service, CoprocessorRequest::Grant { grant, given })
    };
    assert_eq!(grant(true).grants.len(), 1);
    assert!(as_nobody(
        service.path(),
        "child_calls_and_does_not_administer"
    ));
    assert_eq!(
        codes(&client(service.path()), read("OWN")),
        (8, 30),
        "another's"
    );
    let info = grant(false);
    assert!(info.grants.is_empty());
    assert!(as_nobody(service.path(), "child_is_refused"));
    let usage = info.verbs.iter().find(|verb| verb.verb == "CSNBMKP");
    assert_eq!(usage.map(|verb| (verb.done, verb.refused)), Some((0, 1)));
}

/// Whoever loses a grant has connections that were handed over: they are taken back before the loss is acknowledged.
#[test]
fn a_grant_that_is_taken_back_ends_at_once() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let service = Service::start();
    administer(&service, CoprocessorRequest::Enable);
    let grant = |given| {
        let grant = Grant {
            to: Subject::User(NOBODY),
            right: Right::Use,
        };
        administer(&service, CoprocessorRequest::Grant { grant, given })
    };
    grant(true);
    let mut command = Command::new(std::env::current_exe().unwrap());
    let mut child = command
        .args([
            "--exact",
            "child_loses_its_grant_on_a_connection_that_it_keeps",
        ])
        .args(["--nocapture", "--ignored"])
        .env("OUTBOARD_TEST_DIRECTORY", service.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("called")));
    grant(false);
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    said.for_each(drop);
    assert!(child.wait().unwrap().success());
}

#[test]
fn its_state_survives_kills_while_it_is_written() {
    let mut service = Service::start();
    administer(&service, CoprocessorRequest::Enable);
    let mut acknowledged = Vec::new();
    for round in 0..5 {
        let (sender, receiver) = std::sync::mpsc::channel();
        let directory = service.path().to_owned();
        let killed = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&killed);
        let writer = std::thread::spawn(move || {
            let client = client(&directory);
            for number in 0.. {
                // A kill between two requests cuts nothing off: the next one goes to the service that starts.
                if seen.load(Ordering::Relaxed) {
                    return;
                }
                let label = format!("L{round}.{number}");
                match call(&client, create(&label)) {
                    Ok(answer) if answer.return_code == 0 => sender.send(label).unwrap(),
                    // What the kill cut off is not sent again: nobody knows whether it was done.
                    Err(Problem::Unreachable { .. }) => return,
                    other => panic!("{other:?}"),
                }
            }
        });
        std::thread::sleep(Duration::from_millis(200 + 37 * round));
        service.kill_and(|| killed.store(true, Ordering::Relaxed));
        writer.join().unwrap();
        acknowledged.extend(receiver.iter());
        let client = client(service.path());
        for label in &acknowledged {
            assert_eq!(codes(&client, read(label)), (0, 0), "{label}");
        }
    }
    assert!(acknowledged.len() > 10, "{}", acknowledged.len());
}

#[test]
fn keys_that_take_seconds_keep_nobody_waiting() {
    let service = Service::start();
    let key = service.key("site");
    administer(&service, CoprocessorRequest::Enable);
    let client = client(service.path());
    for step in ["RANDOM", "SET"] {
        for kind in ["APKA-MK", "ASYM-MK"] {
            let step = cca::MasterKeyProcess {
                rule_array: rules(&[kind, step]),
                ..Default::default()
            };
            assert_eq!(codes(&client, step), (0, 0));
        }
    }
    let skeleton = cca::PkaKeyTokenBuild {
        rule_array: rules(&["RSA-CRT", "KEY-MGMT"]),
        // 4,096 bits, no modulus yet, the exponent 65,537.
        key_value_structure: [&[0x10, 0, 0, 0, 0, 3][..], &[0; 12], &[1, 0, 1]]
            .concat()
            .into(),
        ..Default::default()
    };
    let skeleton = match call(&client, skeleton).unwrap() {
        Answer {
            reply: Some(cca::Reply::PkaKeyTokenBuild(reply)),
            ..
        } => reply.key_token,
        other => panic!("{other:?}"),
    };
    let directory = service.path();
    std::thread::scope(|scope| {
        let made: Vec<_> = (0..3)
            .map(|_| {
                let generate = cca::PkaKeyGenerate {
                    rule_array: rules(&["MASTER"]),
                    skeleton_key_identifier: skeleton[..].into(),
                    ..Default::default()
                };
                scope.spawn(move || codes(&self::client(directory), generate))
            })
            .collect();
        let mut longest = Duration::ZERO;
        while !made.iter().all(|thread| thread.is_finished()) {
            let since = Instant::now();
            serves(&service, &key);
            assert_eq!(codes(&client, random()), (0, 0));
            longest = longest.max(since.elapsed());
        }
        assert!(longest < Duration::from_secs(1), "{longest:?}");
        for thread in made {
            assert_eq!(thread.join().unwrap(), (0, 0));
        }
    });
}

#[test]
fn what_is_no_request_is_refused_and_costs_nothing() {
    let service = Service::start();
    administer(&service, CoprocessorRequest::Enable);
    let key = service.key("site");
    let before = service.size();
    let mut state = 0x9e37_79b9_u32;
    for round in 0..5_000_usize {
        let length = round % 300;
        let bytes: Vec<u8> = (0..length)
            .map(|at| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // A verb's number, and short lengths, reach further.
                match at {
                    0 => (state >> 24) as u8 % 90,
                    _ => (state >> 24) as u8 % 70,
                }
            })
            .collect();
        let packet = packet_of(&key, Operation::Verb { request: &bytes });
        let status = ask(connect(service.path()), &packet);
        assert!(
            matches!(
                status,
                Some(Status::Done | Status::Malformed | Status::Busy)
            ),
            "{status:?} {bytes:?}"
        );
    }
    let long = vec![0x2a; outboard_wire::MOST_MESSAGE];
    let packet = packet_of(&key, Operation::Verb { request: &long });
    assert_eq!(
        ask(connect(service.path()), &packet),
        Some(Status::Malformed)
    );
    // The pair of the process of the verbs, which the first request started.
    service.has_size_again((before.0 + 1, before.1));
    serves(&service, &key);
}
