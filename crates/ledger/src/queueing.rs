//! What cards count: requests that were queued, and how long that took.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use outboard_operation::card;
use outboard_shared_memory::process;
use serde::{Serialize, Serializer};

use super::layout::{CardCell, QueueCell, Times};

/// What became of the requests that one card accepted, or all of a process of one kind.
///
/// Every accepted request is answered once: `accepted` is the sum of `in_lanes`, `one_by_one`,
/// `cancelled`, `returned`, and those that are pending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Queueing {
    /// Requests taken on.
    pub accepted: u64,
    /// Batches run in the lanes.
    pub batches: u64,
    /// Requests answered by them.
    pub in_lanes: u64,
    /// Requests run one by one: too few came together, or the lanes had no answer.
    pub one_by_one: u64,
    /// Requests that nobody wanted any more before they ran.
    pub cancelled: u64,
    /// Requests given back by a card that died, to be run by those who asked.
    pub returned: u64,
    /// Nanoseconds spent running them.
    pub busy_nanoseconds: u64,
    /// From asking to being run.
    pub wait: Histogram,
    /// From being run to the answer.
    pub service: Histogram,
}

impl Queueing {
    /// How many of the eight lanes were filled on average, where lanes were used at all.
    pub fn average_fill(&self) -> Option<f64> {
        (self.batches > 0).then(|| self.in_lanes as f64 / self.batches as f64)
    }

    /// Which share of the answered requests ran in lanes, from 0 to 1.
    pub fn share_in_lanes(&self) -> Option<f64> {
        let answered = self.in_lanes.saturating_add(self.one_by_one);
        (answered > 0).then(|| self.in_lanes as f64 / answered as f64)
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn combine(&mut self, other: &Self, with: fn(u64, u64) -> u64) {
        for (ours, theirs) in [
            (&mut self.accepted, other.accepted),
            (&mut self.batches, other.batches),
            (&mut self.in_lanes, other.in_lanes),
            (&mut self.one_by_one, other.one_by_one),
            (&mut self.cancelled, other.cancelled),
            (&mut self.returned, other.returned),
            (&mut self.busy_nanoseconds, other.busy_nanoseconds),
        ] {
            *ours = with(*ours, theirs);
        }
        for (ours, theirs) in [
            (&mut self.wait, &other.wait),
            (&mut self.service, &other.service),
        ] {
            for (ours, &theirs) in ours.0.iter_mut().zip(&theirs.0) {
                *ours = with(*ours, theirs);
            }
        }
    }

    pub(super) fn read(cell: &QueueCell) -> Self {
        Self {
            accepted: cell.accepted.load(Relaxed),
            batches: cell.batches.load(Relaxed),
            in_lanes: cell.in_lanes.load(Relaxed),
            one_by_one: cell.one_by_one.load(Relaxed),
            cancelled: cell.cancelled.load(Relaxed),
            returned: cell.returned.load(Relaxed),
            busy_nanoseconds: cell.busy.load(Relaxed),
            wait: Histogram::read(&cell.wait),
            service: Histogram::read(&cell.service),
        }
    }
}

/// How many times there were of about each length: two steps to a doubling, from half a microsecond to
/// eight seconds.
///
/// In JSON an object of nanoseconds: `{"count": …, "median": …, "p99": …}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram([u64; Histogram::STEPS]);

impl Histogram {
    /// How many steps there are.
    pub(super) const STEPS: usize = 48;
    /// What is shorter than this power of two, in nanoseconds, is in the first step.
    const SHORTEST: u32 = 9;

    /// The step that a time belongs to.
    fn step(time: Duration) -> usize {
        let nanoseconds = super::nanoseconds(time) | 1;
        let octave = nanoseconds.ilog2();
        if octave < Self::SHORTEST {
            return 0;
        }
        let upper_half = nanoseconds >> (octave - 1) & 1;
        let step = 2 * (octave - Self::SHORTEST) as usize + upper_half as usize;
        step.min(Self::STEPS - 1)
    }

    /// Where a step begins, in nanoseconds.
    fn beginning(step: usize) -> f64 {
        if step == 0 {
            return 0.0;
        }
        let octave = (1_u64 << (Self::SHORTEST as usize + step / 2)) as f64;
        octave * if step % 2 == 1 { 1.5 } else { 1.0 }
    }

    /// How many times there were.
    pub fn count(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The time that a `share` (0 to 1) of all were shorter than, to about a sixth; none where there
    /// were none.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let count = self.count();
        let wanted = share.clamp(0.0, 1.0) * count as f64;
        let mut before = 0.0;
        let mut last = None;
        for (step, &here) in self.0.iter().enumerate().filter(|(_, here)| **here > 0) {
            let here = here as f64;
            let within = ((wanted - before) / here).min(1.0);
            let (from, to) = (Self::beginning(step), Self::beginning(step + 1));
            last = Some(Duration::from_nanos((from + within * (to - from)) as u64));
            before += here;
            if before >= wanted {
                break;
            }
        }
        last
    }

    fn read(times: &Times) -> Self {
        Self(times.0.each_ref().map(|word| word.load(Relaxed)))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self([0; Self::STEPS])
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nanoseconds = |share| self.quantile(share).map(super::nanoseconds);
        serializer.collect_map([
            ("count", Some(self.count())),
            ("median", nanoseconds(0.5)),
            ("p99", nanoseconds(0.99)),
        ])
    }
}

/// A card of a process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    /// Its number in the process, from 0.
    pub id: usize,
    /// What its worker does.
    pub status: CardStatus,
    /// Requests accepted and not answered yet.
    pub pending: u64,
    /// How many requests of one kind may wait.
    pub depth: usize,
    /// When it was started.
    #[serde(skip)]
    pub started: SystemTime,
    /// Which share of the time since then it ran requests (a caller may run a full card's, too), from
    /// 0 to 1; of differences between two snapshots nothing is said.
    pub utilisation: Option<f64>,
    /// What it did.
    #[serde(flatten)]
    pub work: Queueing,
}

