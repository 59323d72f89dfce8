//! The process of the verbs: what ends it ends nothing else, and nobody but the caller whose verb it was notices.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use common::{Service, connect, packet, packet_of, serves, wait_until};
use outboard_administration::{CoprocessorInfo, CoprocessorRequest, Reply, Request};
use outboard_cca::{self as cca, Answer, Keyword, Rules};
use outboard_client::{Client, Settings};
use outboard_wire::{Operation, Status};
use rustix::net::{RecvFlags, SendFlags};
use zeroize::Zeroizing;

fn administer(service: &Service, what: CoprocessorRequest) -> CoprocessorInfo {
    match service.ask(Request::Coprocessor { what }).unwrap() {
        Reply::Coprocessor(info) => *info,
        reply => panic!("{reply:?}"),
    }
}

fn call(client: &Client, request: impl Into<cca::Request>) -> Answer {
    let request = request.into();
    let mut answer = Zeroizing::new(Vec::new());
    let (bytes, changes) = (request.encode().unwrap(), request.description().changes());
    let called = client.verb(&bytes, changes, Duration::from_secs(60), &mut answer);
    called.unwrap_or_else(|problem| panic!("{}: {problem}", request.name()));
    Answer::decode(&answer).unwrap()
}

fn codes(client: &Client, request: impl Into<cca::Request>) -> (u32, u32) {
    let answer = call(client, request);
    (answer.return_code, answer.reason_code)
}

fn client(directory: &Path) -> Client {
    Client::new(Settings::of(directory))
}

fn rules(words: &[&str]) -> Rules {
    Rules(words.iter().map(|word| Keyword::new(word)).collect())
}

fn random(form: &str) -> cca::RandomNumberGenerate {
    cca::RandomNumberGenerate {
        form: Keyword::new(form),
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

/// The verification patterns of all master keys.
fn patterns(client: &Client) -> Vec<u8> {
    let query = cca::CryptoFacilityQuery {
        rule_array: rules(&["STATMKVP"]),
        ..Default::default()
    };
    match call(client, query).reply {
        Some(cca::Reply::CryptoFacilityQuery(reply)) => reply.verb_data.to_vec(),
        reply => panic!("{reply:?}"),
    }
}

/// A service whose coprocessor is on, with a master key and a label.
fn service() -> (Service, Client) {
    let service = Service::start();
    administer(&service, CoprocessorRequest::Enable);
    let client = client(service.path());
    for step in ["RANDOM", "SET"] {
        let step = cca::MasterKeyProcess {
            rule_array: rules(&["SYM-MK", step]),
            ..Default::default()
        };
        assert_eq!(codes(&client, step), (0, 0));
    }
    assert_eq!(codes(&client, create("KEPT")), (0, 0));
    (service, client)
}

/// Does that while others use a key of the service and call verbs, and learn of nothing.
fn meanwhile(service: &Service, what: impl FnOnce()) {
    let key = service.key("site");
    let ends = AtomicBool::new(false);
    let (ends, key) = (&ends, &key);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let client = client(service.path());
                let mut calls = 0;
                while !ends.load(Relaxed) {
                    assert_eq!(codes(&client, random("RANDOM")), (0, 0));
                    calls += 1;
                }
                assert!(calls > 0);
            });
        }
        scope.spawn(move || {
            while !ends.load(Relaxed) {
                serves(service, key);
            }
        });
        // What fails ends the others, too.
        let _end = OnDrop(ends);
        what();
    });
}

struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn a_verb_that_ends_its_process_ends_nothing_else() {
    if !cfg!(debug_assertions) {
        // The service has no such verbs.
        return;
    }
    let (service, caller) = service();
    let before = patterns(&caller);
    meanwhile(&service, || {
        for form in ["CRASH-PA", "CRASH-AB", "CRASH-SE", "CRASH-ST"] {
            let process = service.verbs().unwrap();
            assert_eq!(codes(&caller, random(form)), (16, 336), "{form}");
            wait_until(|| service.verbs().is_some_and(|now| now != process));
            assert_eq!(patterns(&caller), before, "{form}");
            assert_eq!(codes(&caller, read("KEPT")), (0, 0), "{form}");
        }
    });
    let complaints = service.complaints().join("\n");
    assert!(
        complaints.contains("CSNBRNG ended the coprocessor's process"),
        "{complaints}"
    );
}

