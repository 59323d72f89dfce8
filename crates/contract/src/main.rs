//! `contract LIBCRYPTO SCENARIO` makes the calls of one scenario and writes a line for each to its output. Two runs of
//! it, without and with Outboard, are compared line by line: `tests/contract.rs`.
//!
//! `contract --sequences LIBCRYPTO STOCK OURS FIRST END` makes drawn sequences of calls in two library contexts, one of
//! each configuration, and compares them itself: `tests/sequences.rs`. `--sequence LIBCRYPTO STOCK OURS NUMBER` shows one.

use std::process::ExitCode;

use outboard_contract::sequences;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => {
            print!("{}", outboard_contract::list());
            Ok(())
        }
        ["--sequences", library, stock, ours, first, end] => match (first.parse(), end.parse()) {
            (Ok(first), Ok(end)) => sequences::run(library, stock, ours, first..end),
            _ => Err(format!("{first} and {end} are to be numbers")),
        },
        ["--sequence", library, stock, ours, number] => match number.parse() {
            Ok(number) => {
                sequences::show(library, stock, ours, number).map(|calls| println!("{calls}"))
            }
            _ => Err(format!("{number} is to be a number")),
        },
        [library, name] => outboard_contract::run(library, name),
        _ => {
            eprintln!(
                "usage: contract --list | contract LIBCRYPTO SCENARIO | \
                 contract --sequences LIBCRYPTO STOCK OURS FIRST END | \
                 contract --sequence LIBCRYPTO STOCK OURS NUMBER"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("contract: {error}");
            ExitCode::from(99)
        }
    }
}
