//! Sockets that take a while to close, perhaps for ever (see [`crate::visitor`]): each is closed on a thread that does nothing else.
//!
//! A thread that is done takes the next one. What is not closed yet counts as a connection of its user ([`of_user`]), so nobody
//! can make many threads wait.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Condvar, LazyLock, Mutex};
use std::time::Duration;

use crate::gate::lock;

/// How long a thread waits for the next socket.
const PATIENCE: Duration = Duration::from_secs(10);
/// A thread's stack: it makes a system call.
const STACK: usize = 128 * 1024;

#[derive(Default)]
struct Closing {
    waiting: VecDeque<(u32, OwnedFd)>,
    /// How many threads wait for one.
    idle: usize,
    /// How many sockets of each user are not closed yet.
    open: HashMap<u32, usize>,
}

static CLOSING: LazyLock<Mutex<Closing>> = LazyLock::new(Mutex::default);
static MORE: Condvar = Condvar::new();

/// Closes that socket of that user, soon.
pub(crate) fn close(uid: u32, socket: OwnedFd) {
    let mut closing = lock(&CLOSING);
    closing.waiting.push_back((uid, socket));
    *closing.open.entry(uid).or_default() += 1;
    if closing.waiting.len() <= closing.idle {
        return MORE.notify_one();
    }
    drop(closing);
    let thread = std::thread::Builder::new().name("closing".into());
    // Where there can be no further thread, one that is done closes it.
    let _ = thread.stack_size(STACK).spawn(work);
}

/// How many sockets of that user are not closed yet.
pub(crate) fn of_user(uid: u32) -> usize {
    lock(&CLOSING).open.get(&uid).copied().unwrap_or_default()
}

fn work() {
    let mut closing = lock(&CLOSING);
    loop {
        while let Some((uid, socket)) = closing.waiting.pop_front() {
            drop(closing);
            drop(socket);
            closing = lock(&CLOSING);
            if let Some(open) = closing.open.get_mut(&uid) {
                *open -= 1;
                if *open == 0 {
                    closing.open.remove(&uid);
                }
            }
        }
        closing.idle += 1;
        let is_empty = |closing: &mut Closing| closing.waiting.is_empty();
        let waited = MORE.wait_timeout_while(closing, PATIENCE, is_empty);
        let timeout;
        (closing, timeout) = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        closing.idle -= 1;
        if timeout.timed_out() && closing.waiting.is_empty() {
            return;
        }
    }
}
