//! What a process has met, each by a number of its own: filled from any thread, and never emptied.
//!
//! No lock, which a fork in another thread would leave locked in the child; and a thread that ends in the midst of it
//! leaves nothing half done.

use once_cell::race::OnceBox;

/// Room for so many values, each of which gets a number.
pub(crate) struct Numbered<T, const SIZE: usize>([OnceBox<T>; SIZE]);

impl<T, const SIZE: usize> Numbered<T, SIZE> {
    pub(crate) const fn new() -> Self {
        Self([const { OnceBox::new() }; SIZE])
    }

    /// The value of that number.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        self.0.get(number)?.get()
    }

    /// The number of a value like this, if there is one already; else a new one, which the value is told before
    /// anybody can see it. Numbers are sought from `first` on; none if all are taken.
    ///
    /// What two threads bring at once is entered once, if both seek from the same number on.
    pub(crate) fn enter(
        &self,
        first: usize,
        value: T,
        is_like: impl Fn(&T, &T) -> bool,
        tell: impl Fn(&mut T, usize),
    ) -> Option<usize> {
        let mut value = Box::new(value);
        for number in (first..first + SIZE).map(|number| number % SIZE) {
            if self.get(number).is_none() {
                tell(&mut value, number);
                match self.0[number].set(value) {
                    Ok(()) => return Some(number),
                    Err(ours) => value = ours,
                }
            }
            if self.get(number).is_some_and(|known| is_like(known, &value)) {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const SIZE: usize = 64;

    /// Many threads bring the same values, more than there is room for.
    #[test]
    fn each_value_has_one_number() {
        for _ in 0..50 {
            let table = Numbered::<(usize, usize), SIZE>::new();
            let enter = |value: usize| {
                let is_like = |known: &(usize, usize), own: &(usize, usize)| known.0 == own.0;
                table.enter(value % 3, (value, SIZE), is_like, |own, number| {
                    own.1 = number
                })
            };
            let found: Vec<Vec<Option<usize>>> = thread::scope(|scope| {
                let threads: Vec<_> = (0..8)
                    .map(|_| scope.spawn(|| (0..2 * SIZE).map(enter).collect()))
                    .collect();
                let found = threads.into_iter().map(|thread| thread.join());
                found.map(|found| found.expect("no panic")).collect()
            });
            for (value, number) in found[0].iter().enumerate() {
                assert!(found.iter().all(|others| others[value] == *number));
                if let Some(number) = *number {
                    assert_eq!(table.get(number), Some(&(value, number)));
                }
            }
            assert_eq!(found[0].iter().flatten().count(), SIZE);
            assert_eq!(table.get(SIZE), None);
        }
    }
}
