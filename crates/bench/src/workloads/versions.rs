//! Which versions of the programs take part.

use outboard_programs::Launch;

use crate::Failure;
use crate::suite::Session;

/// Asks each of the programs for its version and puts the answer into the result.
pub(super) fn record(session: &mut Session<'_>, programs: &[&str]) -> Result<(), Failure> {
    for program in programs {
        let question = match *program {
            "apache2" | "haproxy" | "nginx" => "-v",
            "openssl" => "version",
            "ssh" => "-V",
            "stunnel" => "-version",
            _ => "--version",
        };
        let told = Launch::new(program)?.arg(question).finish()?;
        // Half of them answer on standard error.
        let lines = told.output.lines().chain(told.errors.lines());
        let version = lines
            .map(str::trim)
            .find(|line| line.contains(|letter: char| letter.is_ascii_digit()));
        session.version(program, version.unwrap_or("unknown"));
    }
    Ok(())
}
