//! `outboard keys adopt --revert`: the copies of files go back into their places.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::adopt::{BACKUP, backup_of, expand};
use super::sshd;
use crate::Failure;
use crate::output::print;

/// Puts the copies of files back; the service keeps the keys, and is not needed for this.
pub(super) fn run(files: &[PathBuf]) -> Result<(), Failure> {
    // The file may be gone, and a pattern of the shell then finds the copy alone.
    let original = |file: PathBuf| match file.to_string_lossy().strip_suffix(BACKUP) {
        Some(name) => PathBuf::from(name),
        None => file.canonicalize().unwrap_or(file),
    };
    let files = files.iter().flat_map(|file| expand(file)).map(original);
    let files: Vec<_> = files.collect();
    let release = sshd::Release::of(&files)?;
    for file in &files {
        let backup = backup_of(file);
        let is_back = || {
            release
                .as_ref()
                .is_some_and(|release| release.is_back(file))
        };
        match fs::rename(&backup, file) {
            Ok(()) => print(&format!(
                "{} is as it was before 'adopt'.\n",
                file.display()
            ))?,
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
    print(
        "The service still has the keys: 'outboard keys delete NAME --yes' destroys one there.\n",
    )?;
    Ok(())
}
