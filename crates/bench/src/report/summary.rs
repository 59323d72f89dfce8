//! What the results say in ten seconds: the gains, their number, and what got slower.

use super::cases::{Case, cards, cases, is_gain, measure_name, setup_name};
use super::then::pairings;
use crate::reference::{digits, times};
use crate::result::{Better, ResultFile, Row, least_difference};

/// Less than this is no difference to speak of.
const MEANINGFUL: f64 = 0.02;

/// All results, in short.
pub(super) struct Summary {
    /// The best of each workload that gained, the largest systems first.
    pub(super) headlines: Vec<Headline>,
    pub(super) tally: Tally,
    /// What got slower, worst first: one line for all measures of one thing.
    pub(super) slower: Vec<String>,
    /// What must not be believed, and why.
    pub(super) invalid: Vec<String>,
    /// What did not run to its end.
    pub(super) incomplete: Vec<String>,
}

/// One workload's best.
pub(super) struct Headline {
    /// "tls".
    pub(super) workload: String,
    /// "4.6".
    pub(super) ratio: String,
    /// "as many full handshakes".
    pub(super) gain: String,
    /// "nginx, rsa-4096".
    pub(super) case: String,
    /// "All 24 comparisons: 0.99 to 4.6 ×, the middle one 1.8 ×".
    pub(super) spread: String,
    /// "1.9 to 32 ×, 2005 and 2013".
    pub(super) published: Option<String>,
}

/// How many comparisons of Outboard with stock ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) faster: usize,
    pub(super) same: usize,
    pub(super) slower: usize,
    pub(super) invalid: usize,
}

impl Tally {
    pub(super) fn all(self) -> usize {
        self.faster + self.same + self.slower + self.invalid
    }
}

/// How a comparison ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Faster,
    Same,
    Slower,
}

/// The interval decides. If it contains 1, or if the difference is less than 2 %, there is no difference. With too few
/// pairs for an interval, a larger difference is needed.
pub(super) fn verdict(row: &Row) -> Verdict {
    let meaningful = 1.0 + least_difference(row.samples).max(MEANINGFUL);
    match &row.ratio {
        Some(ratio) if ratio.low > 1.0 && ratio.median > meaningful => Verdict::Faster,
        Some(ratio) if ratio.high < 1.0 && ratio.median < 1.0 / meaningful => Verdict::Slower,
        _ => Verdict::Same,
    }
}

pub(super) fn summary(files: &[ResultFile]) -> Summary {
    let mut tally = Tally::default();
    let mut slower: Vec<(String, Vec<(f64, &str)>)> = Vec::new();
    let mut invalid = Vec::new();
    for file in files {
        for case in file.tables.iter().flat_map(cases) {
            for row in &case.rows {
                if let Some(reason) = &row.invalid {
                    invalid.push(format!("{}: {reason}", named(file, &case, row)));
                }
                if !counts(&case, row) {
                    continue;
                }
                match verdict(row) {
                    _ if row.invalid.is_some() => tally.invalid += 1,
                    Verdict::Faster => tally.faster += 1,
                    Verdict::Same => tally.same += 1,
                    Verdict::Slower => {
                        tally.slower += 1;
                        let ratio = row.ratio.as_ref().map_or(1.0, |ratio| ratio.median);
                        let place = place(file, &case, row);
                        let loss = (ratio, measure_name(case.measure()));
                        match slower.iter_mut().find(|(known, _)| *known == place) {
                            Some((_, losses)) => losses.push(loss),
                            None => slower.push((place, vec![loss])),
                        }
                    }
                }
            }
        }
    }
    for (_, losses) in &mut slower {
        losses.sort_by(|left, right| left.0.total_cmp(&right.0));
    }
    slower.sort_by(|left, right| left.1[0].0.total_cmp(&right.1[0].0));
    let in_words = |(place, losses): (String, Vec<(f64, &str)>)| {
        let losses = losses.iter();
        let losses = losses.map(|(ratio, measure)| format!("{measure} {}", times(*ratio)));
        format!("{place}: {}", losses.collect::<Vec<_>>().join(", "))
    };
    let mut ordered: Vec<&ResultFile> = files.iter().collect();
    ordered.sort_by_key(|file| {
        let largest_first = [
            "tls", "java", "trading", "service", "ssh", "steady", "rampup", "cards", "speed",
            "layers", "pq",
        ];
        let place = largest_first.iter().position(|name| *name == file.workload);
        place.unwrap_or(largest_first.len())
    });
    Summary {
        headlines: files.iter().filter_map(headline).collect(),
        tally,
        slower: slower.into_iter().map(in_words).collect(),
        invalid,
        incomplete: files.iter().filter_map(incomplete).collect(),
    }
}

