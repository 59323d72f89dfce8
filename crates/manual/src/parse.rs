//! The command line, parsed.

use std::io::{self, Write};
use std::process;

use clap::Parser;

/// The command line. Help, versions and wrong usage are printed, and end the process: as clap does it, except that what could not
/// be written is an error (`outboard --help >/dev/full`).
pub fn parse<P: Parser>() -> P {
    P::try_parse().unwrap_or_else(|said| {
        let written = said.print().and_then(|()| io::stdout().flush());
        process::exit(match written {
            // A reader that has seen enough (`| head`) is no error.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let command = P::command();
                // Where this cannot be written either, nobody listens.
                let _ = writeln!(
                    io::stderr(),
                    "{}: cannot write to standard output: {error}",
                    command.get_name()
                );
                1
            }
            _ => said.exit_code(),
        })
    })
}
