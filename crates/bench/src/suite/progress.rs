//! How far it is, and how long it will still take.

use std::io::{IsTerminal, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A part of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What is done: "scp, aes128-gcm".
    pub name: String,
    /// How long it takes, about, in seconds.
    pub seconds: f64,
}

impl Step {
    /// A step that takes about so many seconds.
    pub fn new(name: impl Into<String>, seconds: f64) -> Self {
        Self {
            name: name.into(),
            seconds,
        }
    }
}

/// A line on standard error: rewritten on a terminal, otherwise one line for each step.
#[derive(Debug)]
pub struct Progress {
    workload: &'static str,
    step: Option<Step>,
    /// Of the present step, 0 to 1.
    fraction: f64,
    /// Estimated seconds of the steps that are done.
    done: f64,
    /// Estimated seconds of all steps, done ones included.
    total: f64,
    began: Instant,
    terminal: bool,
}

impl Progress {
    /// For steps that take so many seconds together, about.
    pub fn new(total: f64) -> Self {
        Self {
            workload: "",
            step: None,
            fraction: 0.0,
            done: 0.0,
            total: total.max(1e-3),
            began: Instant::now(),
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Begins a workload.
    pub(super) fn workload(&mut self, name: &'static str) {
        self.end_step();
        self.workload = name;
    }

    /// Begins a step; the one before is done.
    pub(super) fn step(&mut self, step: Step) {
        self.end_step();
        self.step = Some(step);
        if self.terminal {
            self.show();
        } else {
            eprintln!("{}", self.line());
        }
    }

    /// A step that does not report its progress. Its planned time stands for the progress.
    pub(super) fn pass<T: Send>(&mut self, step: Step, work: impl FnOnce() -> T + Send) -> T {
        const TICK: Duration = Duration::from_millis(500);
        let seconds = step.seconds.max(1e-3);
        self.step(step);
        let began = Instant::now();
        std::thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                // Dropped at the work's end, however it ends.
                let _done = done;
                work()
            });
            while is_done.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
                self.fraction((began.elapsed().as_secs_f64() / seconds).min(0.99));
            }
            match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// How much of the step is done, 0 to 1.
    pub(super) fn fraction(&mut self, fraction: f64) {
        self.fraction = fraction.clamp(0.0, 1.0);
        if self.terminal {
            self.show();
        }
    }

    /// A workload that ended early leaves steps out.
    pub(super) fn leave_out(&mut self, seconds: f64) {
        self.end_step();
        self.total = (self.total - seconds).max(self.done).max(1e-3);
    }

    /// The line goes away.
    pub(super) fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }

    fn end_step(&mut self) {
        self.done += self.step.take().map_or(0.0, |step| step.seconds);
        self.fraction = 0.0;
    }

    fn show(&self) {
        eprint!("\r\x1b[K{}", self.line());
        // A terminal that has gone away is no reason to stop.
        let _ = std::io::stderr().flush();
    }

    fn line(&self) -> String {
        let (name, seconds) = match &self.step {
            Some(step) => (step.name.as_str(), step.seconds),
            None => ("", 0.0),
        };
        let done = (self.done + self.fraction * seconds).min(self.total);
        let elapsed = self.began.elapsed().as_secs_f64();
        format!(
            "{:>3.0} %  {}: {name}  (about {} left)",
            100.0 * done / self.total,
            self.workload,
            duration(left(done, self.total, elapsed)),
        )
    }
}

/// The remaining seconds: the planned time, corrected by the pace so far once there is one.
fn left(done: f64, total: f64, elapsed: f64) -> f64 {
    /// Seconds of the plan that weigh as much as the plan itself does in the pace.
    const PATIENCE: f64 = 5.0;
    let pace = (elapsed + PATIENCE) / (done + PATIENCE);
    (total - done) * pace
}

/// "45 s", "3 min".
fn duration(seconds: f64) -> String {
    if seconds < 100.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", (seconds / 60.0).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_pace() {
        assert!((left(0.0, 60.0, 0.0) - 60.0).abs() < 1e-9);
        // Half done in twice the time.
        assert!((left(30.0, 60.0, 60.0) - 30.0 * 65.0 / 35.0).abs() < 1e-9);
        assert_eq!(left(60.0, 60.0, 70.0), 0.0);
        assert_eq!(
            (duration(44.6), duration(150.0)),
            ("45 s".into(), "3 min".into())
        );
    }

    #[test]
    fn what_passes_gives_its_result() {
        let mut progress = Progress::new(2.0);
        progress.workload("calibrating");
        assert_eq!(progress.pass(Step::new("all", 1.0), || 42), 42);
        progress.step(Step::new("next", 1.0));
        assert!(progress.line().starts_with(" 50 %"), "{}", progress.line());
    }

    #[test]
    fn steps_add_up() {
        let mut progress = Progress::new(10.0);
        progress.workload("speed");
        progress.step(Step::new("a", 4.0));
        progress.step(Step::new("b", 4.0));
        progress.fraction(0.5);
        assert!(
            progress.line().starts_with(" 60 %  speed: b"),
            "{}",
            progress.line()
        );
        progress.leave_out(2.0);
        assert!(progress.line().starts_with("100 %"), "{}", progress.line());
    }
}
