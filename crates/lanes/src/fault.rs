//! Disturbs one intermediate, or leaves out a check: the hooks of the fault tests.
//!
//! Only compiled with the feature `fault`, under which all kernels run on the emulation. Each result
//! of each vector instruction, a vector or a mask, is one *step*; [`inject`] flips one bit of one lane at one step.
//! A test runs an operation once to [`count`] its steps, then again with a fault at any of them.
//!
//! [`trace`] tells what an operation does at which step, so that a fault can be aimed, and [`without`] leaves a
//! check out.

use crate::LANES;
use crate::vector::Mask;
use std::cell::{Cell, RefCell};
use std::ops::Range;

pub use crate::checks::Check;

/// Where to flip a bit.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Which result of an instruction, counted from 0 since the fault was injected.
    pub step: u64,
    /// In which lane, 0 to 7.
    pub lane: usize,
    /// Which bit, 0 to 63. Of a mask, that of one of the lane's numbers: the only one, whatever this says, where a lane is
    /// one number.
    pub bit: u32,
}

/// What an operation did, and at which steps.
#[derive(Debug, Default)]
pub struct Trace {
    /// Its steps.
    pub steps: u64,
    /// The kernels that it is made of, in the order in which they began: names and steps.
    kernels: Vec<(&'static str, Range<u64>)>,
    /// The checks, each with the step before which its verdict came.
    pub checks: Vec<(Check, u64)>,
    /// The steps that gave a mask.
    pub masks: Vec<u64>,
    /// The steps that shifted each lane by a count of its own.
    pub shifts: Vec<u64>,
}

impl Trace {
    /// The steps of the kernel of this name that began as number `nth`, counted from 0.
    pub fn kernel(&self, name: &str, nth: usize) -> Range<u64> {
        let mut kernels = self.kernels.iter().filter(|(other, _)| *other == name);
        let kernel = kernels.nth(nth);
        let (_, steps) =
            kernel.unwrap_or_else(|| panic!("no {name} {nth} among {:?}", self.kernels));
        steps.clone()
    }

    /// The step before which this check's verdict came, for the first time.
    pub fn check(&self, check: Check) -> u64 {
        let made = self.checks.iter().find(|(made, _)| *made == check);
        made.unwrap_or_else(|| panic!("{check:?} is not made")).1
    }
}

thread_local! {
    static MULTIPLY_ADDS: Cell<u64> = const { Cell::new(0) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
    static LEFT_OUT: Cell<Option<Check>> = const { Cell::new(None) };
}

/// Counts the steps that `operation` takes on this thread.
pub fn count<T>(operation: impl FnOnce() -> T) -> (T, u64) {
    STEPS.set(0);
    let result = operation();
    (result, STEPS.get())
}

/// Counts the `vpmadd52` instructions that `operation` takes on this thread.
pub fn count_multiply_adds<T>(operation: impl FnOnce() -> T) -> (T, u64) {
    MULTIPLY_ADDS.set(0);
    let result = operation();
    (result, MULTIPLY_ADDS.get())
}

/// Runs `operation` on this thread with one bit flipped in it.
pub fn inject<T>(fault: Fault, operation: impl FnOnce() -> T) -> T {
    assert!(
        fault.lane < LANES && fault.bit < 64,
        "no such lane or bit: {fault:?}"
    );
    STEPS.set(0);
    FAULT.set(Some(fault));
    let result = operation();
    FAULT.set(None);
    result
}

/// What `operation` does on this thread.
pub fn trace<T>(operation: impl FnOnce() -> T) -> Trace {
    TRACE.set(Some(Trace::default()));
    STEPS.set(0);
    operation();
    let mut trace = TRACE.take().expect("was set");
    trace.steps = STEPS.get();
    trace
}

/// Runs `operation` on this thread while `check` lets everything pass.
pub fn without<T>(check: Check, operation: impl FnOnce() -> T) -> T {
    LEFT_OUT.set(Some(check));
    let result = operation();
    LEFT_OUT.set(None);
    result
}

/// Notes something, if a trace is wanted.
fn note<T>(what: impl FnOnce(&mut Trace) -> T) -> Option<T> {
    TRACE.with_borrow_mut(|trace| trace.as_mut().map(what))
}

/// Where the verdict of every check passes.
pub(crate) fn verdict(check: Check, passed: Mask) -> Mask {
    note(|trace| trace.checks.push((check, STEPS.get())));
    if LEFT_OUT.get() == Some(check) {
        Mask::MAX
    } else {
        passed
    }
}

/// Where every kernel passes.
#[inline]
pub(crate) fn kernel<K, T>(run: impl FnOnce() -> T) -> T {
    let number = note(|trace| {
        let name = std::any::type_name::<K>();
        let name = name.split('<').next().unwrap_or(name);
        let name = name.rsplit("::").next().unwrap_or(name);
        trace.kernels.push((name, STEPS.get()..u64::MAX));
        trace.kernels.len() - 1
    });
    let result = run();
    if let Some(number) = number {
        note(|trace| trace.kernels[number].1.end = STEPS.get());
    }
    result
}

/// Where every multiply-add passes.
#[inline(always)]
pub(crate) fn count_multiply_add() {
    MULTIPLY_ADDS.set(MULTIPLY_ADDS.get() + 1);
}

/// Goes a step on. The fault, if it strikes there.
#[inline(always)]
fn step() -> Option<Fault> {
    let step = STEPS.get();
    STEPS.set(step + 1);
    FAULT.get().filter(|fault| fault.step == step)
}

/// Where every result of an instruction passes.
#[inline(always)]
pub(crate) fn pass(mut lanes: [u64; LANES]) -> [u64; LANES] {
    if let Some(fault) = step() {
        lanes[fault.lane] ^= 1 << fault.bit;
    }
    lanes
}

/// Where every result of an instruction passes that is a mask.
pub(crate) fn pass_mask(mask: Mask) -> Mask {
    note(|trace| trace.masks.push(STEPS.get()));
    step().map_or(mask, |fault| mask ^ 1 << fault.lane)
}

/// The same for masks of `numbers` bits, of which each lane has its share.
pub(crate) fn pass_small_mask(mask: u32, numbers: u32) -> u32 {
    note(|trace| trace.masks.push(STEPS.get()));
    let share = numbers / LANES as u32;
    step().map_or(mask, |fault| {
        mask ^ 1 << (fault.lane as u32 * share + fault.bit % share)
    })
}

/// Is told before the result of a shift by counts passes.
pub(crate) fn note_shift() {
    note(|trace| trace.shifts.push(STEPS.get()));
}
