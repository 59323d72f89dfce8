//! The order that follows from costs. Costs that the measurements cannot tell apart count as equal.

/// The cost of one candidate: the median of its measurements, and their range.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    middle: f64,
    low: f64,
    high: f64,
}

/// The least ratio that counts. Nobody gains from a smaller difference, even if it is real.
const SAME: f64 = 1.08;

/// The assumed error of a single measurement, in either direction. Measurements of one second each on a busy machine lie
/// about so far from their median.
const ASSUMED: f64 = 0.25;

/// The least number of measurements that shows the scatter.
const ENOUGH: usize = 3;

impl Measured {
    /// From the median and the range of the measurements. With too few measurements, the range is a quarter to either
    /// side.
    pub(super) fn new(middle: f64, scatter: Option<[f64; 2]>) -> Self {
        let [low, high] = scatter.unwrap_or([middle * (1.0 - ASSUMED), middle * (1.0 + ASSUMED)]);
        // The median may lie outside the range, for example if it is a sum of two medians (client and server). A document
        // may also contain anything. With the median in the range, no candidate beats itself.
        Self {
            middle,
            low: low.min(middle),
            high: high.max(middle),
        }
    }

    /// Whether it is cheaper by more than chance: each of its measurements is below each of the other's, and the
    /// medians differ enough. This relation is transitive.
    fn beats(&self, other: &Self) -> bool {
        self.high < other.low && self.middle * SAME < other.middle
    }
}

/// The lowest and the highest of some measurements, if there are enough of them.
pub(super) fn scatter(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let mut count = 0;
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    for value in values {
        count += 1;
        range = [range[0].min(value), range[1].max(value)];
    }
    (count >= ENOUGH).then_some(range)
}

/// Candidates in order, and the candidates whose place does not follow from their cost.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order<N> {
    pub(super) names: Vec<N>,
    /// Groups of neighbours in which each cost counts as equal to the next.
    pub(super) ties: Vec<Vec<N>>,
}

