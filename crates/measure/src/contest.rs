//! Contenders taking turns.

use std::time::Duration;

use crate::Result;
use crate::clock::{Elapsed, Instant};
use crate::statistics;

/// One way to do the work: does it as many times as it is told.
pub type Contender<'a> = dyn FnMut(u64) -> Result<()> + 'a;

/// How long to take turns.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How long a turn lasts at least: long beside the clock's resolution and a cold start of the
    /// caches, short beside the time in which the machine's other load changes.
    pub block: Duration,
    /// The time for all of it.
    pub budget: Duration,
    /// The fewest rounds, whatever the budget.
    pub least_rounds: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            block: Duration::from_millis(3),
            budget: Duration::from_millis(600),
            least_rounds: 5,
        }
    }
}

/// What a contest found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Each contender's, in the order they were given.
    pub scores: Vec<Score>,
    /// How many rounds they went.
    pub rounds: usize,
}

/// What one contender needed.
#[derive(Clone, Debug)]
pub struct Score {
    /// The median time of this thread for one operation, in nanoseconds.
    pub nanoseconds: f64,
    /// The first and the third quartile of that time.
    pub quartiles: (f64, f64),
    /// The median time that passed for one operation, in nanoseconds.
    pub wall_nanoseconds: f64,
    /// The median over the rounds of the first contender's time divided by this one's: how many
    /// times as fast this one is.
    pub ratio: f64,
    /// The first quartile of that ratio.
    pub low: f64,
    /// The third quartile of that ratio.
    pub high: f64,
    /// The interval that holds the median ratio with 95 % confidence.
    pub confidence: (f64, f64),
}

/// Lets two contenders alternate in the order A B, B A; the second one's ratio says how many times
/// as fast as the first it is.
pub fn duel(first: &mut Contender<'_>, second: &mut Contender<'_>, plan: &Plan) -> Result<Outcome> {
    contest(&mut [first, second], plan)
}

