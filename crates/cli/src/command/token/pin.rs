//! PINs: from a terminal, a file or a descriptor; never from the command line, which every user of the system sees.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use outboard_administration::{PIN_LENGTH, Secret};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use zeroize::{Zeroize, Zeroizing};

use crate::{Failure, WrongUsage};

/// The PIN of whoever acts.
#[derive(clap::Args)]
pub(super) struct Pin {
    /// A file whose first line is the PIN; without it, a prompt asks
    #[arg(long, value_name = "FILE")]
    pin_file: Option<PathBuf>,
    /// An open descriptor to read the PIN from
    #[arg(long, value_name = "NUMBER", conflicts_with = "pin_file")]
    pin_fd: Option<u32>,
}

/// The security officer's PIN.
#[derive(clap::Args)]
pub(super) struct OfficerPin {
    /// A file whose first line is the security officer's PIN; without it, a prompt asks
    #[arg(long, value_name = "FILE")]
    officer_pin_file: Option<PathBuf>,
    /// An open descriptor to read the security officer's PIN from
    #[arg(long, value_name = "NUMBER", conflicts_with = "officer_pin_file")]
    officer_pin_fd: Option<u32>,
}

/// A PIN to set.
#[derive(clap::Args)]
pub(super) struct NewPin {
    /// A file whose first line is the new PIN; without it, a prompt asks
    #[arg(long, value_name = "FILE")]
    new_pin_file: Option<PathBuf>,
    /// An open descriptor to read the new PIN from
    #[arg(long, value_name = "NUMBER", conflicts_with = "new_pin_file")]
    new_pin_fd: Option<u32>,
}

/// Where a PIN is read.
pub(super) struct Source {
    /// None: at the terminal.
    file: Option<PathBuf>,
    /// Whose PIN, for the prompt.
    whose: &'static str,
    /// The option that names a file.
    option: &'static str,
}

impl Pin {
    /// Whose it is, the caller says.
    pub(super) fn source(&self, whose: &'static str) -> Source {
        Source::new(&self.pin_file, self.pin_fd, whose, "--pin-file")
    }
}

impl OfficerPin {
    pub(super) fn source(&self) -> Source {
        let (file, number) = (&self.officer_pin_file, self.officer_pin_fd);
        let whose = "the security officer's PIN";
        Source::new(file, number, whose, "--officer-pin-file")
    }
}

impl NewPin {
    pub(super) fn source(&self) -> Source {
        let (file, number) = (&self.new_pin_file, self.new_pin_fd);
        Source::new(file, number, "the new PIN", "--new-pin-file")
    }
}

impl Source {
    fn new(
        file: &Option<PathBuf>,
        number: Option<u32>,
        whose: &'static str,
        option: &'static str,
    ) -> Self {
        let of_number = || number.map(|number| PathBuf::from(format!("/dev/fd/{number}")));
        Self {
            file: file.clone().or_else(of_number),
            whose,
            option,
        }
    }

    /// A PIN that is known.
    pub(super) fn read(&self) -> Result<Secret, Failure> {
        match &self.file {
            Some(path) => self.in_file(path),
            None => self.typed(""),
        }
    }

    /// A PIN that is to be set: at a terminal it is typed twice.
    pub(super) fn read_new(&self) -> Result<Secret, Failure> {
        let pin = self.read()?;
        if !PIN_LENGTH.contains(&pin.0.len()) {
            let (fewest, most) = (PIN_LENGTH.start(), PIN_LENGTH.end());
            let problem = format!("{} must have {fewest} to {most} bytes", self.whose);
            return Err(WrongUsage(problem).into());
        }
        if self.file.is_none() && self.typed(" again")? != pin {
            return Err(format!("{} was typed in two ways (try again)", self.whose).into());
        }
        Ok(pin)
    }

    fn in_file(&self, path: &Path) -> Result<Secret, Failure> {
        let read = File::open(path).and_then(first_line);
        let pin = read.map_err(|error| {
            format!("cannot read {} in {}: {error}", self.whose, path.display())
        })?;
        match pin.0.is_empty() {
            true => Err(format!("the first line of {} is empty", path.display()).into()),
            false => Ok(pin),
        }
    }

    fn typed(&self, again: &str) -> Result<Secret, Failure> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            let problem = format!(
                "standard input is no terminal to ask for {} (name a file with {})",
                self.whose, self.option
            );
            return Err(WrongUsage(problem).into());
        }
        eprint!("Type {}{again}: ", self.whose);
        io::stderr().flush()?;
        let before = tcgetattr(&stdin)?;
        let mut unseen = before.clone();
        // Ctrl-C ends the line, and not the command: the terminal would stay without echo.
        unseen.local_modes -= LocalModes::ECHO | LocalModes::ISIG;
        unseen.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        tcsetattr(&stdin, OptionalActions::Flush, &unseen)?;
        let pin = first_line(Unbuffered);
        tcsetattr(&stdin, OptionalActions::Flush, &before)?;
        eprintln!();
        let pin = pin?;
        match pin.0.contains(&INTERRUPT) {
            true => Err(format!("{} was not typed to its end", self.whose).into()),
            false => Ok(pin),
        }
    }
}

/// Ctrl-C.
const INTERRUPT: u8 = 3;

/// Standard input without the buffer that the standard library keeps.
struct Unbuffered;

impl Read for Unbuffered {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(io::stdin(), room)?)
    }
}

/// The first line, byte by byte: a buffer would keep a copy.
fn first_line(mut from: impl Read) -> io::Result<Secret> {
    // One more than a PIN may have, so that a longer one is told.
    let mut line = Zeroizing::new(Vec::with_capacity(*PIN_LENGTH.end() + 1));
    let mut byte = [0];
    while line.len() < line.capacity() && from.read(&mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
        if byte[0] == INTERRUPT {
            break;
        }
    }
    byte.zeroize();
    Ok(Secret(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_the_first_line() {
        let read = |text: &str| first_line(text.as_bytes()).expect("it is read").0.to_vec();
        assert_eq!(read("1234\n5678\n"), b"1234");
        assert_eq!(read("1234"), b"1234");
        assert_eq!(read(""), b"");
        assert_eq!(read(&"x".repeat(300)).len(), 256);
    }
}
