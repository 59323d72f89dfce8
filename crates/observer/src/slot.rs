//! One algorithm that is stood in for. Functions that begin a context get nothing that tells
//! algorithms apart, so each slot has functions of its own: they are generic in its number.

use std::ffi::{c_int, c_void};

use outboard_libcrypto::sys::ASYNC_JOB;
use outboard_observation::{Details, Identity, Recorder, Row, Ticket, UNKNOWN};

use crate::key::Questions;
use crate::mark::Mark;
use crate::numbered::Numbered;
use crate::shim::Kind;

/// How many algorithms there can be. OpenSSL 4.0 has some 330; what finds no slot passes through
/// unobserved.
pub(crate) const SLOTS: usize = 512;

/// The largest function id of any kind, and one more.
pub(crate) const FUNCTIONS: usize = 48;

/// A function, to be cast to the type that its id stands for.
pub(crate) type Function = unsafe extern "C" fn();

/// `ASYNC_get_current_job`.
pub(crate) type CurrentJob = unsafe extern "C" fn() -> *mut ASYNC_JOB;

/// One algorithm of one provider.
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    /// The provider's own functions, by id, to the last that there is.
    functions: Box<[Option<Function>]>,
    /// What it is used for before anybody says more.
    pub(crate) mark: Mark,
    /// What its rows have in common: implementation and algorithm.
    identity: Identity,
    /// How to ask about keys, where their type alone does not tell.
    pub(crate) key_questions: Option<Questions>,
    pub(crate) recorder: &'static Recorder,
    /// Where the provider may pause a job of libcrypto's and let others run: what tells whether this is one.
    current_job: Option<CurrentJob>,
    /// Its place in the table.
    number: usize,
}

static KNOWN: Numbered<Slot, SLOTS> = Numbered::new();

/// The slot of that number.
#[inline]
pub(crate) fn slot(number: usize) -> &'static Slot {
    let slot = KNOWN.get(number);
    slot.expect(
        "invariant: functions of a number are given out only after its slot was filled, for ever",
    )
}

impl Slot {
    pub(crate) fn new(
        kind: Kind,
        functions: Box<[Option<Function>]>,
        implementation: &str,
        algorithm: &str,
        key_questions: Option<Questions>,
        recorder: &'static Recorder,
        current_job: Option<CurrentJob>,
    ) -> Self {
        let operation = kind.operation(algorithm);
        Self {
            kind,
            functions,
            mark: Mark::new(operation),
            identity: Identity::new(implementation, algorithm, &Details::new(operation)),
            key_questions,
            recorder,
            current_job,
            number: 0,
        }
    }

    /// Its number: that of an equal one if there is one already (the tables of a provider are the same
    /// in every library context), else a new one; none if all are taken.
    pub(crate) fn register(self) -> Option<usize> {
        let first = (self.summary() >> 32) as usize;
        KNOWN.enter(first, self, Self::is_like, |own, number| {
            own.number = number
        })
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
            && self.current_job.map(|job| job as usize) == other.current_job.map(|job| job as usize)
            && match (self.key_questions, other.key_questions) {
                (Some(ours), Some(theirs)) => ours.is_like(theirs),
                (ours, theirs) => ours.is_none() && theirs.is_none(),
            }
    }

    /// The time now, for [`since`](Self::since).
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.recorder.clock().now()
    }

    /// What an operation took that began then; unknown where it may have been paused.
    #[inline]
    pub(crate) fn since(&self, start: u64) -> u64 {
        // Processors' counters may differ a little.
        let ticks = self.now().saturating_sub(start);
        match self.current_job {
            // SAFETY: takes nothing.
            Some(current_job) if !unsafe { current_job() }.is_null() => UNKNOWN,
            _ => ticks,
        }
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

    /// The row of what the algorithm is used for, by a thread of that lane.
    pub(crate) fn row(&self, ticket: Ticket, lane: u8, mark: Mark) -> Option<Row> {
        let kind = (self.number as u64) << 32 | u64::from(mark.number());
        let identity = || Some(self.identity.with(&mark.details()?));
        self.recorder.row(ticket, lane, kind, identity)
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
