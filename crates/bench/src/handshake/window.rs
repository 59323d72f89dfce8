//! What some connections took.

use std::time::Duration;

use outboard_stopwatch::{Counted, Phase};

/// For one connection, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// In the order of [`Phase::ALL`].
    pub(super) phases: [f64; Phase::ALL.len()],
    /// Calls of functions, likewise.
    pub(super) calls: [f64; Phase::ALL.len()],
    /// All CPU time of the server; none where the client is in the same process.
    pub(super) cpu: Option<f64>,
}

type Counts = [Counted; Phase::ALL.len()];

impl Window {
    /// From what the sheet and the clock said before and after so many connections.
    pub(super) fn new(
        connections: u64,
        (before, after): (&Counts, &Counts),
        nanoseconds: f64,
        cpu: Option<Duration>,
    ) -> Self {
        let each = |total: f64| total / connections.max(1) as f64;
        let of = |number: fn(&Counted) -> u64| {
            let pairs = std::array::from_fn(|i| (number(&after[i]), number(&before[i])));
            pairs.map(|(after, before): (u64, u64)| each(after.saturating_sub(before) as f64))
        };
        Self {
            phases: of(|counted| counted.ticks).map(|ticks| ticks * nanoseconds),
            calls: of(|counted| counted.calls),
            cpu: cpu.map(|cpu| each(cpu.as_nanos() as f64)),
        }
    }

    /// All that libssl did, without the network.
    pub(super) fn inside(&self) -> f64 {
        let network = self.phases[Phase::Network as usize];
        self.phases.iter().sum::<f64>() - network
    }

    /// CPU time outside libssl: the program's own, and the kernel's but for [`Phase::Network`].
    pub(super) fn outside(&self) -> f64 {
        let inside: f64 = self.phases.iter().sum();
        (self.total() - inside).max(0.0)
    }

    /// What the connection cost: CPU time, or where there is none, what libssl did.
    pub(super) fn total(&self) -> f64 {
        self.cpu.unwrap_or_else(|| self.inside())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_of_one_connection() {
        let before = [Counted::default(); Phase::ALL.len()];
        let mut after = before;
        after[Phase::Signature as usize] = Counted {
            ticks: 600,
            calls: 20,
        };
        after[Phase::Network as usize] = Counted {
            ticks: 100,
            calls: 40,
        };
        let window = Window::new(10, (&before, &after), 0.5, Some(Duration::from_nanos(900)));
        assert_eq!(window.phases[Phase::Signature as usize], 30.0);
        assert_eq!(window.calls[Phase::Network as usize], 4.0);
        assert_eq!((window.inside(), window.total()), (30.0, 90.0));
        assert_eq!(window.outside(), 55.0);
    }
}
