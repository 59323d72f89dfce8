//! Cards as programs use them: threads, event loops, forks, cancelled requests, dying workers.
//!
//! Each test runs in a process of its own (this program, started again), so that it may fork, and
//! kill its workers, and count. For long: `make cards-stress`.

mod alone;
mod callers;
mod cases;
mod keys;
mod support;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Every test by its name.
fn all() -> impl Iterator<Item = &'static support::Test> {
    [cases::ALL, callers::ALL, alone::ALL].into_iter().flatten()
}

/// What marks the process of one test.
const CHILD: &str = "OUTBOARD_CARD_TEST";

/// How long a test may take before it is deemed to hang: for a busy machine, unless `CARD_PATIENCE` says
/// how many seconds.
fn patience() -> Duration {
    let seconds = std::env::var("CARD_PATIENCE").map(|seconds| seconds.parse());
    Duration::from_secs(seconds.map_or(240, |seconds| seconds.expect("a number of seconds")))
}

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(CHILD) {
        let (_, test) = all()
            .find(|(known, _)| *known == name)
            .expect("a test of that name");
        test();
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        all().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    if !outboard_engine::card::are_there() {
        println!("this processor has no lanes: nothing to test");
        return ExitCode::SUCCESS;
    }
    let mut failed = 0;
    for (name, _) in all() {
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        let passed = passes(name);
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u32::from(!passed);
    }
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn passes(name: &str) -> bool {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(program)
        .env(CHILD, name)
        .spawn()
        .expect("this program starts");
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("our child") {
            return status.success();
        }
        if started.elapsed() > patience() {
            eprintln!("{name} hangs");
            let _ = child.kill();
            let _ = child.wait();
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
