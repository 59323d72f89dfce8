//! The fuzzer's bytes, taken one after the other.

/// What is left of them. After the last one there are zeros.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl Input<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (used, left) = self.0.split_at(N.min(self.0.len()));
        self.0 = left;
        core::array::from_fn(|i| used.get(i).copied().unwrap_or(0))
    }
}
