//! A client against a small service that answers, misbehaves, dies and comes back.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use common::*;
use outboard_client::stand_in::{Reply, Service};
use outboard_client::{Client, Problem, Settings};
use outboard_wire::{KeyId, Malformed, Operation, Reference, Status};

#[test]
fn requests_are_answered_on_one_connection() {
    let _alone = alone();
    let place = place();
    let service = Service::start(place.path(), echo).unwrap();
    let client = client(place.path(), LONG);
    assert_eq!(service.accepted(), 0);
    for value in 0..100_u8 {
        assert_eq!(ask(&client, &[value]).unwrap(), [value]);
    }
    assert_eq!(service.accepted(), 1);
}

#[test]
fn refusals_name_the_key_and_are_not_repeated() {
    let _alone = alone();
    let place = place();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let sentence = "permission denied for user www-data (uid 33) (run 'outboard keys grant site --user www-data')";
    let _service = Service::start(place.path(), move |_, _| {
        count.fetch_add(1, SeqCst);
        Reply::Say(Status::Denied, sentence.into())
    });
    let error = ask(&client(place.path(), LONG), b"x").unwrap_err();
    assert_eq!(error.to_string(), format!("key 'site': {sentence}"));
    assert_eq!(asked.load(SeqCst), 1);
}

#[test]
fn a_key_is_found_by_its_name() {
    let _alone = alone();
    let place = place();
    let reference = Reference {
        id: KeyId([7; 16]),
        name: "site".into(),
        public: vec![0x30, 0x00],
    };
    let der = reference.to_der().unwrap();
    let _service = Service::start(place.path(), move |_, request| match request.operation {
        Operation::Find { name: "site" } => Reply::Say(Status::Done, der.clone()),
        Operation::Find { name: "other" } => Reply::Say(Status::Done, b"no reference".to_vec()),
        Operation::Find { name: "old" } => Reply::Say(Status::Malformed, Vec::new()),
        _ => Reply::Say(Status::NoKey, Vec::new()),
    });
    let client = client(place.path(), LONG);
    assert_eq!(client.find("site").unwrap(), reference);
    for (name, reason) in [
        (
            "other",
            "the card service's answer is no reference to a key",
        ),
        ("none", "the card service has no such key"),
        (
            "old",
            "the card service is older than this program's Outboard",
        ),
    ] {
        let error = client.find(name).unwrap_err().to_string();
        let expected = format!("key '{name}': {reason} (run '");
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn what_passes_is_waited_for() {
    let _alone = alone();
    let place = place();
    let left = AtomicUsize::new(5);
    let _service = Service::start(place.path(), move |user, request| {
        match left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
            Ok(2) => Reply::Say(Status::Busy, Vec::new()),
            Ok(_) => Reply::Say(Status::Unavailable, Vec::new()),
            Err(_) => echo(user, request),
        }
    });
    assert_eq!(ask(&client(place.path(), LONG), b"x").unwrap(), b"x");
}

#[test]
fn what_does_not_pass_ends_with_its_reason() {
    let _alone = alone();
    let place = place();
    let _service = Service::start(place.path(), |_, _| {
        Reply::Say(Status::Unavailable, b"no master key".to_vec())
    });
    let error = ask(&client(place.path(), SHORT), b"x").unwrap_err();
    assert_eq!(error.to_string(), "key 'site': no master key");
}

#[test]
fn a_late_answer_is_dropped() {
    let _alone = alone();
    let place = place();
    let _service = Service::start(place.path(), |_, request| match request.operation {
        Operation::Ecdsa { value, .. } => Reply::SayLate(Status::Done, value.to_vec()),
        _ => Reply::Close,
    });
    let client = client(place.path(), LONG);
    for value in 0..10_u8 {
        assert_eq!(ask(&client, &[value]).unwrap(), [value]);
    }
}

#[test]
fn what_is_no_answer_is_an_error_and_ends_the_connection() {
    let _alone = alone();
    let place = place();
    let replies = [
        (vec![1, 2, 3], Malformed::Short),
        (vec![0; 9], Malformed::Version(0)),
        (vec![0, 0, 0, 0, 1, 99, 0, 0], Malformed::Code(99)),
        (vec![0; 5000], Malformed::Long),
    ];
    let turn = AtomicUsize::new(0);
    let bytes = replies.clone();
    let service = Service::start(place.path(), move |_, _| {
        Reply::Bytes(bytes[turn.fetch_add(1, SeqCst)].0.clone())
    })
    .unwrap();
    let client = client(place.path(), LONG);
    for (turn, (_, expected)) in replies.iter().enumerate() {
        let error = ask(&client, b"x").unwrap_err();
        let Problem::Misunderstood(found) = error.problem else {
            panic!("{error}");
        };
        assert_eq!(found, *expected);
        assert_eq!(service.accepted(), turn + 1);
    }
}

#[test]
fn a_service_that_says_nothing_is_dead_after_the_limit() {
    let _alone = alone();
    let place = place();
    let service = Service::start(place.path(), |_, _| Reply::Nothing).unwrap();
    let client = client(place.path(), SHORT);
    let begun = Instant::now();
    let error = ask(&client, b"x").unwrap_err();
    assert!(matches!(error.problem, Problem::Silent { .. }), "{error}");
    assert!(begun.elapsed() >= SHORT && begun.elapsed() < 10 * SHORT);
    // A late answer finds nobody.
    assert!(ask(&client, b"y").is_err());
    assert_eq!(service.accepted(), 2);
}

#[test]
fn a_service_that_dies_and_comes_back_loses_no_request() {
    let _alone = alone();
    let place = place();
    let client = Arc::new(client(place.path(), LONG));
    let directory = place.path().to_owned();
    let restarts = thread::spawn(move || {
        for _ in 0..20 {
            let service = Service::start(&directory, |user, request| {
                // One in five dies with its connection.
                static ASKED: AtomicUsize = AtomicUsize::new(0);
                match ASKED.fetch_add(1, SeqCst) % 5 {
                    4 => Reply::Close,
                    _ => echo(user, request),
                }
            });
            let service = service.unwrap();
            thread::sleep(Duration::from_millis(20));
            service.disconnect();
            thread::sleep(Duration::from_millis(5));
            drop(service);
            thread::sleep(Duration::from_millis(10));
        }
        Service::start(&directory, echo).unwrap()
    });
    let threads: Vec<_> = (0..4_u8)
        .map(|thread| {
            let client = Arc::clone(&client);
            thread::spawn(move || {
                for turn in 0..200_u8 {
                    assert_eq!(ask(&client, &[thread, turn]).unwrap(), [thread, turn]);
                    thread::sleep(Duration::from_millis(2));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    drop(restarts.join().unwrap());
}

#[test]
fn no_service_is_told_with_its_socket() {
    let _alone = alone();
    let place = place();
    let error = ask(&client(place.path(), SHORT), b"x").unwrap_err();
    let socket = place.path().join("service.sock");
    let expected = format!(
        "key 'site': the card service does not answer at {}: no such file or directory (run 'outboard service start --directory {}')",
        socket.display(),
        place.path().display()
    );
    assert_eq!(error.to_string(), expected);
    drop(Service::start(place.path(), echo).unwrap());
    fs::write(&socket, "").unwrap();
    let error = ask(&client(place.path(), SHORT), b"x").unwrap_err();
    assert!(error.to_string().contains("connection refused"), "{error}");
}

#[test]
fn a_gone_path_leads_to_the_abstract_name() {
    let _alone = alone();
    let place = place();
    let service = Service::start(place.path(), echo).unwrap();
    let client = client(place.path(), LONG);
    fs::remove_file(place.path().join("service.sock")).unwrap();
    assert_eq!(ask(&client, b"x").unwrap(), b"x");
    assert_eq!(service.accepted(), 1);
}

#[test]
fn another_user_at_the_abstract_name_is_not_asked() {
    let _alone = alone();
    // SAFETY: has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let place = place();
    let client = client(place.path(), SHORT);
    // A listener that is neither root nor the directory's owner: a child listens, as nobody.
    let name = outboard_wire::abstract_name(place.path()).unwrap();
    let ready = pipe();
    let child = fork(|| {
        // SAFETY: changes this child alone.
        assert_eq!(unsafe { libc::setuid(65534) }, 0);
        listen_at(&name);
        // SAFETY: a descriptor that lives.
        unsafe { libc::write(ready.1.as_raw_fd(), b"x".as_ptr().cast(), 1) };
        thread::sleep(Duration::from_secs(60));
    });
    let mut byte = 0_u8;
    // SAFETY: room for a byte.
    unsafe { libc::read(ready.0.as_raw_fd(), (&raw mut byte).cast(), 1) };
    let error = ask(&client, b"x").unwrap_err();
    // SAFETY: a child of ours.
    unsafe { libc::kill(child, libc::SIGKILL) };
    wait(child);
    assert!(
        matches!(error.problem, Problem::Impostor { found: 65534, .. }),
        "{error}"
    );
}

fn listen_at(name: &[u8]) {
    // SAFETY: an address of ours, and its length.
    unsafe {
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0);
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as u16;
        for (place, &byte) in address.sun_path[1..].iter_mut().zip(name) {
            *place = byte as libc::c_char;
        }
        let length = 2 + 1 + name.len() as u32;
        assert_eq!(libc::bind(socket, (&raw const address).cast(), length), 0);
        assert_eq!(libc::listen(socket, 8), 0);
    }
}

#[test]
fn sixty_four_threads_share_few_connections() {
    let _alone = alone();
    let place = place();
    let service = Service::start(place.path(), echo).unwrap();
    let client = Arc::new(Client::new(Settings {
        limit: Duration::from_secs(60),
        connections: 8,
        ..Settings::of(place.path())
    }));
    let threads: Vec<_> = (0..64_u8)
        .map(|thread| {
            let client = Arc::clone(&client);
            thread::spawn(move || {
                for turn in 0..100_u8 {
                    assert_eq!(ask(&client, &[thread, turn]).unwrap(), [thread, turn]);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(service.accepted() <= 8, "{}", service.accepted());
    thread::sleep(Duration::from_millis(1200));
    assert_eq!(ask(&client, b"x").unwrap(), b"x");
    thread::sleep(Duration::from_millis(100));
    assert!(service.open() <= 4, "{}", service.open());
    drop(client);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(service.open(), 0);
}

#[test]
fn a_message_that_fits_no_packet_is_refused() {
    let _alone = alone();
    let place = place();
    let error = ask(&client(place.path(), LONG), &vec![0; outboard_wire::MOST]).unwrap_err();
    assert!(matches!(error.problem, Problem::Long { .. }), "{error}");
}
