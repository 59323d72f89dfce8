//! Single keys from a terminal while a listing refreshes itself.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The terminal's keys, one by one and unseen, until this is dropped; no keys where there is no terminal.
pub(crate) struct Keys {
    before: Option<Termios>,
    /// Set by the signals that end this command: the terminal must be put back first.
    ended: Arc<AtomicBool>,
}

impl Keys {
    /// Asks the terminal of standard input for single keys, if standard output is a terminal too and this
    /// command runs in the foreground.
    pub(crate) fn new() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let before = single_keys().filter(|_| {
            [SIGHUP, SIGINT, SIGTERM]
                .iter()
                .all(|&signal| signal_hook::flag::register(signal, Arc::clone(&ended)).is_ok())
        });
        Self { before, ended }
    }

    /// Whether there are any.
    pub(crate) fn are_there(&self) -> bool {
        self.before.is_some()
    }

    /// Waits; calls `pressed` for each key. Answers false once the user wants to quit.
    pub(crate) fn wait(&self, interval: Duration, mut pressed: impl FnMut(u8)) -> bool {
        if !self.are_there() {
            std::thread::sleep(interval);
            return true;
        }
        let end = Instant::now() + interval;
        loop {
            if self.ended.load(Ordering::Relaxed) {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            match key(left) {
                Some(b'q' | b'Q' | 4) => return false,
                Some(key) => pressed(key),
                None => {}
            }
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Nothing useful is left to do when even this fails.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

fn single_keys() -> Option<Termios> {
    if !isatty(io::stdin()) || !isatty(io::stdout()) {
        return None;
    }
    // In the background the terminal would stop this command for asking.
    if tcgetpgrp(io::stdin()).ok()? != rustix::process::getpgrp() {
        return None;
    }
    let before = tcgetattr(io::stdin()).ok()?;
    let mut single = before.clone();
    single.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    tcsetattr(io::stdin(), OptionalActions::Now, &single).ok()?;
    Some(before)
}

/// The next key, if one is pressed in time and no signal comes.
fn key(left: Duration) -> Option<u8> {
    let stdin = io::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    let left = Timespec::try_from(left).ok()?;
    if poll(&mut ready, Some(&left)).ok()? == 0 {
        return None;
    }
    let mut key = [0];
    match rustix::io::read(&stdin, &mut key) {
        Ok(1) => Some(key[0]),
        // The terminal is gone.
        Ok(_) => Some(4),
        Err(_) => None,
    }
}
