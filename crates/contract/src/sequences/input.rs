//! The bytes that a sequence is made of.

/// What is left of them; where nothing is left, zeros.
pub(super) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    /// A number below another, which is at most 256.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// One of them.
    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// One that is there, of slots some of which are empty.
    pub(super) fn filled<T: Copy>(&mut self, slots: &[Option<T>]) -> Option<T> {
        let filled: Vec<T> = slots.iter().flatten().copied().collect();
        (!filled.is_empty()).then(|| self.one(&filled))
    }

    /// True once in so many times.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        // Where the bytes have ended: no.
        self.below(times) == times - 1
    }
}
