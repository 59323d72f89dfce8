//! Drawn sequences of calls with shared keys and contexts, without Outboard and with it: `src/sequences`.
//!
//! The same ones in every run. `OUTBOARD_CONTRACT_SEQUENCES=5000..90000` makes others, `make contract-fuzz` many.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::io::{BufRead as _, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, thread};

use common::{Candidate, PROGRAM, candidates, configuration};

/// How many each version of OpenSSL makes.
const USUAL: Range<u64> = 0..2000;

#[test]
fn no_sequence_of_calls_tells_the_two_apart() {
    let numbers = match env::var("OUTBOARD_CONTRACT_SEQUENCES") {
        Ok(numbers) => {
            let (first, end) = numbers.split_once("..").expect("FIRST..END");
            first.parse().unwrap()..end.parse().unwrap()
        }
        Err(_) => USUAL,
    };
    let workplace = tempfile::tempdir().unwrap();
    let stock = configuration(workplace.path(), "stock", None);
    let ours = configuration(workplace.path(), "ours", Some("cards = 0\n"));
    let candidates = candidates();
    let parts = thread::available_parallelism().map_or(1, usize::from) as u64;
    let length = (numbers.end - numbers.start).div_ceil(parts);
    let found: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..parts)
            .map(|part| {
                let first = numbers.start + part * length;
                let numbers = first.min(numbers.end)..(first + length).min(numbers.end);
                let (candidates, stock, ours) = (&candidates, &stock, &ours);
                scope.spawn(move || {
                    let each = candidates
                        .iter()
                        .map(|candidate| run(candidate, stock, ours, numbers.clone()));
                    each.flatten().collect::<Vec<_>>()
                })
            })
            .collect();
        let found = workers.into_iter().map(|worker| worker.join().unwrap());
        found.flatten().collect()
    });
    assert!(
        found.is_empty(),
        "{} differences; the first:\n{}",
        found.len(),
        found[..found.len().min(20)].join("\n\n")
    );
}

/// What differs in those, each with the calls that lead there.
fn run(candidate: &Candidate, stock: &Path, ours: &Path, mut numbers: Range<u64>) -> Vec<String> {
    let (mut found, mut crashes, all) = (Vec::new(), 0, numbers.clone());
    while !numbers.is_empty() {
        let mut child = Command::new(PROGRAM)
            .arg("--sequences")
            .args([&candidate.libcrypto, stock, ours])
            .args([numbers.start.to_string(), numbers.end.to_string()])
            .env("OPENSSL_CONF", stock)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // What it was about to do when it ended.
        let (mut ours_acts, mut at) = (false, None::<u64>);
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            let (first, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match first {
                "stock" | "ours" => (ours_acts, at) = (first == "ours", rest.parse().ok()),
                "sequence" => found.push(format!("@{} {line}", candidate.name)),
                "|" => {
                    let last: &mut String = found.last_mut().unwrap();
                    last.push('\n');
                    last.push_str(rest);
                }
                _ => at = None,
            }
        }
        let status = child.wait().unwrap();
        match at {
            None if status.success() => break,
            Some(at) if !ours_acts => {
                // OpenSSL's own crash: what ours would do is nobody's matter.
                crashes += 1;
                numbers.start = at + 1;
            }
            at => {
                found.push(format!(
                    "@{} {status} after {}, in Outboard: {at:?}",
                    candidate.name, numbers.start
                ));
                match at {
                    Some(at) => numbers.start = at + 1,
                    None => break,
                }
            }
        }
    }
    // Else nothing is compared.
    assert!(
        crashes <= 1 + (all.end - all.start) / 200,
        "@{}: OpenSSL alone crashes in {crashes} of {all:?}",
        candidate.name
    );
    found
}