/// The same for a verb that computes without end. Here it may do so for a second.
#[test]
fn a_verb_that_loops_is_ended() {
    if !cfg!(debug_assertions) {
        return;
    }
    let (service, caller) = service();
    let before = patterns(&caller);
    meanwhile(&service, || {
        let process = service.verbs().unwrap();
        assert_eq!(codes(&caller, random("CRASH-LO")), (16, 336));
        wait_until(|| service.verbs().is_some_and(|now| now != process));
        assert_eq!(patterns(&caller), before);
    });
    let log = std::fs::read_to_string(service.path().join("log")).unwrap();
    for said in [
        "CSNBRNG has used more than 1 s of processor time",
        "CSNBRNG ended the coprocessor's process",
        "uid",
    ] {
        assert!(log.contains(said), "no '{said}': {log}");
    }
}

/// Callers that send requests ahead take turns with those that send one at a time.
#[test]
fn who_sends_ahead_keeps_nobody_waiting() {
    const CALLS: usize = 50;
    const AHEAD: usize = 16;
    let (service, client) = service();
    let key = service.key("site");
    let hash = cca::OneWayHash {
        rule_array: rules(&["SHA-256"]),
        text: vec![7; 30_000].into(),
        hash_length: 32,
        ..Default::default()
    };
    let request = cca::Request::from(hash).encode().unwrap();
    let packet = packet_of(&key, Operation::Verb { request: &request });
    let (ends, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AHEAD {
            scope.spawn(|| {
                let socket = connect(service.path());
                while !ends.load(Relaxed) {
                    // As much as the socket takes, and then an answer.
                    let now = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                    while rustix::net::send(&socket, &packet, now).is_ok() {}
                    let mut room = [0; 200];
                    rustix::net::recv(&socket, &mut room, RecvFlags::empty()).unwrap();
                    answers.fetch_add(1, Relaxed);
                }
            });
        }
        wait_until(|| answers.load(Relaxed) > 10 * AHEAD);
        let before = answers.load(Relaxed);
        for _ in 0..CALLS {
            assert_eq!(codes(&client, random("RANDOM")), (0, 0));
        }
        let meanwhile = (answers.load(Relaxed) - before) / AHEAD;
        ends.store(true, Relaxed);
        // In turns, each of them has about one answer meanwhile.
        assert!(meanwhile < 20 * CALLS, "{meanwhile} answers for {CALLS}");
    });
}

#[test]
fn a_process_that_is_killed_costs_nobody_an_answer() {
    let (service, caller) = service();
    let before = patterns(&caller);
    meanwhile(&service, || {
        for round in 0..5 {
            let process = service.verbs().unwrap();
            std::thread::sleep(Duration::from_millis(20 * round));
            kill(process);
            wait_until(|| service.verbs().is_some_and(|now| now != process));
            assert_eq!(codes(&caller, create(&format!("L{round}"))), (0, 0));
            assert_eq!(patterns(&caller), before);
        }
    });
    for round in 0..5 {
        assert_eq!(codes(&caller, read(&format!("L{round}"))), (0, 0));
    }
}

/// A request that was under way is carried out by the next process; after a second such end it is not tried again.
#[test]
fn a_request_of_a_killed_process_is_done_by_the_next_one() {
    if !cfg!(debug_assertions) {
        return;
    }
    let (service, _) = service();
    // The verb waits, and then does not know this form.
    for (kills, expected) in [(1, (8, 33)), (2, (16, 336))] {
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| codes(&client(service.path()), random("CRASH-WA")));
            for _ in 0..kills {
                wait_until(|| service.verbs().is_some_and(is_at_a_verb));
                kill(service.verbs().unwrap());
                wait_until(|| !service.verbs().is_some_and(is_at_a_verb));
            }
            assert_eq!(slow.join().unwrap(), expected);
        });
    }
}

