//! The calls of the differential contract: `contract LIBCRYPTO SCENARIO` makes those of one scenario and writes a line
//! for each to its output. Two runs of it, without and with Outboard, are compared line by line: `tests/contract.rs`.
//!
//! ```text
//! scenarios ──▶ Transcript (calls, answers, error queue) ──▶ Library (functions by name)
//!     └─ keys, params, operations: what they share
//! ```
//!
//! A scenario has a process of its own, as much of what it tests happens once in a process: what is fetched first, what
//! is loaded, how it ends.

mod keys;
mod library;
mod operations;
mod params;
mod scenarios;
mod transcript;

use std::process::ExitCode;

use crate::library::Library;
use crate::transcript::Transcript;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => {
            for scenario in scenarios::all() {
                let environment = scenario.environment.iter();
                let environment: String = environment
                    .map(|(name, value)| format!(" {name}={value}"))
                    .collect();
                println!("{}{environment}", scenario.name);
            }
            ExitCode::SUCCESS
        }
        [library, name] => match run(library, name) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("contract: {error}");
                ExitCode::from(99)
            }
        },
        _ => {
            eprintln!("usage: contract --list | contract LIBCRYPTO SCENARIO");
            ExitCode::from(2)
        }
    }
}

fn run(library: &str, name: &str) -> Result<(), String> {
    let library = Library::open(library)?;
    let mut scenarios = scenarios::all();
    let index = scenarios
        .iter()
        .position(|scenario| scenario.name == name)
        .ok_or_else(|| format!("there is no scenario {name}"))?;
    // Never freed: some scenarios end while OpenSSL is being cleaned up.
    let transcript: &'static Transcript = Box::leak(Box::new(Transcript::new(library)));
    (scenarios.swap_remove(index).run)(transcript);
    Ok(())
}