/// Whether a row is a comparison of Outboard with stock, like with like. Not what one end alone does to the other's
/// time where both ends were measured, nor cards on further cores, nor the parts of a sum.
fn counts(case: &Case<'_>, row: &Row) -> bool {
    let one_end = matches!(row.setup.as_str(), "client" | "server");
    is_gain(row)
        && !(one_end && case.row("both").is_some())
        && cards(&row.setup).is_none_or(|cards| cards == 1)
        && matches!(row.label("held"), "" | "all")
}

/// What a workload is about, of all that it measures; most telling first.
const LEADING: [&str; 4] = ["handshakes", "user", "server CPU", "rate"];

/// "ssh, scp, aes128-gcm, Outboard at the client: client CPU".
fn named(file: &ResultFile, case: &Case<'_>, row: &Row) -> String {
    format!(
        "{}: {}",
        place(file, case, row),
        measure_name(case.measure())
    )
}

/// "ssh, scp, aes128-gcm, Outboard at the client".
fn place(file: &ResultFile, case: &Case<'_>, row: &Row) -> String {
    let setup = match row.setup.as_str() {
        "outboard" => String::new(),
        setup => format!(", {}", setup_name(setup)),
    };
    // Tables of one file may have the same labels.
    let table = match file.tables.as_slice() {
        [_] => String::new(),
        _ => format!("{}, ", case.table.name),
    };
    format!("{}, {table}{}{setup}", file.workload, case.label())
}

fn incomplete(file: &ResultFile) -> Option<String> {
    match &file.failure {
        Some(failure) => Some(format!("{} failed: {failure}", file.workload)),
        None if !file.complete => Some(format!("{} was interrupted", file.workload)),
        None => None,
    }
}

