//! The module with calls that no sane program makes: wrong handles, lengths, templates and orders, from several threads.
//! Nothing ends the process, waits for ever, or is answered with `CKR_GENERAL_ERROR`.
//!
//! `TOKEN_ROUNDS` says how many processes make such calls (`make token-stress`).

mod attacker;
mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::{fs, thread};

use attacker::Attacker;
use common::calls::{Functions, attribute, call, found, functions, mechanism, open, session};
use cryptoki_sys::*;
use outboard_programs::child::ends_well;

const CALLS: usize = 20_000;

/// Seeds of processes of their own, so that one that sticks is noticed.
fn rounds() -> std::ops::Range<u64> {
    let rounds = std::env::var("TOKEN_ROUNDS").ok();
    0..rounds.map_or(4, |rounds| rounds.parse().expect("a number"))
}

#[test]
fn whatever_is_asked_is_answered() {
    for seed in rounds() {
        let attack = || {
            let mut attacker = Attacker::new(functions(), seed, 1);
            (0..CALLS).for_each(|_| attacker.call());
            true
        };
        assert!(ends_well(attack), "seed {seed}");
    }
}

/// The same from threads that use each other's handles, while one of them finalises the module again and again.
#[test]
fn whatever_threads_ask_is_answered() {
    for seed in rounds() {
        let attack = || {
            thread::scope(|scope| {
                for thread in 0..4 {
                    scope.spawn(move || {
                        let mut attacker = Attacker::new(functions(), seed << 8 | thread, 1);
                        (0..CALLS / 4).for_each(|_| attacker.call());
                        // Another thread may ask for what is outstanding of its calls.
                        std::mem::forget(attacker);
                    });
                }
            });
            true
        };
        assert!(ends_well(attack), "seed {seed}");
    }
}

fn resident() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.expect("a number") * 4096
}

fn data(session: CK_SESSION_HANDLE, functions: &Functions) -> (CK_RV, CK_OBJECT_HANDLE) {
    let class = [CKO_DATA];
    let mut template = [
        attribute(CKA_CLASS, &class),
        attribute(CKA_VALUE, &[7_u8; 100]),
    ];
    let mut object = 0;
    let made = call!(
        functions,
        C_CreateObject(session, template.as_mut_ptr(), 2, &raw mut object)
    );
    (made, object)
}

#[test]
fn memory_of_what_is_gone_comes_back() {
    assert!(ends_well(|| {
        let (functions, kept) = session();
        let round = || {
            for _ in 0..25 {
                let session = open(functions);
                for at in 0..1000 {
                    let (made, object) = data(session, functions);
                    assert_eq!(made, CKR_OK);
                    if at % 2 == 0 {
                        assert_eq!(call!(functions, C_DestroyObject(kept, object)), CKR_OK);
                    }
                }
                assert_eq!(call!(functions, C_CloseSession(session)), CKR_OK);
            }
            resident()
        };
        let before = round();
        let after = (0..2).map(|_| round()).max().unwrap_or_default();
        after < before + (8 << 20)
    }));
}

#[test]
fn fifty_threads_with_ten_sessions_each() {
    assert!(ends_well(|| {
        let (functions, _) = session();
        thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| {
                    let sessions: Vec<_> = (0..10).map(|_| open(functions)).collect();
                    for &session in &sessions {
                        let mut sha = mechanism(CKM_SHA256);
                        assert_eq!(
                            call!(functions, C_DigestInit(session, &raw mut sha)),
                            CKR_OK
                        );
                    }
                    for &session in &sessions {
                        let (mut digest, mut length) = ([0; 32], 32);
                        let part = b"a".as_ptr().cast_mut();
                        assert_eq!(call!(functions, C_DigestUpdate(session, part, 1)), CKR_OK);
                        let ended = call!(
                            functions,
                            C_DigestFinal(session, digest.as_mut_ptr(), &raw mut length)
                        );
                        assert_eq!(
                            (ended, digest[0]),
                            (CKR_OK, 0xca),
                            "FIPS 180: SHA-256 of \"a\""
                        );
                        assert_eq!(call!(functions, C_CloseSession(session)), CKR_OK);
                    }
                });
            }
        });
        true
    }));
}

/// What a thread puts into a session that another one closes meanwhile ends with it.
#[test]
fn no_object_outlives_its_session() {
    // Of each thread in a session: without a limit they make objects faster than these are destroyed.
    const MOST: usize = 20;
    assert!(ends_well(|| {
        let (functions, watcher) = session();
        let ended = AtomicBool::new(false);
        let asked = AtomicU64::new(0);
        let shared = AtomicU64::new(open(functions));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !ended.load(Relaxed) {
                        let session = shared.load(Relaxed);
                        for _ in 0..MOST {
                            let (made, _) = data(session, functions);
                            assert!([CKR_OK, CKR_SESSION_HANDLE_INVALID].contains(&made));
                            asked.fetch_add(1, Relaxed);
                        }
                        while shared.load(Relaxed) == session && !ended.load(Relaxed) {
                            thread::yield_now();
                        }
                    }
                });
            }
            // A session is closed when something was asked since the last one: the threads are at work then.
            let mut until_now = 0;
            for _ in 0..500 {
                while asked.load(Relaxed) == until_now {
                    thread::yield_now();
                }
                until_now = asked.load(Relaxed);
                let before = shared.swap(open(functions), Relaxed);
                assert_eq!(call!(functions, C_CloseSession(before)), CKR_OK);
            }
            ended.store(true, Relaxed);
        });
        call!(functions, C_CloseSession(shared.load(Relaxed)));
        let mut of_programs = [attribute(CKA_TOKEN, &[CK_FALSE])];
        found(functions, watcher, &mut of_programs).is_empty()
    }));
}
