//! Contenders that take turns, and the median of what they took.

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
