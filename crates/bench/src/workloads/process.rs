//! A process that fills windows: a line of its input names a task and how long it lasts; the answer is how often it was done, and
//! in how many nanoseconds.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use outboard_programs::cpu_time_of;

use crate::Failure;

/// The process. It ends with its input.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// What a window was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// How often the task was done.
    pub(super) count: u64,
    /// In how many seconds.
    pub(super) elapsed: f64,
    /// The process's own.
    pub(super) cpu: f64,
}

impl Process {
    pub(super) fn start(mut command: Command) -> Result<Self, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = |what| format!("the process has no {what}");
        Ok(Self {
            input: Some(child.stdin.take().ok_or_else(|| pipe("input"))?),
            output: BufReader::new(child.stdout.take().ok_or_else(|| pipe("output"))?),
            child,
        })
    }

    /// Lets it do what the line says.
    pub(super) fn run(&mut self, line: &str) -> Result<Window, Failure> {
        let cpu = || cpu_time_of(self.child.id()).unwrap_or_default();
        let before = cpu();
        let input = self.input.as_mut().ok_or("the process has ended")?;
        writeln!(input, "{line}")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        let cpu = cpu_time_of(self.child.id())
            .unwrap_or_default()
            .saturating_sub(before);
        let (count, elapsed) = answer
            .trim_end()
            .split_once(' ')
            .ok_or("a process of the measurement failed (its reason is above)")?;
        Ok(Window {
            count: count.parse()?,
            elapsed: elapsed.parse::<f64>()? * 1e-9,
            cpu: cpu.as_secs_f64(),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without its input it ends; if it does not, because it hangs, it is killed.
        drop(self.input.take());
        let ends = Instant::now() + Duration::from_secs(5);
        while Instant::now() < ends {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