/// The order of `names`, except that a candidate comes before each candidate that it beats. Candidates without a
/// measurement come last.
pub(super) fn by_cost<N: Clone>(
    names: Vec<N>,
    measured: impl Fn(&N) -> Option<Measured>,
) -> Order<N> {
    let (mut waiting, mut unmeasured) = (Vec::new(), Vec::new());
    for name in names {
        match measured(&name) {
            Some(measured) => waiting.push((measured, name)),
            None => unmeasured.push(name),
        }
    }
    let mut placed: Vec<(Measured, N)> = Vec::new();
    while !waiting.is_empty() {
        // The first candidate, unless another beats it. Then the first candidate that beats it and is not beaten itself.
        // There is one, because `beats` is transitive and no candidate beats itself.
        let mut next = 0;
        while let Some(better) = waiting.iter().position(|(m, _)| m.beats(&waiting[next].0)) {
            next = better;
        }
        placed.push(waiting.remove(next));
    }
    let ties = placed
        .chunk_by(|(a, _), (b, _)| !a.beats(b))
        .filter(|alike| alike.len() > 1)
        .map(|alike| alike.iter().map(|(_, name)| name.clone()).collect())
        .collect();
    let placed = placed.into_iter().map(|(_, name)| name);
    Order {
        names: placed.chain(unmeasured).collect(),
        ties,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Name, median, least, most.
    type Made = (&'static str, f64, [f64; 2]);

    fn order(made: &[Made]) -> (String, Vec<String>) {
        let order = by_cost(made.to_vec(), |(_, middle, scatter)| {
            Some(Measured::new(*middle, Some(*scatter)))
        });
        let list = |names: &[Made]| names.iter().map(|(name, ..)| *name).collect::<String>();
        let ties = order.ties.iter().map(|names| list(names)).collect();
        (list(&order.names), ties)
    }

    fn told(order: &str, ties: &[&str]) -> (String, Vec<String>) {
        let ties = ties.iter().map(|&names| names.to_owned()).collect();
        (order.to_owned(), ties)
    }

    #[test]
    fn what_beats_another_comes_before_it() {
        let made = [
            ("c", 3.0, [2.9, 3.1]),
            ("a", 1.0, [0.9, 1.1]),
            ("b", 2.0, [1.9, 2.1]),
        ];
        assert_eq!(order(&made), told("abc", &[]));
    }

    #[test]
    fn what_scatter_covers_changes_no_order() {
        // However it falls out: the medians say this and that, the scatter says nothing.
        for (a, b) in [(1.0, 1.6), (1.6, 1.0)] {
            let made = [("a", a, [0.8, 1.9]), ("b", b, [0.9, 1.8])];
            assert_eq!(order(&made), told("ab", &["ab"]));
        }
        // A real but tiny difference does not count either.
        let made = [("a", 1.05, [1.04, 1.06]), ("b", 1.0, [0.99, 1.01])];
        assert_eq!(order(&made), told("ab", &["ab"]));
    }

    /// One measurement that was disturbed, among clear ones.
    #[test]
    fn one_that_cannot_be_told_hinders_no_other() {
        let made = [
            ("wide", 2.0, [0.5, 9.0]),
            ("slow", 3.0, [2.9, 3.1]),
            ("fast", 1.0, [0.9, 1.1]),
        ];
        let (order, ties) = order(&made);
        assert_eq!(order, "widefastslow");
        assert_eq!(ties, ["widefast"]);
    }

    /// Only the third beats the first. So the third comes before the first, and thereby before the second.
    #[test]
    fn who_goes_before_another_passes_those_between() {
        let made = [
            ("a", 2.0, [1.6, 2.4]),
            ("b", 1.5, [1.2, 1.8]),
            ("c", 1.0, [0.9, 1.3]),
        ];
        assert_eq!(order(&made), told("cab", &["ab"]));
    }

    #[test]
    fn few_measurements_show_no_scatter() {
        assert_eq!(scatter([1.0, 2.0]), None);
        assert_eq!(scatter([2.0, 1.0, 3.0]), Some([1.0, 3.0]));
        let one = |middle| Measured::new(middle, None);
        // 1.25 · 1.0 against 0.75 · 1.66, and 0.75 · 1.67.
        assert!(!one(1.0).beats(&one(1.66)));
        assert!(one(1.0).beats(&one(1.67)));
    }

    #[test]
    fn the_median_is_a_measurement_too() {
        let one = |middle, scatter| Measured::new(middle, Some(scatter));
        let odd = one(2.0, [3.0, 4.0]);
        assert!(one(1.0, [0.9, 1.9]).beats(&odd));
        assert!(!one(1.0, [0.9, 2.5]).beats(&odd));
        let odd = one(2.0, [0.5, 1.0]);
        assert!(!odd.beats(&one(3.0, [1.5, 3.1])));
        assert!(odd.beats(&one(3.0, [2.5, 3.1])));
    }

    #[test]
    fn what_was_not_measured_comes_last() {
        let cost = |name: &&str| match *name {
            "a" | "b" => None,
            _ => Some(Measured::new(1.0, None)),
        };
        let order = by_cost(vec!["a", "c", "b", "d"], cost);
        assert_eq!(order.names, ["c", "d", "a", "b"]);
        assert_eq!(order.ties, [["c", "d"]]);
    }

    /// Whatever a document says of its measurements.
    #[test]
    fn nonsense_ends() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1.0];
        let mut made = Vec::new();
        for low in odd {
            for high in odd {
                made.extend(odd.map(|middle| ("x", middle, [low, high])));
            }
        }
        assert_eq!(order(&made).0.len(), made.len());
    }
    proptest! {
        #[test]
        fn nobody_stands_behind_whom_it_beats(
            made in prop::collection::vec((0.5_f64..4.0, 0.0_f64..0.6), 0..9)
        ) {
            let measured = |&at: &usize| {
                let (middle, scatter) = made[at];
                Some(Measured::new(middle, Some([middle * (1.0 - scatter), middle * (1.0 + scatter)])))
            };
            let beats = |a: usize, b: usize| measured(&a).unwrap().beats(&measured(&b).unwrap());
            let order = by_cost((0..made.len()).collect(), measured).names;
            for (at, &first) in order.iter().enumerate() {
                for &second in &order[at + 1..] {
                    prop_assert!(!beats(second, first), "{order:?}");
                }
            }
            // Without a reason nothing moves.
            let is_any_beaten = order.iter().any(|&a| order.iter().any(|&b| beats(a, b)));
            prop_assert!(is_any_beaten || order.is_sorted());
        }
    }
}