/// Lets any number of contenders take turns. Each round goes through them forwards and backwards,
/// so that a machine that slows down or speeds up steadily favours no one.
///
/// # Panics
/// Where there is no contender.
pub fn contest(contenders: &mut [&mut Contender<'_>], plan: &Plan) -> Result<Outcome> {
    contest_by(&Instant::now, contenders, plan)
}

/// The same by any clock.
fn contest_by(
    now: &dyn Fn() -> Instant,
    contenders: &mut [&mut Contender<'_>],
    plan: &Plan,
) -> Result<Outcome> {
    assert!(!contenders.is_empty(), "a contest needs a contender");
    let start = now();
    let budget = u64::try_from(plan.budget.as_nanos()).unwrap_or(u64::MAX);
    let iterations: Vec<u64> = contenders
        .iter_mut()
        .map(|contender| iterations_per_block(now, contender, plan.block))
        .collect::<Result<_>>()?;

    let mut cpu = vec![Vec::new(); contenders.len()];
    let mut wall = vec![Vec::new(); contenders.len()];
    let mut rounds = 0;
    while rounds < plan.least_rounds.max(1) || now().since(start).wall < budget {
        let mut round = vec![Elapsed { wall: 0, cpu: 0 }; contenders.len()];
        for index in (0..contenders.len()).chain((0..contenders.len()).rev()) {
            let elapsed = time(now, contenders[index], iterations[index])?;
            round[index].cpu += elapsed.cpu;
            round[index].wall += elapsed.wall;
        }
        for (index, elapsed) in round.into_iter().enumerate() {
            let operations = 2.0 * iterations[index] as f64;
            cpu[index].push(elapsed.cpu as f64 / operations);
            wall[index].push(elapsed.wall as f64 / operations);
        }
        rounds += 1;
    }

    let scores = (0..contenders.len()).map(|index| score(&cpu[0], &cpu[index], &wall[index]));
    Ok(Outcome {
        scores: scores.collect(),
        rounds,
    })
}

fn score(first: &[f64], cpu: &[f64], wall: &[f64]) -> Score {
    let ratios: Vec<f64> = first
        .iter()
        .zip(cpu)
        .map(|(a, b)| a / b.max(1e-3))
        .collect();
    let (low, ratio, high) = statistics::quartiles(&ratios);
    let (fast, nanoseconds, slow) = statistics::quartiles(cpu);
    Score {
        nanoseconds,
        quartiles: (fast, slow),
        wall_nanoseconds: statistics::median(wall),
        ratio,
        low,
        high,
        confidence: statistics::bootstrap(&ratios, 0.95),
    }
}

/// How often the work fits a block: doubles until it takes half of one, which also warms it up. It has to
/// take as long a second time: the first may have made what is made once, a table that its caller keeps.
fn iterations_per_block(
    now: &dyn Fn() -> Instant,
    contender: &mut Contender<'_>,
    block: Duration,
) -> Result<u64> {
    let block = u64::try_from(block.as_nanos()).unwrap_or(u64::MAX).max(1);
    let mut iterations = 1;
    loop {
        let mut elapsed = time(now, contender, iterations)?.cpu.max(1);
        if elapsed >= block / 2 {
            elapsed = elapsed.min(time(now, contender, iterations)?.cpu.max(1));
        }
        if elapsed >= block / 2 {
            let fitting = u128::from(iterations) * u128::from(block) / u128::from(elapsed);
            return Ok(u64::try_from(fitting).unwrap_or(u64::MAX).max(1));
        }
        iterations *= 2;
    }
}

fn time(
    now: &dyn Fn() -> Instant,
    contender: &mut Contender<'_>,
    iterations: u64,
) -> Result<Elapsed> {
    let start = now();
    contender(iterations)?;
    Ok(now().since(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::cell::Cell;

    /// Work that takes so many nanoseconds by a clock that only work moves.
    fn work(clock: &Cell<u64>, nanoseconds: u64) -> impl FnMut(u64) -> Result<()> {
        move |iterations| {
            clock.set(clock.get() + iterations * nanoseconds);
            Ok(())
        }
    }

    fn reading(clock: &Cell<u64>) -> impl Fn() -> Instant {
        || Instant::at(Duration::from_nanos(clock.get()))
    }

    fn plan() -> Plan {
        Plan {
            block: Duration::from_millis(1),
            budget: Duration::from_millis(150),
            least_rounds: 5,
        }
    }

    #[test]
    fn twice_the_work_takes_twice_the_time() {
        let clock = &Cell::new(0);
        let outcome = contest_by(
            &reading(clock),
            &mut [&mut work(clock, 2000), &mut work(clock, 1000)],
            &plan(),
        )
        .unwrap();
        let [first, second] = &outcome.scores[..] else {
            panic!("two contenders")
        };
        assert_eq!((first.ratio, second.ratio), (1.0, 2.0));
        assert_eq!((second.low, second.high), (2.0, 2.0));
        assert_eq!((first.nanoseconds, second.nanoseconds), (2000.0, 1000.0));
        // A round is two blocks of each.
        assert!((30..=45).contains(&outcome.rounds), "{}", outcome.rounds);
        assert!(clock.get() >= 150_000_000);
    }

    #[test]
    fn what_is_done_once_shortens_no_turn() {
        for done_at in [1, 3] {
            let clock = &Cell::new(0);
            let (mut calls, mut longest) = (0, 0);
            let mut work = |iterations| {
                calls += 1;
                longest = longest.max(iterations);
                let once = u64::from(calls == done_at) * 5_000_000;
                clock.set(clock.get() + once + iterations * 1000);
                Ok(())
            };
            let outcome = contest_by(&reading(clock), &mut [&mut work], &plan()).unwrap();
            assert_eq!(longest, 1000, "a block's worth");
            assert_eq!(outcome.scores[0].nanoseconds, 1000.0);
        }
    }

    #[test]
    fn any_number_may_contend() {
        let clock = &Cell::new(0);
        let outcome = contest_by(
            &reading(clock),
            &mut [
                &mut work(clock, 900),
                &mut work(clock, 300),
                &mut work(clock, 900),
            ],
            &plan(),
        )
        .unwrap();
        let ratios: Vec<f64> = outcome.scores.iter().map(|score| score.ratio).collect();
        assert_eq!(ratios, [1.0, 3.0, 1.0]);
    }

    #[test]
    fn slow_work_goes_at_least_the_least_rounds() {
        let mut turns = 0;
        let mut slow = |iterations| {
            turns += iterations;
            let start = Instant::now();
            while start.cpu_since() < Duration::from_millis(2) {
                std::hint::spin_loop();
            }
            std::thread::sleep(Duration::from_millis(2));
            Ok(())
        };
        let plan = Plan {
            budget: Duration::ZERO,
            ..plan()
        };
        let outcome = contest(&mut [&mut slow], &plan).unwrap();
        assert_eq!(outcome.rounds, 5);
        assert!(turns >= 10);
        assert!(outcome.scores[0].wall_nanoseconds >= outcome.scores[0].nanoseconds);
    }

    #[test]
    fn a_contender_that_fails_ends_the_contest() {
        let mut fails = |_| Err(Error::Configuration(std::io::Error::other("no")));
        assert!(contest(&mut [&mut fails], &plan()).is_err());
    }
}
