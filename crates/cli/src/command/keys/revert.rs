//! `outboard keys adopt --revert`: the copies of files go back into their places.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::adopt::expand;
use super::sshd;
use crate::Failure;
use crate::output::print;
use outboard_inspect::card_service::option;
use outboard_inspect::references::{self, BACKUP, backup_of};
use outboard_processes::{Process, restart_lines, with_references};
use outboard_wording::printable;

/// Puts the copies of files back; the service keeps the keys, and is not needed for this.
pub(super) fn run(files: &[PathBuf], directory: &Path) -> Result<(), Failure> {
    // The file may be gone, and a pattern of the shell then finds the copy alone.
    let original = |file: PathBuf| match file.to_string_lossy().strip_suffix(BACKUP) {
        Some(name) => PathBuf::from(name),
        None => file.canonicalize().unwrap_or(file),
    };
    let files = files.iter().flat_map(|file| expand(file)).map(original);
    let files: Vec<_> = files.collect();
    let release = sshd::Release::of(&files)?;
    let mut names = Vec::new();
    for file in &files {
        let refers_to = references::read(file).map(|held| held.reference.name);
        let backup = backup_of(file);
        let is_back = || {
            release
                .as_ref()
                .is_some_and(|release| release.is_back(file))
        };
        match fs::rename(&backup, file) {
            Ok(()) => {
                names.extend(refers_to);
                print(&format!(
                    "{} is as it was before 'adopt'.\n",
                    file.display()
                ))?;
            }
            // An earlier try did this, and not all.
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_back() => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(format!(
                    "there is no copy {} (if you moved it away, move it back there; 'adopt --destroy' kept none)",
                    backup.display()
                )
                .into());
            }
            Err(error) => {
                return Err(format!(
                    "{} is as it was: cannot move {} there: {error}",
                    file.display(),
                    backup.display()
                )
                .into());
            }
        }
        sshd::restore_public(file)?;
    }
    if let Some(release) = release {
        release.finish()?;
    }
    print(&what_is_left(&names, directory))?;
    let programs = restart_lines(&with_references(&Process::all()));
    if !programs.is_empty() {
        print(&format!(
            "These have references to keys of the service now: {}.\n",
            programs.join(", ")
        ))?;
    }
    Ok(())
}

/// What to do with the programs and the keys. Files of sshd's keys do not say which they are.
fn what_is_left(names: &[String], directory: &Path) -> String {
    let option = option(directory);
    match names {
        [] => format!(
            "The service still has the keys. When no program uses one there, 'outboard keys delete NAME --yes{option}' destroys it.\n"
        ),
        [name] => {
            let name = printable(name);
            format!(
                "Reload or restart the programs that use it: until then they use the service's key '{name}'. After that, \
                 'outboard keys delete {name} --yes{option}' destroys it there.\n"
            )
        }
        names => {
            let names: Vec<_> = names.iter().map(|name| printable(name)).collect();
            format!(
                "Reload or restart the programs that use them: until then they use the service's keys '{}'. After that, \
                 'outboard keys delete NAME --yes{option}' destroys one there.\n",
                names.join("', '")
            )
        }
    }
}
