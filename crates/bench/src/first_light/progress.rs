//! How far it is, and how long it will still take.

use std::io::{IsTerminal, Write};
use std::time::Instant;

/// A line on standard error: rewritten on a terminal, otherwise one line for each workload.
pub(crate) struct Progress {
    /// Steps done, of how many.
    done: u32,
    steps: u32,
    start: Instant,
    terminal: bool,
    workload: String,
}

impl Progress {
    /// For so many steps of about the same length.
    pub(crate) fn new(steps: u32) -> Self {
        Self {
            done: 0,
            steps,
            start: Instant::now(),
            terminal: std::io::stderr().is_terminal(),
            workload: String::new(),
        }
    }

    /// Names what comes next.
    pub(crate) fn workload(&mut self, name: &str) {
        name.clone_into(&mut self.workload);
        if self.terminal {
            self.show();
        } else {
            eprintln!("{:>3} %  {}", self.percent(), self.workload);
        }
    }

    /// A step is done.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        if self.terminal {
            self.show();
        }
    }

    /// Everything is done: the line goes away.
    pub(crate) fn finish(&mut self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }

    fn show(&self) {
        eprint!(
            "\r\x1b[K{:>3} %  {}{}",
            self.percent(),
            self.workload,
            self.time_left()
        );
        // A terminal that has gone away is no reason to stop.
        let _ = std::io::stderr().flush();
    }

    fn percent(&self) -> u32 {
        (100 * self.done.min(self.steps)) / self.steps.max(1)
    }

    /// An estimate from the steps so far; empty until there are enough of them.
    fn time_left(&self) -> String {
        if self.done < 3 {
            return String::new();
        }
        let left = self.steps.saturating_sub(self.done);
        let seconds = self.start.elapsed().as_secs_f64() / f64::from(self.done) * f64::from(left);
        format!("  (about {seconds:.0} s left)")
    }
}
