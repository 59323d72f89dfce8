//! Statistics of few measurements: medians, quartiles, and intervals of ratios.

pub use outboard_measure::statistics::{bootstrap, median, quartiles};

use crate::result::{Better, Ratio};

/// How sure an interval is meant to be.
const CONFIDENCE: f64 = 0.95;

/// How many times as good as the baseline, from pairs of neighbours in time (baseline, other).
///
/// `None` where nothing is better or worse, or a pair has no ratio (a zero on either side).
pub fn ratio(baseline: &str, better: Better, pairs: &[(f64, f64)]) -> Option<Ratio> {
    let times_as_good = |&(baseline, other): &(f64, f64)| match better {
        Better::Lower => Some(baseline / other),
        Better::Higher => Some(other / baseline),
        Better::Neither => None,
    };
    let ratios: Vec<f64> = pairs.iter().map(times_as_good).collect::<Option<_>>()?;
    if ratios.is_empty()
        || ratios
            .iter()
            .any(|ratio| !ratio.is_finite() || *ratio <= 0.0)
    {
        return None;
    }
    let (low, high) = bootstrap(&ratios, CONFIDENCE);
    Some(Ratio {
        baseline: baseline.to_owned(),
        median: median(&ratios),
        low,
        high,
    })
}

/// The least of the values that so large a part of them does not exceed (nearest rank): 0.99 for p99. Not a number where
/// there are none.
pub fn percentile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() as f64 * part).ceil() as usize;
    let value = values.get(rank.saturating_sub(1));
    value.copied().unwrap_or(f64::NAN)
}

/// Six digits that count: more would be noise, and would make files that differ for nothing.
pub fn rounded(value: f64) -> f64 {
    // A number printed by the standard library can be read by it.
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_one_is_better_whichever_way_is_good() {
        let pairs = [(2.0, 1.0), (4.0, 2.0), (90.0, 1.0)];
        let lower = ratio("stock", Better::Lower, &pairs).unwrap();
        assert_eq!((lower.median, lower.baseline.as_str()), (2.0, "stock"));
        assert!(lower.low <= 2.0 && lower.high >= 2.0);
        assert_eq!(ratio("stock", Better::Higher, &pairs).unwrap().median, 0.5);
        assert_eq!(ratio("stock", Better::Neither, &pairs), None);
    }

    #[test]
    fn zeros_have_no_ratio() {
        assert_eq!(ratio("stock", Better::Lower, &[(1.0, 0.0)]), None);
        assert_eq!(ratio("stock", Better::Lower, &[(0.0, 1.0)]), None);
        assert_eq!(ratio("stock", Better::Lower, &[]), None);
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(percentile(values.clone(), 0.5), 100.0);
        assert_eq!(percentile(values, 0.99), 198.0);
        assert_eq!(percentile(vec![7.0], 0.99), 7.0);
        assert!(percentile(Vec::new(), 0.99).is_nan());
    }

    #[test]
    fn six_digits_remain() {
        assert_eq!(rounded(1_234_567.89), 1_234_570.0);
        assert_eq!(rounded(0.000_123_456_78), 0.000_123_457);
        assert_eq!(rounded(0.0), 0.0);
    }
}
