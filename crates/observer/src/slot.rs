//! One algorithm that is stood in for. Functions that begin a context get nothing that tells
//! algorithms apart, so each slot has functions of its own: they are generic in its number.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::{Mutex, PoisonError};

use outboard_observation::{Details, Identity, Recorder, Row, Ticket};

use crate::key::GetParams;
use crate::shim::Kind;

/// How many algorithms there can be. OpenSSL 4.0 has some 330; what finds no slot passes through
/// unobserved.
pub(crate) const SLOTS: usize = 512;

/// The largest function id of any kind, and one more.
pub(crate) const FUNCTIONS: usize = 48;

/// A function, to be cast to the type that its id stands for.
pub(crate) type Function = unsafe extern "C" fn();

/// One algorithm of one provider.
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    /// The provider's own functions, by id, to the last that there is.
    functions: Box<[Option<Function>]>,
    /// What it is used for before anybody says more.
    pub(crate) details: Details,
    /// What its rows have in common: implementation and algorithm.
    identity: Identity,
    /// How to ask about keys, where their type alone does not tell.
    pub(crate) key_params: Option<GetParams>,
    pub(crate) recorder: &'static Recorder,
    /// The rows used last: 16 bits of ticket, 32 bits of the details' hash, and 16 bits of the row's index.
    rows: [AtomicU64; 16],
    /// The rows of the slot's own details, by lane: the ticket, and 16 bits of the row's index.
    plain_rows: [AtomicU64; 8],
}

static TABLE: [AtomicPtr<Slot>; SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];

/// The slot of that number.
#[inline]
pub(crate) fn slot(number: usize) -> &'static Slot {
    // SAFETY: functions of a number are given out only after its slot was filled, for ever.
    unsafe { &*TABLE[number].load(Acquire) }
}

impl Slot {
    pub(crate) fn new(
        kind: Kind,
        functions: Box<[Option<Function>]>,
        implementation: &str,
        algorithm: &str,
        key_params: Option<GetParams>,
        recorder: &'static Recorder,
    ) -> Self {
        let details = Details::new(kind.operation(algorithm));
        Self {
            kind,
            functions,
            details,
            identity: Identity::new(implementation, algorithm, &details),
            key_params,
            recorder,
            rows: [const { AtomicU64::new(0) }; 16],
            plain_rows: [const { AtomicU64::new(0) }; 8],
        }
    }

    /// Its number: that of an equal one if there is one already (the tables of a provider are the same
    /// in every library context), else a new one; none if all are taken.
    pub(crate) fn register(self) -> Option<usize> {
        /// Those that there are: a summary to find them by, and their numbers.
        static KNOWN: Mutex<BTreeSet<(u64, usize)>> = Mutex::new(BTreeSet::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let summary = self.summary();
        for &(_, number) in known.range((summary, 0)..=(summary, SLOTS)) {
            // SAFETY: null, or from `Box::into_raw` below and never freed.
            let slot = unsafe { TABLE[number].load(Acquire).as_ref() };
            if slot.is_some_and(|slot| slot.is_like(&self)) {
                return Some(number);
            }
        }
        let number = known.len();
        TABLE
            .get(number)?
            .store(Box::into_raw(Box::new(self)), Release);
        known.insert((summary, number));
        Some(number)
    }

    fn addresses(&self) -> impl Iterator<Item = usize> {
        let functions = self.functions.iter();
        functions.map(|function| function.map_or(0, |function| function as usize))
    }

    fn summary(&self) -> u64 {
        self.addresses()
            .fold(self.identity.hash(), |hash, address| {
                (hash.rotate_left(7) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            })
    }

    fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.identity == other.identity
            && self.addresses().eq(other.addresses())
            && self.key_params.map(|f| f as usize) == other.key_params.map(|f| f as usize)
    }

    /// Whether parameters that are set may say more of what is done.
    #[inline]
    pub(crate) fn notices(&self) -> bool {
        !matches!(self.kind, Kind::Digest | Kind::Cipher)
    }

    /// The provider's own function of that id.
    #[inline]
    pub(crate) fn function(&self, id: c_int) -> Function {
        self.functions[id as usize].expect("invariant: only functions that are there are wrapped")
    }

    /// The row of what the algorithm is used for.
    pub(crate) fn row(&self, ticket: Ticket, details: &Details) -> Option<Row> {
        match *details == self.details {
            true => self.plain_row(ticket),
            false => self.detailed_row(ticket, details),
        }
    }

    /// The row of work of which nothing more is known than the slot's own details.
    pub(crate) fn plain_row(&self, ticket: Ticket) -> Option<Row> {
        let cached = &self.plain_rows[usize::from(outboard_observation::lane() & 7)];
        let word = cached.load(Relaxed);
        if word >> 16 == ticket.number() {
            return Some(self.recorder.row(word as u16));
        }
        let index = self.recorder.find(ticket, &self.identity)?;
        cached.store(ticket.number() << 16 | u64::from(index), Relaxed);
        Some(self.recorder.row(index))
    }

    /// The same of other details. Of the few there are, no two share 32 bits of their hash but by an
    /// improbable accident, which would count one as the other.
    fn detailed_row(&self, ticket: Ticket, details: &Details) -> Option<Row> {
        let variant = details.hash() as u32 ^ u32::from(outboard_observation::lane()) << 28;
        let key = ticket.number() << 48 | u64::from(variant) << 16;
        let mixed = variant ^ variant >> 16;
        let cached = &self.rows[((mixed ^ mixed >> 8 ^ mixed >> 4) & 15) as usize];
        let word = cached.load(Relaxed);
        if word & !0xffff == key && word != 0 {
            return Some(self.recorder.row(word as u16));
        }
        let index = self.recorder.find(ticket, &self.identity.with(details))?;
        cached.store(key | u64::from(index), Relaxed);
        Some(self.recorder.row(index))
    }
}

/// `$function::<number>` for every number: a table to be asked with [`of`].
macro_rules! table {
    ($function:ident) => {
        $crate::slot::table!(@64 $function: 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@64 $f:ident: $($a:literal),*) => {
        [$($crate::slot::table!(@8 $f, $a: 0, 1, 2, 3, 4, 5, 6, 7)),*]
    };
    (@8 $f:ident, $a:literal: $($b:literal),*) => {
        [$($crate::slot::table!(@1 $f, $a, $b: 0, 1, 2, 3, 4, 5, 6, 7)),*]
    };
    (@1 $f:ident, $a:literal, $b:literal: $($c:literal),*) => {
        [$($f::<{ $a * 64 + $b * 8 + $c }>),*]
    };
}
pub(crate) use table;

/// A table of functions, one for each slot.
pub(crate) type Table<F> = [[[F; 8]; 8]; 8];

/// The function of a slot.
pub(crate) fn of<F: Copy>(table: &Table<F>, number: usize) -> F {
    table[number / 64][number / 8 % 8][number % 8]
}

const _: () = assert!(SLOTS == 8 * 8 * 8);

/// Every function of the provider interface takes its context first.
pub(crate) type Pointer = *mut c_void;
