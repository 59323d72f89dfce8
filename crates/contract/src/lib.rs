//! The calls of the differential contract, and what is compared of them.
//!
//! ```text
//! scenarios ──▶ Transcript (calls, answers, error queue) ──▶ Library (functions by name)
//!     └─ keys, params, operations: what they share
//! sequences ──▶ two library contexts of one process, without and with Outboard: the same drawn calls in both
//! ```
//!
//! A scenario has a process of its own, as much of what it tests happens once in a process: what is fetched first, what
//! is loaded, how it ends. A sequence begins with fresh keys and contexts in library contexts that stay.

mod keys;
mod library;
mod operations;
mod params;
mod scenarios;
pub mod sequences;
mod transcript;

use crate::library::Library;
use crate::transcript::Transcript;

/// The scenarios, one a line: its name, and what it needs in its environment.
pub fn list() -> String {
    let mut list = String::new();
    for scenario in scenarios::all() {
        list.push_str(&scenario.name);
        for (name, value) in scenario.environment {
            list.push_str(&format!(" {name}={value}"));
        }
        list.push('\n');
    }
    list
}

/// Makes the calls of a scenario in that libcrypto, and writes a line for each to the process's output.
///
/// # Errors
/// If the library cannot be loaded or has no such scenario: what to tell the user.
pub fn run(library: &str, name: &str) -> Result<(), String> {
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
