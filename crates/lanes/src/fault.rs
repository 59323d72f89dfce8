//! Disturbs one intermediate, or leaves out a check: the hooks of the fault tests.
//!
//! Only compiled with the feature `fault`, under which all kernels run on the emulation. Each result
//! of each vector instruction is one *step*; [`inject`] flips one bit of one lane at one step.
//! A test runs an operation once to [`count`] its steps, then again with a fault at any of them.
//!
//! [`checks`] tells which checks an operation makes, and [`without`] leaves one out.

use crate::LANES;
use crate::vector::Mask;
use std::cell::{Cell, RefCell};

pub use crate::checks::Check;

/// Where to flip a bit.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Which result of an instruction, counted from 0 since the fault was injected.
    pub step: u64,
    /// In which lane, 0 to 7.
    pub lane: usize,
    /// Which bit, 0 to 63.
    pub bit: u32,
}

thread_local! {
    static MULTIPLY_ADDS: Cell<u64> = const { Cell::new(0) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
    static CHECKS: RefCell<Vec<(Check, u64)>> = const { RefCell::new(Vec::new()) };
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

/// The checks that `operation` makes on this thread, in order, each with the step before which it is made.
pub fn checks<T>(operation: impl FnOnce() -> T) -> Vec<(Check, u64)> {
    CHECKS.take();
    STEPS.set(0);
    operation();
    CHECKS.take()
}

/// Runs `operation` on this thread while `check` lets everything pass.
pub fn without<T>(check: Check, operation: impl FnOnce() -> T) -> T {
    LEFT_OUT.set(Some(check));
    let result = operation();
    LEFT_OUT.set(None);
    result
}

/// Where the verdict of every check passes.
pub(crate) fn verdict(check: Check, passed: Mask) -> Mask {
    CHECKS.with_borrow_mut(|checks| checks.push((check, STEPS.get())));
    if LEFT_OUT.get() == Some(check) {
        Mask::MAX
    } else {
        passed
    }
}

/// Where every multiply-add passes.
#[inline(always)]
pub(crate) fn count_multiply_add() {
    MULTIPLY_ADDS.set(MULTIPLY_ADDS.get() + 1);
}

/// Where every result of an instruction passes.
#[inline(always)]
pub(crate) fn pass(mut lanes: [u64; LANES]) -> [u64; LANES] {
    let step = STEPS.get();
    STEPS.set(step + 1);
    if let Some(fault) = FAULT.get()
        && fault.step == step
    {
        lanes[fault.lane] ^= 1 << fault.bit;
    }
    lanes
}
