//! Pairs, their medians, and how far a measurement is.

use crate::output::remark;
use indicatif::{ProgressBar, ProgressStyle};

/// The middle of some numbers; `None` if there is none.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[half]),
        _ => Some(f64::midpoint(values[half - 1], values[half])),
    }
}

/// Runs two contenders next to each other, each first in its turn; `pair` counts the turns.
///
/// # Errors
/// The first of either.
pub(super) fn alternate<T, E>(
    pair: u32,
    mut reference: impl FnMut() -> Result<T, E>,
    mut subject: impl FnMut() -> Result<T, E>,
) -> Result<(T, T), E> {
    if pair.is_multiple_of(2) {
        let first = reference()?;
        Ok((first, subject()?))
    } else {
        let first = subject()?;
        Ok((reference()?, first))
    }
}

/// How far it is: a bar on a terminal, a few lines elsewhere.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Told so far, in quarters.
    told: u64,
}

impl Progress {
    /// For so many steps of about the same length.
    pub(super) fn new(steps: u64, what: &str) -> Self {
        let bar = ProgressBar::new(steps); // drawn on standard error, and only on a terminal
        if bar.is_hidden() {
            remark(what);
        }
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta:>4} left  {msg}")
            .expect("invariant: the template is well formed");
        Self {
            bar: bar.with_style(style),
            told: 0,
        }
    }

    /// Names what is measured now.
    pub(super) fn name(&self, name: &str) {
        self.bar.set_message(name.to_owned());
    }

    /// A step is done.
    pub(super) fn step(&mut self) {
        self.bar.inc(1);
        let quarters = 4 * self.bar.position() / self.bar.length().unwrap_or(1).max(1);
        if self.bar.is_hidden() && quarters > self.told {
            self.told = quarters;
            remark(&format!("{:>3} %", 25 * quarters));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_does_not_move_the_median() {
        assert_eq!(median([1.0, 100.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(median([]), None);
    }

    #[test]
    fn each_is_first_in_its_turn() {
        use std::cell::RefCell;
        let order = RefCell::new(String::new());
        let run = |name: &'static str| {
            order.borrow_mut().push_str(name);
            Ok::<_, ()>(name)
        };
        for pair in 0..2 {
            assert_eq!(alternate(pair, || run("r"), || run("s")), Ok(("r", "s")));
        }
        assert_eq!(order.into_inner(), "rssr");
    }
}
