//! The part of the work that Outboard does, and the part that it would also do.

use super::report::Row;
use outboard_observation::sum;
use serde::Serialize;

/// What Outboard would do, or does.
#[derive(Serialize)]
pub struct Acceleration {
    /// The time that Outboard spent, where it is switched on.
    pub done_nanoseconds: u64,
    /// The time of work that it would do too.
    pub possible_nanoseconds: u64,
    /// What that would save if each operation came alone, as far as it was measured; none where the profile
    /// was not measured.
    pub saved_nanoseconds: Option<u64>,
    /// The time that it would save if operations that can share the lanes came eight at once. None if there are no such
    /// operations.
    pub saved_in_company_nanoseconds: Option<u64>,
}

impl Acceleration {
    pub(crate) fn of(rows: &[Row]) -> Self {
        let possible = rows.iter().filter_map(|row| Some((row, row.saving?)));
        let measured = possible
            .clone()
            .filter_map(|(_, saving)| saving.nanoseconds);
        let is_measured = measured.clone().next().is_some() || possible.clone().next().is_none();
        let in_company = possible
            .clone()
            .filter_map(|(_, saving)| saving.in_company_nanoseconds.or(saving.nanoseconds));
        let can_share = possible
            .clone()
            .any(|(_, saving)| saving.in_company_nanoseconds.is_some());
        Self {
            done_nanoseconds: sum(rows
                .iter()
                .filter(|row| row.work.implementation == "outboard")
                .map(|row| row.work.nanoseconds)),
            possible_nanoseconds: sum(possible.map(|(row, _)| row.work.nanoseconds)),
            saved_nanoseconds: is_measured.then(|| sum(measured)),
            saved_in_company_nanoseconds: can_share.then(|| sum(in_company)),
        }
    }
}
