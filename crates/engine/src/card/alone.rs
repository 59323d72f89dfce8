//! A request without company, on the thread that asks: across the lanes (path `wide`), with one lane filled, or on
//! path `scalar`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::{BreakEven, Kind, Output, Request};
use super::{stack, tables};
use crate::error::Result;
use crate::ledger::{self, Reason};
use crate::{Operation, Path};

/// Runs a request of that kind where one alone is fastest, and counts it; the reason is why it has no company.
pub(super) fn run(
    request: &Request,
    kind: Kind,
    break_even: &BreakEven,
    reason: Reason,
) -> Result<Output> {
    let path = match () {
        () if break_even.is_wide(kind) => Path::Wide,
        () if break_even.of_lanes(kind) == 1 => Path::Card,
        () => return scalar(request, Some(reason)),
    };
    let wide = path == Path::Wide;
    if !tables::pay(kind, wide) {
        // For now: that says nothing of the process.
        return scalar(request, None);
    }
    let started = Instant::now();
    let in_lanes = || match path {
        _ if !tables::build(kind, wide) => None,
        Path::Wide => request.across_lanes(),
        _ => Request::in_lanes(&[request]).pop()?,
    };
    let caught = || catch_unwind(AssertUnwindSafe(in_lanes)).ok().flatten();
    if let Some(Some(output)) = stack::on_own(caught) {
        ledger::record(request.operation(), path, 0, started.elapsed());
        return Ok(output);
    }
    scalar(request, Some(reason))
}

/// Runs a request on the scalar path, and counts it.
pub(super) fn scalar(request: &Request, reason: Option<Reason>) -> Result<Output> {
    let operation: Operation = request.operation();
    let started = Instant::now();
    let result = request.alone();
    match (&result, reason) {
        (Ok(_), reason) => {
            ledger::record(operation, Path::Scalar, 0, started.elapsed());
            if let Some(reason) = reason {
                ledger::fall_back(operation, reason);
            }
        }
        // It leaves this path as well, and for one reason.
        (Err(error), _) => ledger::fall_back(operation, (*error).into()),
    }
    result
}
