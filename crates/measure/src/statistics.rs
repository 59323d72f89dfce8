//! Order statistics: what noise cannot move.

/// The value that the fraction `p` (0 to 1) of the sorted values lie below, interpolated linearly
/// between neighbours (Hyndman and Fan's seventh definition, R's and NumPy's default).
///
/// # Panics
/// Where there is no value, or `p` is not a fraction.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    assert!(
        !sorted.is_empty() && (0.0..=1.0).contains(&p),
        "a fraction of at least one value"
    );
    let position = p * (sorted.len() - 1) as f64;
    let below = position.floor();
    let index = below as usize;
    let next = sorted[(index + 1).min(sorted.len() - 1)];
    sorted[index] + (position - below) * (next - sorted[index])
}

/// The median of values in any order.
pub fn median(values: &[f64]) -> f64 {
    quantile(&sorted(values), 0.5)
}

/// A copy in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// First quartile, median, third quartile.
pub fn quartiles(values: &[f64]) -> (f64, f64, f64) {
    let sorted = sorted(values);
    (
        quantile(&sorted, 0.25),
        quantile(&sorted, 0.5),
        quantile(&sorted, 0.75),
    )
}

/// The interval that holds the median with the given confidence (0 to 1), by resampling with
/// replacement (the percentile bootstrap). The same values always give the same interval.
pub fn bootstrap(values: &[f64], confidence: f64) -> (f64, f64) {
    const RESAMPLES: usize = 1000;
    let mut random = SplitMix64(0x6f75_7462_6f61_7264);
    let mut resample = vec![0.0; values.len()];
    let medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            for slot in &mut resample {
                *slot = values[random.below(values.len())];
            }
            resample.sort_by(f64::total_cmp);
            quantile(&resample, 0.5)
        })
        .collect();
    let medians = sorted(&medians);
    let tail = (1.0 - confidence) / 2.0;
    (quantile(&medians, tail), quantile(&medians, 1.0 - tail))
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; the bias of 2^-64 × `bound` is far below what can be seen.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_numpy() {
        // numpy.quantile([15, 20, 35, 40, 50], [0.25, 0.4, 0.5, 0.75])
        let values = [15.0, 20.0, 35.0, 40.0, 50.0];
        assert_eq!(quantile(&values, 0.25), 20.0);
        assert!((quantile(&values, 0.4) - 29.0).abs() < 1e-9);
        assert_eq!(quantile(&values, 0.5), 35.0);
        assert_eq!(quartiles(&values), (20.0, 35.0, 40.0));
        assert_eq!(
            (quantile(&values, 0.0), quantile(&values, 1.0)),
            (15.0, 50.0)
        );
    }

    #[test]
    fn medians_need_no_order_and_ignore_outliers() {
        assert_eq!(median(&[3.0, 1e9, 1.0, 2.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
    }

    #[test]
    fn splitmix_gives_its_published_sequence() {
        // The reference implementation's first outputs for the seed 1234567.
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn bootstrap_intervals_hold_the_median_and_narrow_with_more_values() {
        let few: Vec<f64> = (0..20).map(|i| f64::from(i % 10)).collect();
        let many: Vec<f64> = (0..2000).map(|i| f64::from(i % 10)).collect();
        let (low, high) = bootstrap(&few, 0.95);
        assert!(
            low <= 4.5 && 4.5 <= high && high - low < 9.0,
            "{low} {high}"
        );
        let (narrow_low, narrow_high) = bootstrap(&many, 0.95);
        assert!(narrow_high - narrow_low < high - low);
        assert_eq!(bootstrap(&few, 0.95), (low, high));
    }
}
