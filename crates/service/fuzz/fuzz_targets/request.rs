//! Packets of programs, and of the service: `make service-fuzz`.
//!
//! What is read is written as the same bytes. A packet that asks something gets an answer; nothing but the length of a
//! number keeps a packet from one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outboard_service::dry::Dry;
use outboard_wire::{Answer, Request};
use std::sync::LazyLock;
use tempfile::TempDir;

static SERVICE: LazyLock<(Dry, TempDir)> = LazyLock::new(|| {
    let place = tempfile::tempdir().expect("a directory");
    (Dry::new(&place.path().join("store")), place)
});

fuzz_target!(|packet: &[u8]| {
    let mut again = Vec::new();
    if let Ok(request) = Request::decode(packet) {
        request.encode(&mut again);
        assert_eq!(again, packet);
    }
    if let Ok(answer) = Answer::decode(packet) {
        answer.encode(&mut again);
        assert_eq!(Answer::decode(&again), Ok(answer));
    }
    assert_eq!(SERVICE.0.packet(packet).is_some(), packet.len() >= 4);
});
