//! The differential contract: nobody can tell a program under Outboard from one without, except by its speed.
//!
//! Every scenario of the program `contract` runs in a process of its own: without Outboard, with Outboard on the caller's
//! thread, and with Outboard on cards, in the system's OpenSSL and in each version that is built for tests. What they
//! write is compared line by line. A difference passes only if `expected-differences.txt` names it with its reason.
//!
//! `OUTBOARD_CONTRACT=sign/orders OUTBOARD_CONTRACT_VERSION=3.5 cargo test -p outboard-contract` runs the scenarios whose
//! names begin so, in one version (`system`, 3.5 or 4.0).

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;
mod expected;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use common::{Candidate, PROGRAM, SYSTEM, Scenario, candidates, configuration, scenarios};
use expected::Expected;

/// How long a scenario may take on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// What of Outboard is compared with stock; cards in the system's OpenSSL alone, as they know nothing of its version.
const VARIANTS: [(&str, &str); 2] = [("thread", "cards = 0\n"), ("cards", "")];

#[test]
fn no_difference_but_those_that_are_named() {
    let filter = env::var("OUTBOARD_CONTRACT").unwrap_or_default();
    let scenarios = scenarios(&filter);
    let candidates = candidates();
    let workplace = tempfile::tempdir().unwrap();
    let configurations = configurations(workplace.path());
    let expected =
        Expected::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("expected-differences.txt"));

    let jobs: Vec<_> = candidates
        .iter()
        .flat_map(|candidate| scenarios.iter().map(move |scenario| (candidate, scenario)))
        .collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Found::default());
    // Twice as many as processors: each mostly waits for a process.
    let threads = 2 * thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((candidate, scenario)) =
                    jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let stock = transcript(candidate, scenario, &configurations[0].1);
                    for (variant, configuration) in &configurations[1..] {
                        if *variant == "cards" && candidate.name != SYSTEM {
                            continue;
                        }
                        let ours = transcript(candidate, scenario, configuration);
                        let differences = differences(
                            scenario,
                            &stock,
                            &ours,
                            &format!("@{} {variant}", candidate.name),
                        );
                        found.lock().unwrap().note(&expected, &stock, differences);
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    // Where a part was asked for, the others' entries have nothing to match.
    let whole = filter.is_empty() && env::var_os("OUTBOARD_CONTRACT_VERSION").is_none();
    let stale = if whole { expected.unused() } else { Vec::new() };
    found.conclude(&stale);
}

/// What was found over all.
#[derive(Default)]
struct Found {
    lines: usize,
    expected: usize,
    unexpected: Vec<String>,
}

impl Found {
    fn note(&mut self, expected: &Expected, stock: &[String], differences: Vec<String>) {
        self.lines += stock.len();
        for difference in differences {
            if expected.names(&difference) {
                self.expected += 1;
            } else {
                self.unexpected.push(difference);
            }
        }
    }

    fn conclude(self, stale: &[String]) {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unexpected-differences.txt");
        fs::write(&path, self.unexpected.join("\n")).unwrap();
        println!(
            "{} lines compared; {} differences, of which {} are named",
            self.lines,
            self.unexpected.len() + self.expected,
            self.expected
        );
        let mut complaint = String::new();
        if !self.unexpected.is_empty() {
            let some: Vec<_> = self
                .unexpected
                .iter()
                .take(40)
                .map(String::as_str)
                .collect();
            let _ = write!(
                complaint,
                "{} differences that nobody named (all of them: {}):\n{}\n",
                self.unexpected.len(),
                path.display(),
                some.join("\n")
            );
        }
        if !stale.is_empty() {
            let _ = write!(
                complaint,
                "entries of expected-differences.txt that match nothing any more, to be taken out:\n{}\n",
                stale.join("\n")
            );
        }
        assert!(complaint.is_empty(), "{complaint}");
    }
}

/// Stock's configuration first, then those of each variant.
fn configurations(directory: &Path) -> Vec<(&'static str, PathBuf)> {
    let mut all = vec![("stock", configuration(directory, "stock", None))];
    for (variant, settings) in VARIANTS {
        all.push((variant, configuration(directory, variant, Some(settings))));
    }
    all
}

/// What a scenario writes, and how it ends.
fn transcript(candidate: &Candidate, scenario: &Scenario, configuration: &Path) -> Vec<String> {
    let mut child = Command::new(PROGRAM)
        .arg(&candidate.libcrypto)
        .arg(&scenario.name)
        .env("OPENSSL_CONF", configuration)
        .envs(
            scenario
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut output, mut errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
        bytes
    });
    let errors = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = errors.read_to_end(&mut bytes);
        bytes
    });
    let began = Instant::now();
    let end = loop {
        match child.try_wait().unwrap() {
            Some(status) => {
                break match status.signal() {
                    Some(signal) => format!("signal {signal}"),
                    None => format!("status {}", status.code().unwrap_or(-1)),
                };
            }
            None if began.elapsed() > PATIENCE => {
                child.kill().unwrap();
                break "it hangs".into();
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = String::from_utf8_lossy(&reader.join().unwrap()).into_owned();
    let errors = String::from_utf8_lossy(&errors.join().unwrap()).replace('\n', " ");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.push(format!("end: {end} {}", errors.trim()));
    lines
}

/// The lines that differ, scene by scene.
fn differences(scenario: &Scenario, stock: &[String], ours: &[String], whose: &str) -> Vec<String> {
    let (stock, ours) = (scenes(stock), scenes(ours));
    let nothing = Vec::new();
    let mut names: Vec<&str> = stock.keys().copied().collect();
    names.extend(
        ours.keys()
            .copied()
            .filter(|name| !stock.contains_key(name)),
    );
    let mut different = Vec::new();
    for name in names {
        let (stock, ours) = (
            stock.get(name).unwrap_or(&nothing),
            ours.get(name).unwrap_or(&nothing),
        );
        for index in 0..stock.len().max(ours.len()) {
            let line = |lines: &[&str]| {
                lines
                    .get(index)
                    .map_or("nothing".to_owned(), |line| (*line).to_owned())
            };
            let (stock, ours) = (line(stock), line(ours));
            if stock != ours {
                // The call is said once where it is the same.
                let call = |line: &str| {
                    line.split_once(" -> ")
                        .map(|(call, answer)| (call.to_owned(), answer.to_owned()))
                };
                different.push(match (call(&stock), call(&ours)) {
                    (Some((call, stock)), Some((again, ours))) if call == again => {
                        format!(
                            "{}: {name}: {call} -> {stock} => {ours} {whose}",
                            scenario.name
                        )
                    }
                    _ => format!("{}: {name}: {stock} => {ours} {whose}", scenario.name),
                });
            }
        }
    }
    different
}

fn scenes(lines: &[String]) -> BTreeMap<&str, Vec<&str>> {
    let mut scenes = BTreeMap::<_, Vec<_>>::new();
    for line in lines {
        let (scene, rest) = line.split_once(": ").unwrap_or(("", line));
        scenes.entry(scene).or_default().push(rest);
    }
    scenes
}
