//! The tables that some kinds need in the lanes: built once, when they will pay.
//!
//! `lanes` builds them behind a lock. Who waited for it might wait for ever: the builder may be a thread of the parent that
//! forked us, or have left by a jump out of a signal handler. So one caller builds, and all others do without these lanes
//! until it has.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};

use outboard_lanes as lanes;

use super::Kind;

struct Table {
    built: AtomicBool,
    /// Somebody builds it, or has.
    begun: AtomicBool,
    /// Requests that could have used it.
    missed: AtomicU32,
    /// How many of them run without a table before it is built: it costs as much as so many gain (0.3 to 1.7 ms).
    enough: u32,
    build: fn() -> bool,
}

static P256: Table = Table::new(256, || lanes::p256::prepare().is_ok());
static P384: Table = Table::new(16, || lanes::p384::prepare().is_ok());
static CURVE25519: Table = Table::new(256, || {
    let key = lanes::x25519::PrivateKey::new(&[1; 32]);
    lanes::x25519::public_keys(&[&key])
        .iter()
        .all(Result::is_ok)
});
// For one across the lanes.
static WIDE_P256: Table = Table::new(80, || lanes::p256::wide::prepare().is_ok());
static WIDE_P384: Table = Table::new(8, || lanes::p384::wide::prepare().is_ok());
static WIDE_CURVE25519: Table = Table::new(96, || {
    let key = lanes::x25519::PrivateKey::new(&[1; 32]);
    lanes::x25519::wide::public_key(&key).is_ok()
});

/// Whether that kind can run in the lanes, one in each or (`wide`) one across them; builds what it needs, with as much
/// stack as the lanes use.
pub(super) fn build(kind: Kind, wide: bool) -> bool {
    of(kind, wide).is_none_or(Table::build)
}

/// Whether it pays to run that kind in the lanes for a request that is alone: the table is there, or will pay by now.
pub(super) fn pay(kind: Kind, wide: bool) -> bool {
    of(kind, wide).is_none_or(|table| {
        table.built.load(Acquire) || table.missed.fetch_add(1, Relaxed) >= table.enough
    })
}

fn of(kind: Kind, wide: bool) -> Option<&'static Table> {
    let [in_each, across] = match kind {
        _ if cfg!(feature = "stand-in-lanes") => return None,
        Kind::P256Sign | Kind::P256Generate => [&P256, &WIDE_P256],
        Kind::P384Sign | Kind::P384Generate => [&P384, &WIDE_P384],
        Kind::X25519Generate | Kind::Ed25519Sign => [&CURVE25519, &WIDE_CURVE25519],
        _ => return None,
    };
    Some(if wide { across } else { in_each })
}

impl Table {
    const fn new(enough: u32, build: fn() -> bool) -> Self {
        Self {
            built: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            missed: AtomicU32::new(0),
            enough,
            build,
        }
    }

    fn build(&self) -> bool {
        if self.built.load(Acquire) {
            return true;
        }
        if !there_is_memory() {
            return false;
        }
        if self.begun.swap(true, Relaxed) || !(self.build)() {
            return false;
        }
        self.built.store(true, Release);
        true
    }
}

/// More than any table takes while it is built, in bytes: the largest has 272 KiB, and is made twice.
const ROOM: usize = 2 << 20;

/// Whether the system gives the memory of a table. Where it does not, building one would end the program.
fn there_is_memory() -> bool {
    let mut room = Vec::<u8>::new();
    room.try_reserve_exact(ROOM).is_ok()
}
