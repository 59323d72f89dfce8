//! Users who trade at the same time, each as fast as the server answers.

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use outboard_programs::hold_to;

use super::user::User;
use crate::Failure;

/// What some time of trading brought.
#[derive(Clone, Debug, Default)]
pub(super) struct Trades {
    /// So many transactions had a handshake.
    pub(super) handshakes: u64,
    /// How long each transaction took its user, in seconds: the handshake, if there was one, the request and the answer.
    pub(super) responses: Vec<f64>,
    /// From the first to the last.
    pub(super) wall: Duration,
}

/// How long users trade.
#[derive(Clone, Copy, Debug)]
pub(super) enum Length {
    /// Each user finishes the transaction that it has begun, and does at least one.
    Time(Duration),
    /// So many transactions of each user.
    Transactions(usize),
}

/// Lets users trade for that long.
///
/// # Errors
/// If any transaction fails: a server that answers wrongly has no figure.
pub(super) fn trade(
    users: &mut [User],
    port: u16,
    length: Length,
    core: Option<usize>,
) -> Result<Trades, Failure> {
    let all = Mutex::new(Trades::default());
    let failed: Mutex<Option<io::Error>> = Mutex::new(None);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for user in users {
            let (all, failed) = (&all, &failed);
            scope.spawn(move || {
                let mut work = || -> io::Result<Trades> {
                    core.map_or(Ok(()), hold_to)?;
                    let mut mine = Trades::default();
                    while length.goes_on(mine.responses.len(), start) {
                        let begun = Instant::now();
                        mine.handshakes += u64::from(user.act(port)?);
                        mine.responses.push(begun.elapsed().as_secs_f64());
                    }
                    Ok(mine)
                };
                match work() {
                    Ok(mine) => {
                        let mut all = all.lock().unwrap_or_else(|e| e.into_inner());
                        all.handshakes += mine.handshakes;
                        all.responses.extend(mine.responses);
                    }
                    Err(error) => {
                        let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
                        failed.get_or_insert(error);
                    }
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(format!("a transaction at 127.0.0.1:{port} failed: {error}").into());
    }
    let mut all = all.into_inner().unwrap_or_else(|e| e.into_inner());
    all.wall = start.elapsed();
    Ok(all)
}

impl Length {
    /// Whether a user who has done so many transactions does another one.
    fn goes_on(self, done: usize, start: Instant) -> bool {
        match self {
            Self::Time(time) => done == 0 || start.elapsed() < time,
            Self::Transactions(number) => done < number,
        }
    }
}
