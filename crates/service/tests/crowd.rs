//! A thousand client processes at once: each gets its signatures, and others are answered meanwhile.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::io::Read;
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{NOBODY, Service, serves};
use outboard_administration::{Reply, Request};
use outboard_client::{Client, Key, Settings};
use outboard_wire::{Digest, Operation};
use zeroize::Zeroizing;

/// How many processes.
const CLIENTS: usize = 1_000;
/// How many signatures each asks for before it waits for the others.
const SIGNATURES: usize = 4;

#[test]
fn a_thousand_processes_sign_at_once() {
    let service = Service::start();
    let key = service.key("other");
    let crowd_s = service.key_of("p256", "crowd");
    service.grant("crowd", NOBODY);
    let mut crowd = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "as_a_crowd", "--nocapture", "--test-threads=1"])
        .env("CROWD_DIRECTORY", service.path())
        .env("CROWD_KEY", &crowd_s.id)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Until each process has a connection, and keeps it.
    let all_are_there = || match service.ask(Request::Status).unwrap() {
        Reply::Status(status) => status.connections >= CLIENTS as u64,
        reply => panic!("{reply:?}"),
    };
    let since = Instant::now();
    while !all_are_there() {
        assert!(
            since.elapsed() < Duration::from_secs(120),
            "some are kept out"
        );
        assert!(crowd.try_wait().unwrap().is_none(), "the crowd has ended");
        serves(&service, &key);
        std::thread::sleep(Duration::from_millis(10));
    }
    serves(&service, &key);
    // They go on together, and end.
    drop(crowd.stdin.take());
    while crowd.try_wait().unwrap().is_none() {
        serves(&service, &key);
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = crowd.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("0 processes failed"), "{said}");
    let used = service.ask(Request::Show {
        name: "crowd".into(),
    });
    match used.unwrap() {
        Reply::Key(key) => assert_eq!(key.used, (CLIENTS * (SIGNATURES + 1)) as u64),
        reply => panic!("{reply:?}"),
    }
}

/// Where the service cannot raise its limit, its log says what follows.
#[test]
fn a_low_limit_of_descriptors_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut service = Command::new("sh")
        .args(["-c", "ulimit -n 1024 && exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_outboardd"))
        .arg("--directory")
        .arg(directory.path())
        .arg("--ledger")
        .arg(directory.path().join("ledger"))
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let said = loop {
        let said = std::fs::read_to_string(&log).unwrap();
        if said.contains("serving at") || service.try_wait().unwrap().is_some() {
            break said;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    service.kill().unwrap();
    service.wait().unwrap();
    let limit =
        "at most 424 programs can be connected, because the service may have 1024 descriptors";
    assert!(said.contains(limit), "{said}");
}

/// The other side of [`a_thousand_processes_sign_at_once`].
#[test]
fn as_a_crowd() {
    let Some(directory) = std::env::var_os("CROWD_DIRECTORY") else {
        return;
    };
    let id = std::env::var("CROWD_KEY").unwrap().parse().unwrap();
    let client = Client::new(Settings {
        // Nothing is said here about how fast a machine is.
        limit: Duration::from_secs(60),
        ..Settings::of(Path::new(&directory))
    });
    let sign = || {
        let key = Key {
            id,
            name: "crowd",
            ticket: None,
        };
        let mut signature = Zeroizing::default();
        let operation = Operation::Ecdsa {
            digest: Some(Digest::Sha256),
            value: &[7; 32],
        };
        client.ask(key, operation, &mut signature).unwrap();
        assert!(!signature.is_empty());
    };
    let (mut go_on, end) = std::io::pipe().unwrap();
    let children: Vec<libc::pid_t> = (0..CLIENTS)
        // SAFETY: the child ends below, without running anything of its parent's.
        .map(|_| match unsafe { libc::fork() } {
            0 => {
                let signed = catch_unwind(AssertUnwindSafe(|| {
                    become_nobody();
                    (0..SIGNATURES).for_each(|_| sign());
                    // SAFETY: this process's copy is used no more; its parent's end is what counts.
                    unsafe { libc::close(end.as_raw_fd()) };
                    assert_eq!(go_on.read(&mut [0]).unwrap(), 0);
                    sign();
                }));
                // SAFETY: ends the child.
                unsafe { libc::_exit(signed.is_err().into()) }
            }
            child => child,
        })
        .collect();
    assert!(!children.contains(&-1), "the system refuses to fork");
    let _ = std::io::stdin().read(&mut [0]);
    drop(end);
    let failed = |&&child: &&libc::pid_t| {
        let mut status = 0;
        // SAFETY: a child of this process, and room for its status.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        status != 0
    };
    let failed = children.iter().filter(failed).count();
    println!("\n{failed} processes failed");
}

/// Root is not limited as others are.
fn become_nobody() {
    if rustix::process::getuid().is_root() {
        // SAFETY: changes this process alone, which has one thread.
        unsafe {
            assert_eq!(libc::setgid(NOBODY), 0);
            assert_eq!(libc::setuid(NOBODY), 0);
        }
    }
}
