//! One algorithm that is stood in for. Functions that begin a context get nothing that tells
//! algorithms apart, so each slot has functions of its own: they are generic in its number.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::{Mutex, PoisonError};

use outboard_observation::{Details, Identity, Recorder, Row, Ticket};

use crate::aside;
use crate::inner::Inner;
use crate::key::GetParams;
use crate::mark::Mark;
use crate::shim::Kind;
use crate::within::{self, CurrentJob, Pausing};

/// How many algorithms there can be; OpenSSL 4.0 has some 330. What finds no slot passes through
/// unobserved. Kinds that have other functions of each slot have slots of their own: to load the module
/// takes longer with each function.
pub(crate) const SLOTS: usize = 640;
pub(crate) const SIGNATURES: usize = 384;
pub(crate) const KEY_MANAGEMENT: usize = 512;

/// The slots of a kind.
const fn slots_of(kind: Kind) -> Range<usize> {
    match kind {
        Kind::Signature => SIGNATURES..KEY_MANAGEMENT,
        Kind::KeyManagement => KEY_MANAGEMENT..SLOTS,
        _ => 0..SIGNATURES,
    }
}

/// The largest function id of any kind, and one more.
pub(crate) const FUNCTIONS: usize = 48;

/// A function, to be cast to the type that its id stands for.
pub(crate) type Function = unsafe extern "C" fn();

/// One algorithm of one provider.
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    /// Its place in the table.
    pub(crate) number: usize,
    /// The provider's own functions, by id, to the last that there is.
    functions: Box<[Option<Function>]>,
    /// What it is used for before anybody says more.
    pub(crate) mark: Mark,
    /// What its rows have in common: implementation and algorithm.
    identity: Identity,
    /// How to ask about keys, where their type alone does not tell.
    pub(crate) key_params: Option<GetParams>,
    pub(crate) recorder: &'static Recorder,
    current_job: CurrentJob,
    /// Whether it may use other algorithms of ours within, and whether it may be left meanwhile.
    pub(crate) uses_others: Option<Pausing>,
    /// Whether it is better begun aside.
    goes_aside: bool,
    /// The rows used last: 13 bits of ticket, the mark, 3 bits of lane, and 16 bits of the row's index.
    rows: [AtomicU64; 16],
}

static TABLE: [AtomicPtr<Slot>; SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];

/// The slot of that number.
#[inline]
pub(crate) fn slot(number: usize) -> &'static Slot {
    // SAFETY: functions of a number are given out only after its slot was filled, for ever.
    unsafe { &*TABLE[number].load(Acquire) }
}

/// Where slots are found again, by a hash.
struct Index {
    places: [u16; Self::PLACES],
    /// How many slots are taken: of signatures, of key management, of all others.
    taken: [usize; 3],
}

impl Index {
    /// More than there are slots, so that one is always free.
    const PLACES: usize = 1024;
    const FREE: u16 = u16::MAX;
}

static INDEX: Mutex<Index> = Mutex::new(Index {
    places: [Index::FREE; Index::PLACES],
    taken: [0; 3],
});

impl Slot {
    pub(crate) fn new(
        kind: Kind,
        functions: &[Option<Function>; FUNCTIONS],
        implementation: &str,
        algorithm: &str,
        key_params: Option<GetParams>,
        recorder: &'static Recorder,
        inner: &Inner,
    ) -> Self {
        let operation = kind.operation(algorithm);
        let last = functions.iter().rposition(Option::is_some);
        Self {
            kind,
            number: 0,
            functions: functions[..last.map_or(0, |last| last + 1)].into(),
            mark: Mark::new(operation),
            identity: Identity::new(implementation, algorithm, &Details::new(operation)),
            key_params,
            recorder,
            current_job: inner.current_job,
            // A module finds what it uses by itself.
            uses_others: inner
                .is_default()
                .then(|| kind.uses_others(algorithm))
                .flatten(),
            goes_aside: inner.is_default() && kind == Kind::Kdf && algorithm == aside::ALGORITHM,
            rows: [const { AtomicU64::new(0) }; 16],
        }
    }

