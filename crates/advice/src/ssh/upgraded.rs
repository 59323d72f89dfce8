//! Whether the installed OpenSSH still takes the drop-ins: a newer one may have dropped an algorithm that they
//! name.
//!
//! Each is asked about by itself, and nothing is written: no key is made, for sshd misses its keys only after it has
//! understood its configuration.

use outboard_programs::Launch;
use outboard_wording::printable;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::algorithm::Kind;
use super::file::{DropInFile, MARK, failed};
use super::include;
use super::installed::{self, NOBODY, Side};

/// A drop-in that `outboard advise ssh --apply` wrote, if that can be told.
#[derive(Debug)]
pub struct DropIn {
    /// The side that it configures.
    pub side: Side,
    /// Its path.
    pub file: PathBuf,
    /// Whether its program accepts it.
    pub verdict: Verdict,
}

/// The judgement of its program.
#[derive(Debug)]
pub enum Verdict {
    /// It accepts it.
    Accepted,
    /// It does not accept it.
    Refused {
        /// The program's message.
        said: String,
        /// The names in it that it does not have.
        gone: Vec<String>,
    },
    /// It is not known: why.
    Unknown(String),
}

/// Both programs answer at once.
const PATIENCE: Duration = Duration::from_secs(20);

/// The drop-ins below `directory` (`/etc/ssh`) that are there; `unfit` says why a program should not read one.
pub fn drop_ins(directory: &Path, unfit: impl Fn(&Path) -> Option<String>) -> Vec<DropIn> {
    let found = [Side::Server, Side::Client].map(|side| {
        let file = DropInFile::new(side, directory).path;
        let verdict = match include::read(&file) {
            Ok(text) if text.starts_with(MARK) => match unfit(&file) {
                Some(reason) => Verdict::Unknown(reason),
                None => ask(side, &file, &text),
            },
            // One of another's.
            Ok(_) => return None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => Verdict::Unknown(failed("read", &file, error).to_string()),
        };
        Some(DropIn {
            side,
            file,
            verdict,
        })
    });
    found.into_iter().flatten().collect()
}

fn ask(side: Side, file: &Path, text: &str) -> Verdict {
    let finished = Launch::new(side.program()).and_then(|launch| {
        let launch = match side {
            Side::Server => launch.args(["-t", "-e", "-h", "/dev/null", "-f"]).arg(file),
            Side::Client => launch.args(["-G", "-F"]).arg(file).arg(NOBODY),
        };
        launch.limit(PATIENCE).finish()
    });
    match finished {
        Ok(said) => match judge(said.status.success(), &said.errors, file) {
            Verdict::Refused { said, .. } => Verdict::Refused {
                said,
                gone: gone(text),
            },
            verdict => verdict,
        },
        Err(error) => Verdict::Unknown(error.to_string()),
    }
}

fn judge(is_success: bool, errors: &str, file: &Path) -> Verdict {
    // What sshd ends with when it has read its configuration, for it has no key and may lack its user and directory.
    const AFTERWARDS: [&str; 2] = ["no hostkeys available", "rivilege separation "];
    if is_success || AFTERWARDS.iter().any(|part| errors.contains(part)) {
        return Verdict::Accepted;
    }
    let place = format!("{} line ", file.display());
    match errors.lines().find(|line| line.starts_with(&place)) {
        Some(line) => {
            // Whole lists follow.
            let said = line.split(" '").next().unwrap_or(line);
            Verdict::Refused {
                said: printable(said),
                gone: Vec::new(),
            }
        }
        None => Verdict::Unknown(
            errors
                .trim()
                .lines()
                .map(printable)
                .collect::<Vec<_>>()
                .join("; "),
        ),
    }
}

/// The names in a drop-in that `ssh -Q` does not list.
fn gone(text: &str) -> Vec<String> {
    let mut gone = Vec::new();
    for kind in Kind::ORDERED {
        let Ok(known) = installed::known(kind) else {
            continue;
        };
        let names = text.lines().filter_map(|line| {
            let (keyword, names) = line.split_once(' ')?;
            (keyword == kind.keyword()).then_some(names)
        });
        let names = names.flat_map(|names| names.split(','));
        gone.extend(
            names
                .filter(|name| !known.iter().any(|known| known == name))
                .map(printable),
        );
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/d/10.conf";

    #[test]
    fn what_sshd_lacks_besides_is_no_refusal() {
        for errors in [
            "/d/10.conf line 3: Deprecated option MACs\nsshd: no hostkeys available -- exiting.\n",
            "Missing privilege separation directory: /run/sshd\n",
            "Privilege separation user sshd does not exist\n",
        ] {
            assert!(
                matches!(judge(false, errors, Path::new(FILE)), Verdict::Accepted),
                "{errors}"
            );
        }
        assert!(matches!(
            judge(true, "", Path::new(FILE)),
            Verdict::Accepted
        ));
    }

    #[test]
    fn only_what_is_said_of_the_file_is_a_refusal() {
        let errors =
            "Unsupported KEX algorithm \"x\"\n/d/10.conf line 3: Bad SSH2 KexAlgorithms 'a,x'.\n";
        match judge(false, errors, Path::new(FILE)) {
            Verdict::Refused { said, .. } => {
                assert_eq!(said, "/d/10.conf line 3: Bad SSH2 KexAlgorithms");
            }
            other => panic!("{other:?}"),
        }
        let errors = "error while loading shared libraries\n\u{1b}[2J";
        match judge(false, errors, Path::new(FILE)) {
            Verdict::Unknown(reason) => {
                assert_eq!(reason, r"error while loading shared libraries; \u{1b}[2J");
            }
            other => panic!("{other:?}"),
        }
    }
}
