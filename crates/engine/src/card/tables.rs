//! The tables that some kinds need in the lanes: built once, when they will pay, and never by a child
//! forked in the middle of it.
//!
//! `lanes` builds them behind a lock. A child forked from a process whose other thread held it would
//! wait for ever; so whoever is about to build leaves a note, and a child that finds a note of its
//! parent's does without these lanes.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};

use outboard_lanes as lanes;

use super::Kind;

struct Table {
    built: AtomicBool,
    /// The process that is building it, or 0.
    builder: AtomicU32,
    /// Requests that could have used it.
    missed: AtomicU32,
    build: fn() -> bool,
}

/// Requests that run without a table before it is built for them: it costs as much as so many gain.
const ENOUGH: u32 = 256;

static P256: Table = Table::new(|| lanes::p256::prepare().is_ok());
static P384: Table = Table::new(|| lanes::p384::prepare().is_ok());
static CURVE25519: Table = Table::new(|| {
    let key = lanes::x25519::PrivateKey::new(&[1; 32]);
    lanes::x25519::public_keys(&[&key])
        .iter()
        .all(Result::is_ok)
});

/// Whether that kind can run in the lanes; builds what it needs.
pub(super) fn build(kind: Kind) -> bool {
    of(kind).is_none_or(Table::build)
}

/// Whether that kind can run in the lanes for a request that is alone: the table is there, or will
/// pay by now.
pub(super) fn build_if_it_pays(kind: Kind) -> bool {
    of(kind).is_none_or(|table| {
        table.built.load(Acquire) || table.missed.fetch_add(1, Relaxed) >= ENOUGH && table.build()
    })
}

fn of(kind: Kind) -> Option<&'static Table> {
    match kind {
        _ if cfg!(feature = "stand-in-lanes") => None,
        Kind::P256Sign | Kind::P256Generate => Some(&P256),
        Kind::P384Sign | Kind::P384Generate => Some(&P384),
        Kind::X25519Generate | Kind::Ed25519Sign => Some(&CURVE25519),
        _ => None,
    }
}

impl Table {
    const fn new(build: fn() -> bool) -> Self {
        Self {
            built: AtomicBool::new(false),
            builder: AtomicU32::new(0),
            missed: AtomicU32::new(0),
            build,
        }
    }

    fn build(&self) -> bool {
        if self.built.load(Acquire) {
            return true;
        }
        let us = std::process::id();
        let note = self.builder.compare_exchange(0, us, Acquire, Acquire);
        if note.is_err_and(|builder| builder != us) || !(self.build)() {
            return false;
        }
        self.built.store(true, Release);
        true
    }
}