/// A verb that has changed something is under way while an administrator switches the coprocessor off. Its caller learns that nobody knows how
/// far it came, and not that it was not begun.
#[test]
fn a_change_under_way_is_not_refused_where_it_is_switched_off() {
    if !cfg!(debug_assertions) {
        return;
    }
    let (service, caller) = service();
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| codes(&client(service.path()), create("CRASH-WA")));
        wait_until(|| service.verbs().is_some_and(is_at_a_verb));
        administer(&service, CoprocessorRequest::Disable);
        assert_eq!(slow.join().unwrap(), (16, 336));
    });
    administer(&service, CoprocessorRequest::Enable);
    assert_eq!(codes(&caller, read("KEPT")), (0, 0));
}

/// Whether one of its threads sleeps: a verb of this test does.
fn is_at_a_verb(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let mut states = threads.filter_map(|thread| {
        let call = std::fs::read_to_string(thread.path().join("wchan"));
        call.ok()
    });
    states.any(|call| call.contains("nanosleep"))
}

fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(process as i32).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn the_process_ends_with_the_service_and_is_gone_where_it_is_off() {
    let (mut service, client) = service();
    assert!(service.verbs().is_some());
    administer(&service, CoprocessorRequest::Disable);
    assert_eq!(service.verbs(), None);
    administer(&service, CoprocessorRequest::Enable);
    assert_eq!(codes(&client, read("KEPT")), (0, 0));
    let process = service.verbs().unwrap();
    service.kill_and(|| wait_until(|| !Path::new(&format!("/proc/{process}")).exists()));
}

/// What the process has: the log, its two ends, and what it waits with. A connection is one more.
#[test]
fn the_process_has_no_file_and_no_privilege() {
    let (service, _client) = service();
    let process = format!("/proc/{}", service.verbs().unwrap());
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let files = std::fs::read_dir(format!("{process}/fd")).unwrap();
    let mut files: Vec<_> = files
        .map(|file| std::fs::read_link(file.unwrap().path()).unwrap())
        .map(|file| file.display().to_string())
        .collect();
    files.retain(|file| !file.starts_with("socket:"));
    files.sort();
    let log = service.path().join("log").display().to_string();
    let expected = [
        log.as_str(),
        "anon_inode:[eventfd]",
        "anon_inode:[eventpoll]",
    ];
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(files, expected);
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "Name:\toutboard-verbs"] {
        assert!(status.lines().any(|is| is == line), "{line}: {status}");
    }
    assert_eq!(std::fs::read(format!("{process}/environ")).unwrap(), b"");
    let limits = std::fs::read_to_string(format!("{process}/limits")).unwrap();
    let core = limits.lines().find(|line| line.contains("core file"));
    assert!(core.unwrap().contains(" 0 "), "{limits}");
}

/// A connection may ask for keys and for verbs in turn, even before it has its answers.
#[test]
fn one_connection_may_ask_for_keys_and_verbs() {
    let (service, _) = service();
    let key = service.key("site");
    let verb = cca::Request::from(random("RANDOM")).encode().unwrap();
    let verb = packet_of(&key, Operation::Verb { request: &verb });
    let asks = [&packet(&key), &verb, &verb, &packet(&key), &verb];
    let socket = connect(service.path());
    let mut room = vec![0; 4096];
    let mut answer = || {
        let (length, _) = rustix::net::recv(&socket, &mut room, RecvFlags::empty()).unwrap();
        outboard_wire::Answer::decode(&room[..length])
            .unwrap()
            .status
    };
    let ask = |packet: &[u8]| {
        rustix::net::send(&socket, packet, SendFlags::NOSIGNAL).unwrap();
    };
    for packet in asks {
        // A verb after a key is asked for again: the client does so.
        loop {
            ask(packet);
            match answer() {
                Status::Busy => {}
                status => break assert_eq!(status, Status::Done),
            }
        }
    }
    // A new connection's packets, all at once: each is answered, in its turn.
    let socket = connect(service.path());
    for packet in [&verb, &verb, &verb] {
        rustix::net::send(&socket, packet, SendFlags::NOSIGNAL).unwrap();
    }
    rustix::net::send(&socket, &packet(&key), SendFlags::NOSIGNAL).unwrap();
    for _ in 0..4 {
        let (length, _) = rustix::net::recv(&socket, &mut room, RecvFlags::empty()).unwrap();
        let answer = outboard_wire::Answer::decode(&room[..length]).unwrap();
        assert_eq!(answer.status, Status::Done);
    }
}
