//! What the fault tests share: each check is needed.

use outboard_lanes::fault::{self, Check, Fault};
use outboard_lanes::{Error, LANES};
use std::fmt::Debug;
use std::ops::Range;

/// Faults tried before a check counts as useless. The first or the second nearly always has an effect.
const TRIES: u64 = 100;

/// Shows of each check that it withholds what nothing else does.
///
/// An aim is a check and a range of steps that it guards. In this range a fault is looked for that releases a wrong
/// result while the check is left out; with the check, the same fault must release nothing wrong. So a check that
/// is removed from the source, or that lets everything pass, is found. `right` says whether a lane's result is
/// right.
///
/// The operation has to make these checks and no others.
#[allow(dead_code)] // Not every test of faults aims.
pub(crate) fn each_check_is_needed<R: Debug>(
    operation: impl Fn() -> Vec<Result<R, Error>>,
    right: impl Fn(usize, &R) -> bool,
    aims: &[(Check, Range<u64>)],
) {
    let mut made: Vec<Check> = fault::checks(&operation).into_iter().map(|c| c.0).collect();
    made.dedup();
    let mut aimed: Vec<Check> = aims.iter().map(|aim| aim.0).collect();
    aimed.dedup();
    assert_eq!(
        made, aimed,
        "the checks that are made, and those that are tested"
    );
    let wrong = |results: &[Result<R, Error>]| {
        let mut lanes = results.iter().enumerate();
        lanes.any(|(lane, result)| result.as_ref().is_ok_and(|result| !right(lane, result)))
    };
    assert!(!wrong(&operation()), "wrong without a fault");

    let mut state = 1_u64;
    let mut random = |n: u64| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) % n
    };
    for (check, steps) in aims {
        let guarded = (0..TRIES).find_map(|_| {
            let fault = Fault {
                step: steps.start + random(steps.end - steps.start),
                lane: random(LANES as u64) as usize,
                bit: random(52) as u32,
            };
            let results = fault::without(*check, || fault::inject(fault, &operation));
            wrong(&results).then_some(fault)
        });
        let fault =
            guarded.unwrap_or_else(|| panic!("nothing wrong among {steps:?} without {check:?}"));
        let results = fault::inject(fault, &operation);
        assert!(
            !wrong(&results),
            "{fault:?} is released in spite of {check:?}"
        );
    }
}
