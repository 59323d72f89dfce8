//! The drop-ins of both sides, written and removed: all of them or none.

use outboard_programs::without_interruption;
use std::path::{Path, PathBuf};

use super::check_directory;
use super::drop_in::Target;
use super::file::DropInFile;
use super::installed::Side;
use super::report::Half;
use crate::{Error, Listener};

/// Tells which peers will be locked out, while the user can still prevent it.
pub(super) fn tell_losses(halves: &[Half], listener: &dyn Listener) {
    let changing = |half: &&Half| half.obstacle.is_none() && !half.in_place;
    for half in halves.iter().filter(changing) {
        for lost in &half.advice.no_longer {
            listener.note(&format!("locked out: {lost}"));
        }
    }
}

/// Writes all drop-ins or none.
pub(super) fn apply(targets: &[Target<'_>], halves: &mut [Half]) -> Result<(), Error> {
    let mut written: Vec<(&Target<'_>, Option<Vec<u8>>)> = Vec::new();
    for (target, half) in targets.iter().zip(halves.iter_mut()) {
        if target.file.holds(&half.text) {
            continue;
        }
        let failure = match target.file.write(&half.text) {
            Ok(previous) => {
                written.push((target, previous));
                half.changed = true;
                target.verify(&half.advice.lists).map(Error::from)
            }
            Err(error) => Some(error),
        };
        if let Some(failure) = failure {
            for (target, previous) in written.into_iter().rev() {
                target.file.restore(previous)?;
            }
            return Err(format!("everything is as it was: {failure}").into());
        }
    }
    Ok(())
}

/// Removes the drop-ins of those sides below `directory`, all of them or none. The files that were removed.
///
/// # Errors
/// If a file is not ours, or cannot be removed; everything is then as it was.
pub fn revert(sides: &[Side], directory: &Path) -> Result<Vec<PathBuf>, Error> {
    check_directory(directory, "(name it with --directory)")?;
    let files = sides.iter().map(|&side| DropInFile::new(side, directory));
    let files: Vec<DropInFile> = files.collect();
    without_interruption(|| remove(&files))
}

fn remove(files: &[DropInFile]) -> Result<Vec<PathBuf>, Error> {
    let mut taken: Vec<(&DropInFile, String)> = Vec::new();
    for file in files {
        match file.remove() {
            Ok(text) => taken.extend(text.map(|text| (file, text))),
            Err(failure) => {
                for (file, text) in taken {
                    file.write(&text)?;
                }
                return Err(format!("everything is as it was: {failure}").into());
            }
        }
    }
    Ok(taken.iter().map(|(file, _)| file.path.clone()).collect())
}