fn headline(file: &ResultFile) -> Option<Headline> {
    let all: Vec<Case<'_>> = file.tables.iter().flat_map(cases).collect();
    let mut gains: Vec<(&Case<'_>, &Row)> = all
        .iter()
        .flat_map(|case| case.rows.iter().map(move |row| (case, *row)))
        .filter(|(case, row)| counts(case, row) && row.invalid.is_none())
        // What a card does with public keys is the other half of a table, not what it is for.
        .filter(|(case, _)| case.table.name != "public")
        .collect();
    let is_there = |measure: &&str| gains.iter().any(|(case, _)| case.measure() == *measure);
    if let Some(leading) = LEADING.into_iter().find(is_there) {
        gains.retain(|(case, _)| case.measure() == leading);
    }
    let median = |row: &Row| row.ratio.as_ref().map_or(1.0, |ratio| ratio.median);
    gains.sort_by(|left, right| median(left.1).total_cmp(&median(right.1)));
    // The best is the one that is surely good, not the one with the luckiest median.
    let sure = |row: &Row| row.ratio.as_ref().map_or(0.0, |ratio| ratio.low);
    let (case, best) = gains
        .iter()
        .filter(|(_, row)| verdict(row) == Verdict::Faster)
        .max_by(|left, right| sure(left.1).total_cmp(&sure(right.1)))?;
    let worst = median(gains.first()?.1);
    let most = median(gains.last()?.1);
    let middle = median(gains[gains.len() / 2].1);
    let published: Vec<_> = pairings(file)
        .into_iter()
        .filter(|pairing| pairing.ours.iter().any(|ours| ours.ratio == median(best)))
        .flat_map(|pairing| pairing.published)
        .collect();
    Some(Headline {
        workload: file.workload.clone(),
        ratio: digits(median(best)),
        gain: gain_in_words(case),
        case: match best.setup.as_str() {
            "outboard" => case.label(),
            setup => format!("{}, {}", case.label(), setup_name(setup)),
        },
        spread: match gains.len() {
            1 => String::new(),
            count if digits(worst) == digits(most) => {
                format!("The same in all {count} comparisons")
            }
            2 => format!("Both comparisons: {}", span(worst, most)),
            count => format!(
                "All {count} comparisons: {}, the middle one {}",
                span(worst, most),
                times(middle)
            ),
        },
        published: (!published.is_empty()).then(|| {
            let (ratios, years) = range(&published);
            format!("Published: {ratios} ({years})")
        }),
    })
}

/// The span of published ratios and of the years: "5.2 to 16 ×", "2005, 2013".
pub(super) fn range(gains: &[&crate::reference::Gain]) -> (String, String) {
    let low = gains
        .iter()
        .map(|gain| gain.ratio)
        .fold(f64::INFINITY, f64::min);
    let high = gains.iter().map(|gain| gain.ratio).fold(0.0, f64::max);
    let mut years: Vec<u16> = gains.iter().map(|gain| gain.source.year).collect();
    years.sort_unstable();
    years.dedup();
    let years: Vec<String> = years.iter().map(u16::to_string).collect();
    (span(low, high), years.join(", "))
}

/// "5.2 to 16 ×", or one figure where both read the same.
pub(super) fn span(low: f64, high: f64) -> String {
    if digits(low) == digits(high) {
        times(high)
    } else {
        format!("{} to {}", digits(low), times(high))
    }
}

/// What is so many times as good.
fn gain_in_words(case: &Case<'_>) -> String {
    let measure = measure_name(case.measure());
    match (case.better(), case.unit()) {
        (Better::Higher, "1/s") => format!("as many {measure} per second"),
        (Better::Higher, _) => format!("the {measure}"),
        _ => format!("lower {measure}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::result::Ratio;

    fn row(median: f64, low: f64, high: f64) -> Row {
        Row {
            labels: BTreeMap::new(),
            measure: "rate".to_owned(),
            unit: "1/s".to_owned(),
            better: Better::Higher,
            setup: "outboard".to_owned(),
            samples: 9,
            median: 1.0,
            low: 1.0,
            high: 1.0,
            ratio: Some(Ratio {
                baseline: "stock".to_owned(),
                median,
                low,
                high,
            }),
            proof: None,
            invalid: None,
        }
    }

    #[test]
    fn the_interval_decides_and_little_is_nothing() {
        assert_eq!(verdict(&row(1.5, 1.4, 1.6)), Verdict::Faster);
        assert_eq!(verdict(&row(1.5, 0.9, 2.0)), Verdict::Same);
        assert_eq!(verdict(&row(1.01, 1.005, 1.02)), Verdict::Same);
        assert_eq!(verdict(&row(0.99, 0.985, 0.995)), Verdict::Same);
        assert_eq!(verdict(&row(0.9, 0.8, 0.95)), Verdict::Slower);
        assert_eq!(verdict(&row(0.9, 0.8, 1.05)), Verdict::Same);
        let few = |ratio| Row {
            samples: 3,
            ..row(ratio, ratio, ratio)
        };
        assert_eq!(verdict(&few(0.87)), Verdict::Same);
        assert_eq!(verdict(&few(0.8)), Verdict::Slower);
        assert_eq!(verdict(&few(1.2)), Verdict::Faster);
        let one = |ratio| Row {
            samples: 1,
            ..few(ratio)
        };
        assert_eq!(verdict(&one(0.75)), Verdict::Same);
        assert_eq!(verdict(&one(2.0)), Verdict::Faster);
    }

    #[test]
    fn spans_say_no_more_than_they_know() {
        assert_eq!(span(1.0, 4.6), "1.00 to 4.6\u{a0}×");
        assert_eq!(span(2.71, 2.74), "2.7\u{a0}×");
    }
}
