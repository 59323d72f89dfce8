//! Runs a program so that the program does not notice it: the program gets the signals that are meant for it,
//! and its exit status is passed on. After the program's end, signals are for this command again.

use crate::Failure;
use crate::output::complain;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpgrp, kill_process, set_child_subreaper, wait,
};
use signal_hook::consts::signal::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals that ask a program to do something, and that would otherwise end this command.
const FORWARDED: &[i32] = &[SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Its exit status, as a shell reports it: 128 + n if signal n ended it.
    pub(crate) status: u8,
    /// Whether processes that it started, and left, still run.
    pub(crate) left_processes: bool,
}

impl End {
    /// The exit status of this command: the program's status, unless the program succeeded and the report on it failed.
    pub(crate) fn exit_code(self, report: Result<(), Failure>) -> ExitCode {
        if let Err(failure) = report {
            complain(&failure.to_string());
            if self.status == 0 {
                return ExitCode::FAILURE;
            }
        }
        ExitCode::from(self.status)
    }
}

/// Starts `command`, forwards signals to it, and waits for it.
///
/// # Errors
/// The exit status, if the program cannot be started. The reason goes to standard error.
pub(crate) fn supervise(command: &mut Command) -> Result<End, ExitCode> {
    wait_upon(command).map_err(|error| {
        let program = command.get_program().display();
        complain(&format!("cannot run {program}: {error}"));
        // As env(1), nice(1) and timeout(1) say it.
        ExitCode::from(match error.kind() {
            io::ErrorKind::NotFound => 127,
            _ => 126,
        })
    })
}

fn wait_upon(command: &mut Command) -> io::Result<End> {
    // Processes that a program leaves behind become our children, so that we know whether there are any.
    set_child_subreaper(Pid::from_raw(1))?;
    let ignored = ignored_signals();
    if is_in(ignored, SIGCHLD) {
        notice_children(command);
    }
    let forwarded = FORWARDED.iter().filter(|&&signal| !is_in(ignored, signal));
    // After the program has ended, Ctrl-C must end this command's own work.
    let ended = Arc::new(AtomicBool::new(false));
    for &signal in forwarded.clone() {
        register_conditional_default(signal, Arc::clone(&ended))?;
    }
    let mut signals = SignalsInfo::<WithOrigin>::new(forwarded)?;

    let child = command.spawn()?;
    let child = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .expect("invariant: a process has a positive id");

    let handle = signals.handle();
    let forwarder = std::thread::spawn(move || {
        for origin in signals.forever() {
            // The kernel sends the signal of Ctrl-C to the terminal's process group: to the child too, unless
            // the child has left our group (timeout(1), setsid(1)).
            let has_it = origin.cause == Cause::Kernel && getpgid(Some(child)) == Ok(getpgrp());
            if let Some(signal) = Signal::from_named_raw(origin.signal).filter(|_| !has_it) {
                // It may have ended just now.
                let _ = kill_process(child, signal);
            }
        }
    });
    let status = wait_for(child)?;
    ended.store(true, Ordering::Relaxed);
    handle.close();
    // It neither panics nor waits for anything but the handle.
    let _ = forwarder.join();
    Ok(End {
        status,
        left_processes: any_child_left(),
    })
}

/// Waits for the child, and collects every orphan that ends before.
///
/// Not by `waitpid(None, …)`, which waits for children in our own process group only: a program may leave that
/// group (setpgid(2), setsid(2)).
fn wait_for(child: Pid) -> io::Result<u8> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => {
                let code = status
                    .exit_status()
                    .or(status.terminating_signal().map(|n| 128 + n));
                return Ok(code
                    .and_then(|code| u8::try_from(code).ok())
                    .unwrap_or(u8::MAX));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether a process that the program left still runs; collects those that do not.
fn any_child_left() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(None) => return true,
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Lets this process wait for its children although it was started to ignore SIGCHLD, which loses their exit
/// status (wait(2)). The program itself ignores the signal, as it would without us.
fn notice_children(command: &mut Command) {
    // SAFETY: SIG_DFL is a valid disposition; no handler of ours is replaced.
    unsafe { libc::signal(SIGCHLD, libc::SIG_DFL) };
    let ignore = || {
        // SAFETY: SIG_IGN is a valid disposition.
        unsafe { libc::signal(SIGCHLD, libc::SIG_IGN) };
        Ok(())
    };
    // SAFETY: between fork and exec, signal(2) alone is called, which is async-signal-safe.
    unsafe { command.pre_exec(ignore) };
}

/// The signals that this process was started to ignore (nohup(1)), as a set of bits. The program must ignore
/// them too, which it would not if a handler was installed here.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .unwrap_or(0)
}

fn is_in(set: u64, signal: i32) -> bool {
    set >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read() {
        // Rust's own runtime ignores SIGPIPE; SIGKILL cannot be ignored, and hangups may be (nohup).
        let ignored = ignored_signals();
        assert!(is_in(ignored, signal_hook::consts::SIGPIPE));
        assert!(!is_in(ignored, signal_hook::consts::SIGKILL));
    }
}
