//! The service's cards: listed, set offline and online while clients ask, and nothing fails.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use common::{Service, answer, ask, connect, packet_of};
use outboard_administration::{CardInfo, KeyInfo, Reply, Request};
use outboard_client::{Client, Key, Settings};
use outboard_engine::Path;
use outboard_engine::ledger::Snapshot;
use outboard_wire::{Digest, Encryption, Operation, Status};
use zeroize::Zeroizing;

impl Service {
    fn cards(&self) -> Vec<CardInfo> {
        match self.ask(Request::Cards).unwrap() {
            Reply::Cards { cards } => cards,
            reply => panic!("{reply:?}"),
        }
    }

    fn set_all(&self, online: bool) {
        for CardInfo { number, .. } in self.cards() {
            self.ask(Request::SetCard { number, online }).unwrap();
        }
    }

    /// Clients sign, sixteen at a time, until `steers` ends. Every signature is made.
    fn signs_while<T>(&self, key: &KeyInfo, steers: impl FnOnce() -> T) -> T {
        let digest = Some(Digest::Sha384);
        let value = &[7; 48];
        self.answers_while(
            &[packet_of(key, Operation::Ecdsa { digest, value })],
            steers,
        )
    }

    /// Clients ask that, sixteen at a time, until `steers` ends. Everything is done.
    fn answers_while<T>(&self, packets: &[Vec<u8>], steers: impl FnOnce() -> T) -> T {
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for packet in packets.iter().cycle().take(16) {
                let ends = &ends;
                scope.spawn(move || {
                    let socket = connect(self.path());
                    while !ends.load(Relaxed) {
                        assert_eq!(ask(&socket, packet), Some(Status::Done));
                    }
                });
            }
            let _ends = Ends(&ends);
            steers()
        })
    }

    /// Waits until the service did so many operations more.
    fn does(&self, operations: u64) {
        let done = || match self.ask(Request::Status).unwrap() {
            Reply::Status(status) => status.served.done,
            reply => panic!("{reply:?}"),
        };
        let (before, since) = (done(), Instant::now());
        while done() < before + operations {
            assert!(since.elapsed() < Duration::from_secs(60), "it stands still");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Ends the clients, also where a test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// None where the processor has no lanes.
fn service_with_cards() -> Option<Service> {
    let service = Service::start();
    match service.cards().is_empty() {
        true => {
            eprintln!("skipped: this processor has no lanes");
            None
        }
        false => Some(service),
    }
}

#[test]
fn a_card_that_is_offline_takes_no_batches() {
    let Some(service) = service_with_cards() else {
        return;
    };
    let key = service.key_of("p384", "site");
    service.signs_while(&key, || {
        let since = Instant::now();
        while service.cards().iter().all(|card| card.batches == 0) {
            assert!(since.elapsed() < Duration::from_secs(60), "no batch");
            std::thread::sleep(Duration::from_millis(10));
        }
        service.set_all(false);
        assert!(service.cards().iter().all(|card| !card.online));
        let batches = || -> u64 { service.cards().iter().map(|card| card.batches).sum() };
        // A batch that was under way may still end.
        let since = Instant::now();
        loop {
            let before = batches();
            service.does(500);
            if batches() == before {
                break;
            }
            assert!(since.elapsed() < Duration::from_secs(60), "batches go on");
        }
    });
    let cards = service.cards();
    let sum = |of: fn(&CardInfo) -> u64| cards.iter().map(of).sum::<u64>();
    assert_eq!(sum(|card| card.pending), 0, "{cards:?}");
    assert!(sum(|card| card.in_lanes) <= sum(|card| card.operations));
    match service.ask(Request::Status).unwrap() {
        Reply::Status(status) => assert_eq!(status.served.done, sum(|card| card.operations)),
        reply => panic!("{reply:?}"),
    }
    let ledger = Snapshot::read(&service.path().join("ledger")).unwrap();
    let total = ledger.total();
    let on_cards = total.rows().filter(|row| row.path == Path::Card);
    let on_cards: u64 = on_cards.map(|row| row.work.operations).sum();
    assert!(on_cards >= sum(|card| card.in_lanes), "{on_cards}");
}

/// RSA's private operation is one, whatever follows it.
#[test]
fn decryptions_share_the_lanes_with_signatures() {
    let Some(service) = service_with_cards() else {
        return;
    };
    let key = service.key_of("rsa-2048", "site");
    let (digest, value) = (Some(Digest::Sha256), &[7; 32]);
    let sign = packet_of(&key, Operation::Pkcs1 { digest, value });
    let (encryption, ciphertext) = (Encryption::Pkcs1, &[7; 255]);
    let operation = Operation::Decrypt {
        encryption,
        ciphertext,
    };
    let decrypt = packet_of(&key, operation);
    // Bytes of no meaning, and always the same.
    let message = || answer(connect(service.path()), &decrypt).unwrap();
    let alone = message();
    let on_cards = |operation: &str| -> u64 {
        let ledger = Snapshot::read(&service.path().join("ledger")).unwrap();
        let total = ledger.total();
        let rows = total.rows().filter(|row| row.path == Path::Card);
        let rows = rows.filter(|row| row.operation.name() == operation);
        rows.map(|row| row.work.operations).sum()
    };
    service.answers_while(&[sign, decrypt.clone()], || {
        let since = Instant::now();
        while on_cards("rsa-2048-sign") == 0 || on_cards("rsa-2048-decrypt") == 0 {
            assert!(since.elapsed() < Duration::from_secs(60), "no batch");
            assert_eq!(message(), alone);
        }
        (0..100).for_each(|_| assert_eq!(message(), alone));
    });
}

/// The lanes do P-384 faster than the scalar path even with one of them filled; across them it is several times faster.
#[test]
fn a_request_without_company_is_no_batch() {
    let Some(service) = service_with_cards() else {
        return;
    };
    let key = service.key_of("p384", "site");
    let digest = Some(Digest::Sha384);
    let value = &[7; 48];
    let packet = packet_of(&key, Operation::Ecdsa { digest, value });
    let socket = connect(service.path());
    for _ in 0..20 {
        assert_eq!(ask(&socket, &packet), Some(Status::Done));
    }
    let cards = service.cards();
    assert!(cards.iter().all(|card| card.batches == 0), "{cards:?}");
    assert_eq!(cards.iter().map(|card| card.operations).sum::<u64>(), 20);
}

/// As a thread does that has asynchronous sessions of the PKCS #11 module.
#[test]
fn one_thread_with_eight_requests_shares_the_lanes() {
    let Some(service) = service_with_cards() else {
        return;
    };
    let key = service.key_of("p384", "site");
    let client = Arc::new(Client::new(Settings::of(service.path())));
    let named = Key {
        id: key.id.parse().unwrap(),
        name: "site",
        ticket: None,
    };
    let digest = Some(Digest::Sha384);
    let value = &[7; 48];
    let since = Instant::now();
    while service.cards().iter().all(|card| card.in_lanes < 100) {
        assert!(since.elapsed() < Duration::from_secs(60), "too few batches");
        let begin = |_| client.begin(named, Operation::Ecdsa { digest, value });
        let pending: Vec<_> = (0..8).map(begin).collect();
        for pending in pending {
            let mut signature = Zeroizing::default();
            pending.unwrap().collect(&mut signature).unwrap();
        }
    }
}

#[test]
fn cards_change_while_clients_ask() {
    let Some(service) = service_with_cards() else {
        return;
    };
    let key = service.key_of("p384", "site");
    service.signs_while(&key, || {
        for turn in 0..50 {
            service.set_all(turn % 2 == 1);
            service.does(20);
        }
    });
    assert!(service.cards().iter().all(|card| card.online));
}

#[test]
fn the_audit_log_has_who_set_a_card_offline() {
    let Some(service) = service_with_cards() else {
        return;
    };
    let unknown = Request::SetCard {
        number: 1_000_000,
        online: false,
    };
    let refusal = service.ask(unknown).unwrap_err().to_string();
    assert!(refusal.contains("there is no card 1000000"), "{refusal}");
    let (number, online) = (0, false);
    service.ask(Request::SetCard { number, online }).unwrap();
    let Reply::Audit { entries, .. } = service.ask(Request::Audit { from: 0 }).unwrap() else {
        panic!("no audit log");
    };
    let last = entries.last().unwrap();
    assert_eq!(last.outcome, "done: card 0 is offline");
    assert_eq!(last.uid, rustix::process::getuid().as_raw());
    assert!(!service.cards()[0].online);
}