/// What a card's worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum CardStatus {
    /// It sleeps until there is something to do.
    Idle = 1,
    /// It runs a batch.
    Busy = 2,
    /// It died; the next request starts another.
    Died = 3,
    /// The provider was unloaded.
    Closed = 4,
    /// There is none: the process may start no thread, and callers run the batches.
    Callers = 5,
}

impl CardStatus {
    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Died => "died",
            Self::Closed => "closed",
            Self::Callers => "callers",
        }
    }

    fn parse(word: u64) -> Option<Self> {
        [
            Self::Idle,
            Self::Busy,
            Self::Died,
            Self::Closed,
            Self::Callers,
        ]
        .into_iter()
        .find(|status| *status as u64 == word)
    }
}

impl Card {
    /// The cards that a process ever started, as they are now; `booted` and `now` in nanoseconds since
    /// 1970.
    pub(super) fn read(cells: &[CardCell], booted: u64, now: u64) -> Vec<Self> {
        let card = |(id, cell): (usize, &CardCell)| {
            let started = booted.saturating_add(cell.started.load(Relaxed));
            let work = Queueing::read(&cell.work);
            let time = now.saturating_sub(started);
            let share = work.busy_nanoseconds as f64 / time.max(1) as f64;
            Some(Self {
                id,
                status: CardStatus::parse(cell.status.load(Relaxed))?,
                pending: cell.pending.load(Relaxed),
                depth: card::DEPTH,
                started: super::snapshot::time(started),
                utilisation: (time > 0).then_some(share.min(1.0)),
                work,
            })
        };
        cells.iter().enumerate().filter_map(card).collect()
    }
}

/// Where a card counts, of itself and of one kind of request. The relaxed additions of other counters.
#[derive(Clone, Copy)]
pub struct CardCounters {
    pub(super) card: &'static CardCell,
    pub(super) kind: &'static QueueCell,
}

impl CardCounters {
    /// The worker does that now.
    pub fn status(self, status: CardStatus) {
        self.card.status.store(status as u64, Relaxed);
        if self.card.started.load(Relaxed) == 0 {
            self.card.started.store(process::since_boot(), Relaxed);
        }
    }

    /// A request was accepted.
    pub fn accept(self) {
        self.card.pending.fetch_add(1, Relaxed);
        self.both(|cell| {
            cell.accepted.fetch_add(1, Relaxed);
        });
    }

    /// A request that was accepted is not.
    pub fn refuse(self) {
        self.card.pending.fetch_sub(1, Relaxed);
        self.both(|cell| {
            cell.accepted.fetch_sub(1, Relaxed);
        });
    }

    /// A request was cancelled before it ran.
    pub fn cancel(self) {
        self.card.pending.fetch_sub(1, Relaxed);
        self.both(|cell| {
            cell.cancelled.fetch_add(1, Relaxed);
        });
    }

    /// A request was given back.
    pub fn give_back(self) {
        self.card.pending.fetch_sub(1, Relaxed);
        self.both(|cell| {
            cell.returned.fetch_add(1, Relaxed);
        });
    }

    /// A request was answered, after it waited and was run for so long.
    pub fn answer(self, in_lanes: bool, wait: Duration, service: Duration) {
        self.card.pending.fetch_sub(1, Relaxed);
        self.both(|cell| {
            let count = if in_lanes {
                &cell.in_lanes
            } else {
                &cell.one_by_one
            };
            count.fetch_add(1, Relaxed);
            cell.wait.0[Histogram::step(wait)].fetch_add(1, Relaxed);
            cell.service.0[Histogram::step(service)].fetch_add(1, Relaxed);
        });
    }

    /// A batch was run for that long, in lanes or one by one.
    pub fn run(self, in_lanes: bool, time: Duration) {
        self.both(|cell| {
            cell.batches.fetch_add(u64::from(in_lanes), Relaxed);
            cell.busy.fetch_add(super::nanoseconds(time), Relaxed);
        });
    }

    fn both(self, count: impl Fn(&QueueCell)) {
        count(&self.card.work);
        count(self.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_a_step_that_holds_it() {
        for nanoseconds in (0..40).flat_map(|power| [0, 1, 3].map(|more| (1_u64 << power) + more)) {
            let step = Histogram::step(Duration::from_nanos(nanoseconds));
            assert!(
                Histogram::beginning(step) <= nanoseconds as f64,
                "{nanoseconds}"
            );
            if step < Histogram::STEPS - 1 {
                assert!(
                    (nanoseconds as f64) < Histogram::beginning(step + 1),
                    "{nanoseconds}"
                );
            }
        }
        let _ = Histogram::step(Duration::MAX);
    }

    #[test]
    fn quantiles_are_near() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for microseconds in 1..=1000 {
            histogram.0[Histogram::step(Duration::from_micros(microseconds))] += 1;
        }
        for (share, expected) in [(0.5, 500.0), (0.99, 990.0), (0.1, 100.0)] {
            let found = histogram
                .quantile(share)
                .expect("there are some")
                .as_secs_f64()
                * 1e6;
            assert!((found / expected - 1.0).abs() < 0.17, "{share}: {found}");
        }
    }

    #[test]
    fn any_file_can_be_read() {
        let mut histogram = Histogram([u64::MAX; Histogram::STEPS]);
        assert_eq!(histogram.count(), u64::MAX);
        let _ = histogram.quantile(0.5);
        histogram.0[0] = 1;
        let _ = histogram.quantile(f64::NAN);
    }
}
