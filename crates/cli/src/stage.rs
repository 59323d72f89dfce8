//! The directory of what 'outboard run' gives its program. It is removed with the program, or after the last
//! process that the program left running.

use crate::Failure;
use crate::output::remark;
use outboard_processes as processes;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A directory for one program.
pub(crate) struct Stage {
    directory: TempDir,
}

impl Stage {
    const PREFIX: &str = "outboard-run.";
    /// Lists the processes that a program left, a line each: `PID START`.
    const LEFT: &str = "left";

    /// Makes one, in memory if the system has such a place; removes those that a killed 'outboard
    /// run' left.
    pub(crate) fn new() -> Result<Self, Failure> {
        let memory = Path::new("/dev/shm");
        let place = if rustix::fs::access(memory, rustix::fs::Access::WRITE_OK).is_ok() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        sweep(&place);
        let prefix = format!("{}{}.", Self::PREFIX, std::process::id());
        let directory = tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir_in(&place)
            .map_err(|error| format!("cannot make a directory in {}: {error}", place.display()))?;
        // A program may change its user before it reads its configuration. (Not by the mode of the
        // call that makes the directory: a umask may take bits of that away.)
        fs::set_permissions(&directory, PermissionsExt::from_mode(0o755))?;
        Ok(Self { directory })
    }

    /// Writes a file that the readers of `model` may read. Without a model, every user may read it.
    pub(crate) fn write(
        &self,
        name: &str,
        text: &[u8],
        model: Option<&Path>,
    ) -> Result<PathBuf, Failure> {
        const OWNER_READS_AND_WRITES: u32 = 0o600;
        const ALL_READ: u32 = 0o444;
        let mode = match model.map(fs::metadata) {
            Some(Ok(metadata)) => metadata.mode() & ALL_READ,
            Some(Err(_)) | None => ALL_READ,
        };
        let path = self.path().join(name);
        let write = || {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(OWNER_READS_AND_WRITES)
                .open(&path)?;
            file.write_all(text)?;
            file.set_permissions(PermissionsExt::from_mode(mode | OWNER_READS_AND_WRITES))
        };
        write().map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Keeps the directory for processes that outlive their program. The next 'outboard run' after their end
    /// removes it.
    pub(crate) fn keep(self) {
        let left: String = processes::descendants(std::process::id())
            .into_iter()
            .map(|(pid, start)| format!("{pid} {start}\n"))
            .collect();
        // Without the list, the environment and the mappings of processes show which process uses the directory.
        let _ = fs::write(self.path().join(Self::LEFT), left);
        let path = self.directory.keep();
        remark(&format!(
            "outboard: the program left processes running; their configuration stays in {}",
            path.display()
        ));
    }
}

/// Removes this user's directories of ended 'outboard run' commands that no process uses.
fn sweep(place: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| {
            name.strip_prefix(Stage::PREFIX)?
                .split('.')
                .next()?
                .parse::<u32>()
                .ok()
        }) else {
            continue;
        };
        let ours = entry
            .metadata()
            .is_ok_and(|meta| meta.is_dir() && meta.uid() == user);
        let running = Path::new(&format!("/proc/{pid}")).exists();
        // Twice: a process that is about to become another program has no environment for a moment.
        let unused = || {
            let unused = !is_used(&entry.path());
            std::thread::sleep(Duration::from_millis(2));
            unused
        };
        if ours && !running && unused() && unused() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a process that was left still runs, has the directory in its environment, or has a file in it mapped.
/// One of these is not enough: a daemon writes its title over its environment, and the processes that it starts
/// later are not in the list.
fn is_used(directory: &Path) -> bool {
    let left = fs::read_to_string(directory.join(Stage::LEFT)).unwrap_or_default();
    let runs = |line: &str| {
        let (pid, start) = line.split_once(' ')?;
        let start: u64 = start.parse().ok()?;
        Some(processes::start_of(pid.parse().ok()?)? == start)
    };
    if left.lines().any(|line| runs(line) == Some(true)) {
        return true;
    }
    let needle = directory.as_os_str().as_encoded_bytes();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .flat_map(|process| ["environ", "maps"].map(|file| process.path().join(file)))
        .filter_map(|file| fs::read(file).ok())
        .any(|text| text.windows(needle.len()).any(|window| window == needle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn what_a_process_has_mapped_is_used() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        assert!(!is_used(directory.path()));
        // A program that no environment names: mapped because it runs. Copied by a child: what we wrote
        // ourselves, a fork of another test might still hold open, and what is written to does not run.
        let program = directory.path().join("sleep");
        let copied = std::process::Command::new("cp")
            .arg("/bin/sleep")
            .arg(&program)
            .status();
        assert!(copied.expect("cp is installed").success());
        let mut child = std::process::Command::new(&program)
            .arg("120")
            .env_clear()
            .spawn()
            .expect("it starts");
        // A process is there before its program is mapped.
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut used = false;
        while !used && Instant::now() < deadline {
            used = is_used(directory.path());
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(used);
    }

    #[test]
    fn a_directory_is_used_while_a_process_that_was_left_runs() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let pid = std::process::id();
        let start = processes::start_of(pid).expect("this process runs");
        let list = directory.path().join(Stage::LEFT);
        fs::write(&list, format!("{pid} {start}\n")).expect("it is ours");
        assert!(is_used(directory.path()));
        // Another process may get the same id later.
        fs::write(&list, format!("{pid} {}\n", start + 1)).expect("it is ours");
        assert!(!is_used(directory.path()));
    }

    #[test]
    fn a_private_configuration_stays_private() {
        let stage = Stage::new().expect("a temporary directory");
        let mode = |path: &Path| fs::metadata(path).expect("it was written").mode() & 0o777;
        assert_eq!(mode(stage.path()), 0o755);
        let open = stage.write("open", b"", None).expect("it is ours");
        assert_eq!(mode(&open), 0o644);
        fs::set_permissions(&open, PermissionsExt::from_mode(0o640)).expect("it is ours");
        let copy = stage
            .write("copy", b"text", Some(&open))
            .expect("it is ours");
        assert_eq!(mode(&copy), 0o640);
        assert_eq!(fs::read(copy).expect("it is ours"), b"text");
    }
}
