//! A program to be started.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{Error, Finished, OpenSsl, Process, cpu, find};

/// A program with its arguments; what to do with it is said last: [`Launch::start`],
/// [`Launch::finish`] or [`Launch::succeed`].
///
/// Every program gets its own process group and is sent SIGTERM when the thread that started it
/// ends, however that happens.
#[derive(Debug)]
pub struct Launch {
    name: String,
    command: Command,
    core: Option<usize>,
    limit: Duration,
}

impl Launch {
    /// A program by name.
    ///
    /// # Errors
    /// [`Error::Missing`].
    pub fn new(name: &str) -> Result<Self, Error> {
        Ok(Self::at(&find(name)?))
    }

    /// A program by path.
    pub fn at(path: &Path) -> Self {
        let mut command = Command::new(path);
        command
            .env_remove("OPENSSL_CONF")
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self {
            name: name.to_string_lossy().into_owned(),
            command,
            core: None,
            limit: Duration::from_secs(60),
        }
    }

    /// One argument more.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Several arguments more.
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    /// A variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The directory in which it runs.
    pub fn directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// A file as its standard input; nothing to read otherwise.
    pub fn input(mut self, input: File) -> Self {
        self.command.stdin(input);
        self
    }

    /// What its libcrypto reads; the system's own configuration otherwise.
    pub fn with(self, openssl: &OpenSsl) -> Self {
        let with = self.env("OPENSSL_CONF", openssl.configuration());
        let variables = openssl.variables();
        variables.fold(with, |launch, (name, value)| launch.env(name, value))
    }

    /// Holds it to one core.
    pub fn on(mut self, core: Option<usize>) -> Self {
        self.core = core;
        self
    }

    /// Runs it as another user; only root may.
    pub fn owned_by(mut self, user: u32, group: u32) -> Self {
        self.command.uid(user).gid(group);
        self
    }

    /// How long it may take (one minute otherwise).
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts a server that writes to a log.
    ///
    /// # Errors
    /// [`Error::Start`], [`Error::File`].
    pub fn start(mut self, log: &Path) -> Result<Process, Error> {
        let failed = Error::file("write", log);
        let file = File::options()
            .create(true)
            .append(true)
            .open(log)
            .map_err(&failed)?;
        self.command.stdout(file.try_clone().map_err(&failed)?);
        self.command.stderr(file);
        let id = self.spawn()?;
        Ok(Process::adopt(
            self.name,
            id,
            None,
            None,
            Some(log.to_owned()),
        ))
    }

    /// Starts a program whose output is kept in memory.
    ///
    /// # Errors
    /// [`Error::Start`].
    pub fn start_quietly(mut self) -> Result<Process, Error> {
        let in_memory =
            |name: &CStr| memory_file(name).and_then(|file| Ok((file.try_clone()?, file)));
        let failed = |source| Error::Start {
            program: self.name.clone(),
            source,
        };
        let (output, output_for_child) = in_memory(c"output").map_err(failed)?;
        let (errors, errors_for_child) = in_memory(c"errors").map_err(failed)?;
        self.command
            .stdout(output_for_child)
            .stderr(errors_for_child);
        let id = self.spawn()?;
        Ok(Process::adopt(
            self.name,
            id,
            Some(output),
            Some(errors),
            None,
        ))
    }

    /// Runs it to its end, whatever its status.
    ///
    /// # Errors
    /// [`Error::Start`], [`Error::TimedOut`].
    pub fn finish(self) -> Result<Finished, Error> {
        let limit = self.limit;
        self.start_quietly()?.finish(limit)
    }

    /// Runs it to its end, which must be a success.
    ///
    /// # Errors
    /// [`Error::Start`], [`Error::TimedOut`], [`Error::Failed`].
    pub fn succeed(self) -> Result<Finished, Error> {
        let name = self.name.clone();
        self.finish()?.successful(&name)
    }

    fn spawn(&mut self) -> Result<u32, Error> {
        let core = self.core;
        self.command.process_group(0);
        // SAFETY: between fork and exec only system calls are made; no lock, no heap.
        unsafe {
            self.command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) != 0 {
                    return Err(io::Error::last_os_error());
                }
                core.map_or(Ok(()), cpu::hold_to)
            });
        }
        // The handle may be dropped: `Process` waits by number, and asks for the CPU time as well.
        let child = self.command.spawn().map_err(|source| Error::Start {
            program: self.name.clone(),
            source,
        })?;
        Ok(child.id())
    }
}

/// A file without a name, so that a program can write as much as it likes and never waits for us.
fn memory_file(name: &CStr) -> io::Result<File> {
    // SAFETY: the name ends in NUL; the descriptor, if there is one, is new and ours alone.
    unsafe {
        let descriptor = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(File::from_raw_fd(descriptor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Launch {
        Launch::new("bash").unwrap().args(["-c", script])
    }

    #[test]
    fn output_status_and_cpu_time_come_back() {
        let finished = shell("echo out; echo err >&2; (for i in {1..20000}; do :; done); exit 3")
            .finish()
            .unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.output, "out\n");
        assert_eq!(finished.errors, "err\n");
        // The loop ran in a child: its time counts.
        assert!(
            finished.cpu > Duration::from_millis(2),
            "{:?}",
            finished.cpu
        );
    }

    #[test]
    fn failure_is_told_with_the_reason() {
        let error = shell("echo no such luck >&2; false").succeed().unwrap_err();
        assert!(error.to_string().contains("no such luck"), "{error}");
    }

    #[test]
    fn a_program_that_hangs_is_killed() {
        let error = shell("sleep 300").limit(Duration::from_secs(1)).finish();
        assert!(matches!(error, Err(Error::TimedOut { .. })), "{error:?}");
    }
}
