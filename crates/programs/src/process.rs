//! A running program, and what is known of it when it has ended.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::tree::{self, kill_tree};
use crate::{Error, PATIENCE, cleanup};

/// A program that ran to its end.
#[derive(Debug)]
pub struct Finished {
    /// Exit status or signal.
    pub status: ExitStatus,
    /// User and system time of the program and of the descendants that it waited for.
    pub cpu: Duration,
    /// Of these, the time in user mode: the kernel's division of `cpu`, which it samples.
    pub user: Duration,
    /// Of these, the time in the kernel.
    pub system: Duration,
    /// From start to end.
    pub wall: Duration,
    /// What it wrote to standard output.
    pub output: String,
    /// What it wrote to standard error.
    pub errors: String,
}

/// How a program ended, and the CPU time that it took.
#[derive(Clone, Copy, Debug)]
struct Ended {
    status: ExitStatus,
    user: Duration,
    system: Duration,
}

/// A running program; killed with all its descendants when dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    id: u32,
    started: Instant,
    /// Set once it was waited for; from then on `id` may belong to another.
    ended: Option<Ended>,
    output: Option<File>,
    errors: Option<File>,
    log: Option<PathBuf>,
}

impl Process {
    /// Takes charge of a child that nobody else waits for.
    pub(crate) fn adopt(
        name: String,
        id: u32,
        output: Option<File>,
        errors: Option<File>,
        log: Option<PathBuf>,
    ) -> Self {
        cleanup::register_process(id);
        Self {
            name,
            id,
            started: Instant::now(),
            ended: None,
            output,
            errors,
            log,
        }
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.ended.is_none() && !self.reap(libc::WNOHANG)
    }

    /// Sends a signal.
    pub fn signal(&mut self, signal: i32) {
        if self.is_running() {
            tree::signal(self.id, signal);
        }
    }

    /// Waits until it answers on 127.0.0.1:`port`.
    ///
    /// # Errors
    /// [`Error::Failed`] if it ends instead, [`Error::TimedOut`] after [`PATIENCE`].
    pub fn wait_for_port(&mut self, port: u16) -> Result<(), Error> {
        self.wait_until("to answer", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        })
    }

    /// Waits until something is so; `doing` says what it is waited for to do.
    pub(crate) fn wait_until(
        &mut self,
        doing: &'static str,
        mut is_so: impl FnMut() -> bool,
    ) -> Result<(), Error> {
        let start = Instant::now();
        while !is_so() {
            if !self.is_running() {
                return Err(self.failed());
            }
            if start.elapsed() > PATIENCE {
                return Err(self.timed_out(doing, PATIENCE));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Waits until it has no descendants: until the last connection's process has ended and its CPU
    /// time has been handed up.
    ///
    /// # Errors
    /// [`Error::TimedOut`] after [`PATIENCE`].
    pub fn wait_for_children(&mut self) -> Result<(), Error> {
        let limit = PATIENCE;
        let start = Instant::now();
        while !tree::descendants(self.id).is_empty() {
            if start.elapsed() > limit {
                return Err(self.timed_out("to finish its connections", limit));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Asks it to end (SIGTERM) and waits.
    ///
    /// # Errors
    /// [`Error::TimedOut`] after [`PATIENCE`]; it is then killed.
    pub fn stop(mut self) -> Result<Finished, Error> {
        self.signal(libc::SIGTERM);
        self.finish(PATIENCE)
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// [`Error::TimedOut`] if it runs on for `limit` from now; it is then killed.
    pub fn finish(mut self, limit: Duration) -> Result<Finished, Error> {
        let start = Instant::now();
        while !self.reap(libc::WNOHANG) {
            if start.elapsed() > limit {
                return Err(self.timed_out("to end", limit));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let ended = self.ended.expect("just reaped");
        Ok(Finished {
            status: ended.status,
            cpu: ended.user + ended.system,
            user: ended.user,
            system: ended.system,
            wall: self.started.elapsed(),
            output: contents(self.output.take()),
            errors: contents(self.errors.take()),
        })
    }

    fn failed(&mut self) -> Error {
        let status = match self.ended {
            Some(ended) => ended.status.to_string(),
            None => "still running".into(),
        };
        Error::Failed {
            program: self.name.clone(),
            status,
            errors: self.said(),
        }
    }

    fn timed_out(&mut self, doing: &'static str, limit: Duration) -> Error {
        Error::TimedOut {
            program: self.name.clone(),
            doing,
            limit,
            errors: self.said(),
        }
    }

    /// The end of what it wrote, for an error's reader.
    fn said(&mut self) -> String {
        let text = match &self.log {
            Some(log) => read_lossy(log),
            None => contents(self.errors.take()),
        };
        tail(&text)
    }

    /// Whether it has ended; waits for that unless `WNOHANG` is among the options.
    fn reap(&mut self, options: libc::c_int) -> bool {
        if self.ended.is_some() {
            return true;
        }
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both pointers are to live variables; `id` is our own child, not yet waited for.
        // An all-zeros `rusage` is a value, should the call not fill it.
        let (result, usage) = unsafe {
            let id = self.id as libc::pid_t;
            let result = libc::wait4(id, &mut status, options, usage.as_mut_ptr());
            (result, usage.assume_init())
        };
        match result {
            0 => false,
            -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {
                false
            }
            _ => {
                self.ended = Some(Ended {
                    status: ExitStatus::from_raw(status),
                    user: duration(usage.ru_utime),
                    system: duration(usage.ru_stime),
                });
                cleanup::forget_process(self.id);
                true
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.is_running() {
            kill_tree(self.id);
            while !self.reap(0) {}
        }
    }
}

impl Finished {
    /// Itself, if the program succeeded.
    ///
    /// # Errors
    /// [`Error::Failed`] otherwise.
    pub fn successful(self, program: &str) -> Result<Self, Error> {
        if self.status.success() {
            return Ok(self);
        }
        Err(Error::Failed {
            program: program.to_owned(),
            status: self.status.to_string(),
            errors: tail(&self.errors),
        })
    }
}

/// The last lines of a text.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

pub(crate) fn read_lossy(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

fn contents(file: Option<File>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut file) = file {
        // A file in memory: neither call has a reason to fail, and an empty text is no loss.
        let _ = file.seek(SeekFrom::Start(0));
        let _ = file.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_micros(time.tv_usec.unsigned_abs())
}
