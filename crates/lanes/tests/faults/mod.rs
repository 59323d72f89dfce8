//! What the fault tests share: nothing wrong is released, and each check is needed for that.
#![allow(dead_code)] // Not every test uses all of it.

use outboard_lanes::fault::{self, Check, Fault, Trace};
use outboard_lanes::{Error, LANES};
use std::fmt::Debug;
use std::ops::Range;

/// Faults tried before a check counts as useless.
const TRIES: u64 = 400;

/// The results of a batch, or of a table.
pub(crate) type Results<R> = Vec<Result<R, Error>>;

/// How many faults are drawn for each operation: `LANES_FAULTS`.
pub(crate) fn faults(usual: u64) -> u64 {
    std::env::var("LANES_FAULTS").map_or(usual, |n| n.parse().expect("LANES_FAULTS is a number"))
}

/// xorshift64* (Vigna, 2014), reproducible.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % n
    }
}

/// Runs `operation` with one fault after the other, half of them spread over all of it, half among the last twentieth
/// of its steps, where results are put together and checked. The fault's lane is withheld or `right`. The other lanes
/// give what they do without a fault, but for `others` at most, which may be withheld: an entry of a table that
/// is disturbed when it is read goes into the lanes that pick it.
pub(crate) fn release_nothing_wrong<R: Debug + PartialEq>(
    name: &str,
    faults: u64,
    others: usize,
    operation: impl Fn() -> Results<R>,
    right: impl Fn(usize, &R) -> bool,
) {
    operation(); // Tables are made now, and not under a fault.
    let (undisturbed, steps) = fault::count(&operation);
    for (lane, result) in undisturbed.iter().enumerate() {
        let result = result.as_ref().expect("a result where there is no fault");
        assert!(
            right(lane, result),
            "{result:02x?} is wrong without a fault"
        );
    }
    let mut random = Random(1);
    let mut withheld = 0;
    for i in 0..faults {
        let late = steps / 20;
        let step = if i % 2 == 0 {
            (i * steps + random.below(steps)) / faults
        } else {
            steps - late + random.below(late)
        };
        let fault = Fault {
            step,
            lane: random.below(LANES as u64) as usize,
            bit: random.below(64) as u32,
        };
        let results = fault::inject(fault, &operation);
        let mut elsewhere = 0;
        for (lane, (result, undisturbed)) in results.iter().zip(&undisturbed).enumerate() {
            match result {
                Err(_) => {
                    withheld += 1;
                    elsewhere += usize::from(lane != fault.lane);
                }
                Ok(result) if lane == fault.lane => {
                    assert!(right(lane, result), "{fault:?} released {result:02x?}");
                }
                Ok(_) => assert_eq!(result, undisturbed, "{fault:?} reached lane {lane}"),
            }
        }
        assert!(
            elsewhere <= others,
            "{fault:?} reached {elsewhere} other lanes"
        );
    }
    println!(
        "{name}: {faults} faults among {steps} steps: {withheld} results withheld, none wrong"
    );
    assert!(withheld > 0, "no fault had an effect: the test cannot fail");
}

/// Where a fault is to be looked for that a check alone finds.
pub(crate) struct Aim {
    check: Check,
    steps: Steps,
    bits: Range<u32>,
    lanes: Range<usize>,
}

enum Steps {
    From(Range<u64>),
    These(Vec<u64>),
}

impl Aim {
    /// Anywhere in a range of steps.
    pub(crate) fn at(check: Check, steps: Range<u64>) -> Aim {
        assert!(!steps.is_empty(), "no step for {check:?}");
        Aim {
            check,
            steps: Steps::From(steps),
            bits: 0..52,
            lanes: 0..LANES,
        }
    }

    /// At some of these steps: those in the range.
    pub(crate) fn among(check: Check, steps: &[u64], range: Range<u64>) -> Aim {
        let steps = steps.iter().copied().filter(|step| range.contains(step));
        let steps: Vec<u64> = steps.collect();
        assert!(!steps.is_empty(), "no step for {check:?} in {range:?}");
        Aim {
            check,
            steps: Steps::These(steps),
            bits: 0..52,
            lanes: 0..LANES,
        }
    }

    /// With one of these bits flipped.
    pub(crate) fn bits(self, bits: Range<u32>) -> Aim {
        Aim { bits, ..self }
    }

    /// In the first lane alone, where an operation that is spread across the lanes has its result.
    pub(crate) fn in_first_lane(self) -> Aim {
        Aim {
            lanes: 0..1,
            ..self
        }
    }

    /// The fault to try as number `i`. Whatever their number, tries are spread over all of the steps: each is near the
    /// middle of a gap (the golden ratio's multiples).
    fn fault(&self, i: u64, random: &mut Random) -> Fault {
        let part = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(i + 1);
        let part = part.wrapping_add(random.below(1 << 60));
        let pick = |count: u64| ((u128::from(part) * u128::from(count)) >> 64) as u64;
        let step = match &self.steps {
            Steps::From(steps) => steps.start + pick(steps.end - steps.start),
            Steps::These(steps) => steps[pick(steps.len() as u64) as usize],
        };
        let bits = u64::from(self.bits.end - self.bits.start);
        Fault {
            step,
            lane: self.lanes.start + random.below(self.lanes.len() as u64) as usize,
            bit: self.bits.start + random.below(bits) as u32,
        }
    }
}

/// Shows of each check that it withholds what nothing else does.
///
/// `aims` says for each where it guards. There a fault is looked for that does harm while the check is left out; with
/// the check, the same fault must do none. So a check that is removed from the source, or that lets everything
/// pass, is found. `right` says whether a lane's result is right.
///
/// Harm is a wrong result; of [`Check::SharedInverse`], which mends what would be withheld, also a lane other than
/// the fault's without a result.
///
/// The operation has to make these checks and no others.
pub(crate) fn each_check_is_needed<R: Debug>(
    operation: impl Fn() -> Results<R>,
    right: impl Fn(usize, &R) -> bool,
    aims: impl Fn(&Trace) -> Vec<Aim>,
) {
    operation(); // Tables are made now, and not under a fault.
    let trace = fault::trace(&operation);
    let aims = aims(&trace);
    for (made, _) in &trace.checks {
        assert!(
            aims.iter().any(|aim| aim.check == *made),
            "{made:?} is made, and not tested"
        );
    }
    let harm = |check: Check, fault: Option<Fault>, results: &Results<R>| {
        let mut lanes = results.iter().enumerate();
        lanes.any(|(lane, result)| match result {
            Ok(result) => !right(lane, result),
            Err(_) => check == Check::SharedInverse && fault.is_some_and(|f| f.lane != lane),
        })
    };
    let mut random = Random(1);
    for aim in &aims {
        let check = aim.check;
        assert!(
            trace.checks.iter().any(|(made, _)| *made == check),
            "{check:?} is not made"
        );
        assert!(!harm(check, None, &operation()), "wrong without a fault");
        let found = (0..TRIES).find_map(|i| {
            let fault = aim.fault(i, &mut random);
            let results = fault::without(check, || fault::inject(fault, &operation));
            harm(check, Some(fault), &results).then_some((i, fault))
        });
        let (tries, fault) =
            found.unwrap_or_else(|| panic!("no fault does harm without {check:?}"));
        println!("{check:?}: harm without it after {} tries", tries + 1);
        let results = fault::inject(fault, &operation);
        assert!(
            !harm(check, Some(fault), &results),
            "{fault:?} does harm in spite of {check:?}"
        );
    }
}
