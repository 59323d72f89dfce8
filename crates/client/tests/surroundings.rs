//! A client in processes that fork, close descriptors and confine themselves.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use common::*;
use outboard_client::Problem;
use outboard_client::stand_in::Service;

#[test]
fn a_child_has_a_connection_of_its_own() {
    let _alone = alone();
    let place = place();
    let service = Service::start(place.path(), echo).unwrap();
    let client = client(place.path(), LONG);
    assert_eq!(ask(&client, b"parent").unwrap(), b"parent");
    for _ in 0..3 {
        let child = fork(|| {
            let before = descriptors();
            assert_eq!(ask(&client, b"child").unwrap(), b"child");
            // Its parent's is closed: one for one.
            assert_eq!(descriptors(), before);
        });
        assert_eq!(ask(&client, b"parent").unwrap(), b"parent");
        assert_eq!(wait(child), 0);
    }
    assert_eq!(ask(&client, b"parent").unwrap(), b"parent");
    assert_eq!(service.accepted(), 4);
}

#[test]
fn forks_amid_requests_harm_none() {
    let _alone = alone();
    let place = place();
    let _service = Service::start(place.path(), echo).unwrap();
    let client = Arc::new(client(place.path(), LONG));
    let threads: Vec<_> = (0..4_u8)
        .map(|thread| {
            let client = Arc::clone(&client);
            thread::spawn(move || {
                for turn in 0..500_u16 {
                    let value = [thread, turn as u8, (turn >> 8) as u8];
                    assert_eq!(ask(&client, &value).unwrap(), value);
                }
            })
        })
        .collect();
    for turn in 0..30_u8 {
        let child = fork(|| {
            for again in 0..5_u8 {
                assert_eq!(ask(&client, &[turn, again]).unwrap(), [turn, again]);
            }
        });
        assert_eq!(wait(child), 0);
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn descriptors_may_be_closed_and_replaced() {
    let _alone = alone();
    let place = place();
    let service = Service::start(place.path(), echo).unwrap();
    let client = client(place.path(), LONG);
    let child = fork(|| {
        assert_eq!(ask(&client, b"x").unwrap(), b"x");
        for _ in 0..3 {
            // SAFETY: as daemons do; nothing of this child's is needed again.
            unsafe { libc::close_range(3, u32::MAX, 0) };
            assert_eq!(ask(&client, b"y").unwrap(), b"y");
        }
        // Now others have its number.
        // SAFETY: as above.
        unsafe { libc::close_range(3, u32::MAX, 0) };
        let others: Vec<_> = (0..10)
            .map(|_| fs::File::open("/dev/null").unwrap())
            .collect();
        assert_eq!(ask(&client, b"z").unwrap(), b"z");
        for other in others {
            other.metadata().unwrap();
        }
    });
    assert_eq!(wait(child), 0);
    assert_eq!(service.accepted(), 5);
}

#[test]
fn standard_descriptors_are_left_alone() {
    let _alone = alone();
    let place = place();
    let _service = Service::start(place.path(), echo).unwrap();
    let client = client(place.path(), LONG);
    let child = fork(|| {
        // SAFETY: of this child alone.
        unsafe { libc::close_range(0, 2, 0) };
        let answer = ask(&client, b"x");
        let taken = (0..3).filter(|&low| {
            // SAFETY: asks about a number.
            unsafe { libc::fcntl(low, libc::F_GETFD) >= 0 }
        });
        assert_eq!((answer.unwrap(), taken.count()), (b"x".to_vec(), 0));
    });
    assert_eq!(wait(child), 0);
}

#[test]
fn no_descriptor_left_is_told() {
    let _alone = alone();
    let place = place();
    let _service = Service::start(place.path(), echo).unwrap();
    let client = client(place.path(), LONG);
    let child = fork(|| {
        let none = libc::rlimit {
            rlim_cur: 3,
            rlim_max: 3,
        };
        // SAFETY: of this child alone.
        unsafe {
            libc::close_range(3, u32::MAX, 0);
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const none);
        }
        let error = ask(&client, b"x").unwrap_err();
        assert!(matches!(error.problem, Problem::Resource(_)), "{error}");
        assert!(error.to_string().contains("LimitNOFILE="), "{error}");
    });
    assert_eq!(wait(child), 0);
}

#[test]
fn a_filter_that_came_later_keeps_it_silent() {
    let _alone = alone();
    let place = place();
    let _service = Service::start(place.path(), echo).unwrap();
    let client = client(place.path(), LONG);
    let child = fork(|| {
        // Allows everything but `socket`, which kills.
        let number = libc::SYS_socket as u32;
        let filter = [
            (0x20, 0, 0, 0),
            (0x15, 0, 1, number),
            (0x06, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
            (0x06, 0, 0, libc::SECCOMP_RET_ALLOW),
        ]
        .map(|(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k });
        let program = libc::sock_fprog {
            len: 4,
            filter: filter.as_ptr().cast_mut(),
        };
        // SAFETY: a whole program, for this child alone.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            let mode = libc::SECCOMP_MODE_FILTER;
            assert_eq!(
                libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program),
                0
            );
        }
        let error = ask(&client, b"x").unwrap_err();
        assert!(matches!(error.problem, Problem::Confined), "{error}");
    });
    assert_eq!(wait(child), 0);
}

#[test]
fn a_dead_service_raises_no_signal() {
    let _alone = alone();
    let place = place();
    let client = client(place.path(), SHORT);
    let child = fork(|| {
        // SAFETY: as a program finds it that never heard of the signal.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let service = Service::start(place.path(), echo).unwrap();
        assert!(ask(&client, b"x").is_ok());
        drop(service);
        thread::sleep(Duration::from_millis(50));
        assert!(ask(&client, b"x").is_err());
    });
    assert_eq!(wait(child), 0);
}
