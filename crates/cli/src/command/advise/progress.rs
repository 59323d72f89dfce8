//! How far a measurement is: a bar on a terminal, a few lines elsewhere.

use crate::output::remark;
use indicatif::{ProgressBar, ProgressStyle};
use outboard_advice::{Listener, Progress};

/// The user, on standard error.
pub(super) struct User;

impl Listener for User {
    fn begin(&self, steps: u64, what: &str) -> Box<dyn Progress> {
        Box::new(Bar::new(steps, what))
    }

    fn note(&self, note: &str) {
        remark(&format!("outboard: note: {note}"));
    }
}

struct Bar {
    bar: ProgressBar,
    /// Told so far, in quarters.
    told: u64,
}

impl Bar {
    /// For so many steps of about the same length.
    fn new(steps: u64, what: &str) -> Self {
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
}

impl Progress for Bar {
    fn name(&mut self, name: &str) {
        self.bar.set_message(name.to_owned());
    }

    fn step(&mut self) {
        self.bar.inc(1);
        let quarters = 4 * self.bar.position() / self.bar.length().unwrap_or(1).max(1);
        if self.bar.is_hidden() && quarters > self.told {
            self.told = quarters;
            remark(&format!("{:>3} %", 25 * quarters));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
