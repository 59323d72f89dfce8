//! Which clients asked in the last milliseconds: whether a short wait is worth it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::gate::lock;

/// How long a client that asked counts.
const RECENT: Duration = Duration::from_millis(4);
/// More clients than fill the lanes twice need not be told apart.
const PLACES: usize = 16;

/// The clients that asked last.
#[derive(Default)]
pub(crate) struct Company(Mutex<Vec<(u64, Instant)>>);

impl Company {
    /// A client asked.
    pub(crate) fn saw(&self, client: u64) {
        let (mut seen, now) = (lock(&self.0), Instant::now());
        seen.retain(|&(other, when)| other != client && now - when < RECENT);
        if seen.len() == PLACES {
            seen.remove(0);
        }
        seen.push((client, now));
    }

    /// How many clients asked in the last milliseconds.
    pub(crate) fn count(&self) -> usize {
        let (seen, now) = (lock(&self.0), Instant::now());
        seen.iter()
            .filter(|&&(_, when)| now.saturating_duration_since(when) < RECENT)
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_counts_once_and_not_for_long() {
        let company = Company::default();
        company.saw(1);
        company.saw(1);
        assert!(company.count() <= 1);
        for client in 0..100 {
            company.saw(client);
        }
        assert!(company.count() <= PLACES);
        std::thread::sleep(2 * RECENT);
        assert_eq!(company.count(), 0);
    }
}
