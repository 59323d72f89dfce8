//! What somebody who waits for a measurement is told.

/// Is told what happens while a measurement takes its time.
pub trait Listener {
    /// A measurement begins: so many steps of about the same length. It ends when the answer is dropped.
    fn begin(&self, steps: u64, what: &str) -> Box<dyn Progress>;

    /// Something that must be known at once, in words.
    fn note(&self, note: &str);
}

/// Is told how far a measurement is.
pub trait Progress {
    /// Names what is measured now.
    fn name(&mut self, name: &str);

    /// A step is done.
    fn step(&mut self);
}