    /// An equal one if there is one already (the tables of a provider are the same in every library
    /// context), else itself; none if all of its kind are taken.
    pub(crate) fn register(mut self) -> Option<&'static Self> {
        let mut index = INDEX.lock().unwrap_or_else(PoisonError::into_inner);
        let mut place = self.hash() as usize % Index::PLACES;
        while index.places[place] != Index::FREE {
            let known = slot(index.places[place].into());
            if known.is_like(&self) {
                return Some(known);
            }
            place = (place + 1) % Index::PLACES;
        }
        let mut numbers = slots_of(self.kind);
        let taken = &mut index.taken[match self.kind {
            Kind::Signature => 0,
            Kind::KeyManagement => 1,
            _ => 2,
        }];
        self.number = numbers.nth(*taken)?;
        *taken += 1;
        index.places[place] = self.number as u16;
        let own = Box::leak(Box::new(self));
        TABLE[own.number].store(own, Release);
        Some(own)
    }

    fn addresses(&self) -> impl Iterator<Item = usize> {
        let functions = self.functions.iter();
        functions.map(|function| function.map_or(0, |function| function as usize))
    }

    fn hash(&self) -> u64 {
        let mixed = self.addresses().fold(self.kind as u64, |hash, address| {
            (hash.rotate_left(7) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        mixed >> 32
    }

    fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.addresses().eq(other.addresses())
            && self.identity == other.identity
            && self.key_params.map(|f| f as usize) == other.key_params.map(|f| f as usize)
    }

    /// Calls a function of the provider: what is used meanwhile is used within this algorithm.
    #[inline]
    pub(crate) fn within<T>(&self, call: impl FnOnce() -> T) -> T {
        self.within_if(self.uses_others, call)
    }

    #[inline]
    pub(crate) fn within_if<T>(&self, uses_others: Option<Pausing>, call: impl FnOnce() -> T) -> T {
        match uses_others {
            Some(pausing) => within::within(self.current_job, pausing, call),
            None => call(),
        }
    }

    /// Calls a function of the provider that begins to use nothing else.
    #[inline]
    pub(crate) fn alone<T>(&self, call: impl FnOnce() -> T) -> T {
        call()
    }

    /// The context of a provider that this algorithm is better begun with.
    #[inline]
    pub(crate) fn aside(&self) -> Option<*mut c_void> {
        match self.goes_aside {
            true => aside::context(self.current_job),
            false => None,
        }
    }

    /// Whether an algorithm uses this one now, and not the program.
    #[inline]
    pub(crate) fn is_within_another(&self) -> bool {
        within::is_within(self.current_job)
    }

    /// Whether parameters that are set may say more of what is done.
    #[inline]
    pub(crate) fn notices(&self) -> bool {
        !matches!(self.kind, Kind::Digest | Kind::Cipher)
    }

    /// The provider's own function of that id.
    ///
    /// # Safety
    /// It has one.
    #[inline]
    pub(crate) unsafe fn function(&self, id: c_int) -> Function {
        debug_assert!(self.functions[id as usize].is_some());
        // SAFETY: by the caller's word.
        unsafe { self.functions.get_unchecked(id as usize).unwrap_unchecked() }
    }

    /// The row of what the algorithm is used for.
    pub(crate) fn row(&self, ticket: Ticket, mark: Mark) -> Option<Row> {
        let lane = u64::from(outboard_observation::lane() & 7);
        let mark_and_lane = u64::from(mark.number()) << 3 | lane;
        debug_assert!(ticket.number() < 1 << 13);
        let key = ticket.number() << 51 | mark_and_lane << 16;
        // Threads that do the same have places of their own.
        let mixed = mark.number().wrapping_mul(0x9e37_79b9) >> 28;
        let cached = &self.rows[(mixed as usize ^ lane as usize) % self.rows.len()];
        let word = cached.load(Relaxed);
        if word & !0xffff == key {
            return Some(self.recorder.row(word as u16));
        }
        let identity = self.identity.with(&mark.details()?);
        let index = self.recorder.find(ticket, &identity)?;
        cached.store(key | u64::from(index), Relaxed);
        Some(self.recorder.row(index))
    }
}

/// `$function::<number>` for every number from the first on, in rows of 16: a table of functions.
macro_rules! table {
    ($function:ident, $first:expr; $($row:literal)*) => {
        [$($crate::slot::table!(@ $function, $first + $row;
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)),*]
    };
    (@ $function:ident, $first:expr; $($number:literal)*) => {
        [$($function::<{ $first + $number }>),*]
    };
}
pub(crate) use table;

/// The function of a number.
pub(crate) fn of<F: Copy>(table: &[[F; 16]], number: usize) -> F {
    table.as_flattened()[number]
}

/// Every function of the provider interface takes its context first.
pub(crate) type Pointer = *mut c_void;
