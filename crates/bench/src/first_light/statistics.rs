//! Medians of pairs.

use std::time::Duration;

/// What pairs of neighbouring measurements say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Compared {
    /// Median CPU time of stock.
    pub(super) stock: Duration,
    /// Median CPU time with Outboard.
    pub(super) outboard: Duration,
    /// Median of the pairs' ratios stock / Outboard: above 1, Outboard wins.
    pub(super) ratio: f64,
    /// The smallest of the pairs' ratios.
    pub(super) low: f64,
    /// The largest of the pairs' ratios.
    pub(super) high: f64,
}

/// Compares pairs of (stock, Outboard).
///
/// # Panics
/// If there is none.
pub(super) fn compare(pairs: &[(Duration, Duration)]) -> Compared {
    let ratios = sorted(pairs.iter().map(|(stock, outboard)| {
        stock.as_secs_f64() / outboard.as_secs_f64().max(f64::MIN_POSITIVE)
    }));
    let seconds = |of: fn(&(Duration, Duration)) -> Duration| {
        Duration::from_secs_f64(median(&sorted(
            pairs.iter().map(|pair| of(pair).as_secs_f64()),
        )))
    };
    Compared {
        stock: seconds(|pair| pair.0),
        outboard: seconds(|pair| pair.1),
        ratio: median(&ratios),
        low: ratios[0],
        high: ratios[ratios.len() - 1],
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle of sorted values; between the two middle ones where their number is even.
fn median(sorted: &[f64]) -> f64 {
    assert!(!sorted.is_empty(), "at least one measurement");
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_does_not_move_the_median() {
        let ms = Duration::from_millis;
        let pairs = [(ms(20), ms(10)), (ms(22), ms(11)), (ms(400), ms(10))];
        let compared = compare(&pairs);
        assert_eq!(compared.stock, ms(22));
        assert_eq!(compared.outboard, ms(10));
        assert!((compared.ratio - 2.0).abs() < 1e-9);
        assert!((compared.high - 40.0).abs() < 1e-9);
    }

    #[test]
    fn an_even_number_has_its_median_between() {
        assert!((median(&[1.0, 2.0, 4.0, 9.0]) - 3.0).abs() < 1e-9);
    }
}
