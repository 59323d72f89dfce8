//! Which users could have replaced a file.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file itself, or the nearest directory on its path, that a user other than root and `user` could change: its owner,
/// or a user with write permission. (This includes a sticky directory, because a user who may add names there may have made
/// the next directory.) None if there is no such user. Links are followed first.
///
/// # Errors
/// If its metadata cannot be read.
pub fn changeable_by_others(file: &Path, user: u32) -> io::Result<Option<PathBuf>> {
    const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
    const ROOT: u32 = 0;
    let file = file.canonicalize()?;
    for path in file.ancestors() {
        let metadata = fs::symlink_metadata(path)?;
        let is_foreign = ![ROOT, user].contains(&metadata.uid());
        if is_foreign || metadata.mode() & GROUP_OR_OTHERS_WRITE != 0 {
            return Ok(Some(path.to_owned()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn whoever_may_write_on_the_way_is_found() {
        let user = rustix::process::geteuid().as_raw();
        let directory = tempfile::tempdir().expect("a temporary directory");
        let directory = directory.path().canonicalize().expect("it is ours");
        let file = directory.join("file");
        fs::write(&file, "").expect("it is ours");
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("it is ours");
        };
        let found = || changeable_by_others(&file, user).expect("it is ours");
        mode(&file, 0o664);
        assert_eq!(found(), Some(file.clone()));
        mode(&file, 0o644);
        mode(&directory, 0o1777);
        assert_eq!(found(), Some(directory.clone()));
        mode(&directory, 0o755);
        // Temporary directories lie where everybody may write.
        let beyond = found().expect("others may write there");
        assert!(beyond != directory && directory.starts_with(beyond));
        assert!(changeable_by_others(&directory.join("none"), user).is_err());
    }

    #[test]
    fn the_system_s_own_files_are_root_s() {
        let file = Path::new("/etc/passwd");
        assert_eq!(changeable_by_others(file, 0).expect("it is there"), None);
    }
}
