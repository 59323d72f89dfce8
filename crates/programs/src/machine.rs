//! A machine of one's own: this system's systemd, booted in namespaces on copies of `/etc`, `/home`, `/root`, `/usr`
//! and `/var`; the rest of the system it can only read.
//!
//! What it starts, it starts as on the system itself: by the packages' own units and configurations, with their users,
//! limits and filters, on their own ports. Nothing of it touches the system, and all of it ends with [`Machine`].

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{Error, Launch, Process, Workplace, descendants};

/// A booted machine; its processes are killed when it is dropped.
#[derive(Debug)]
pub struct Machine {
    supervisor: Option<Process>,
    /// The number that its first process has for us.
    init: u32,
}

/// What a process joins to be in the machine.
const NAMESPACES: [&str; 6] = ["--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup"];

impl Machine {
    /// Why there can be none, if that is so.
    pub fn obstacle() -> Option<&'static str> {
        let unshared = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "--net", "true"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !unshared.is_ok_and(|status| status.success()) {
            return Some("only root may have namespaces of its own");
        }
        (!Path::new("/lib/systemd/systemd").exists())
            .then_some("systemd is not installed (apt-get install systemd)")
    }

    /// Boots one, and waits until services can be started.
    ///
    /// # Errors
    /// [`Error::TimedOut`] or [`Error::Failed`] if it does not come up.
    pub fn boot(workplace: &Workplace) -> Result<Self, Error> {
        let script = workplace.write("machine.sh", include_str!("machine.sh"))?;
        let scratch = workplace.join("machine");
        fs::create_dir_all(&scratch).map_err(Error::file("make", &scratch))?;
        let mut supervisor = Launch::new("unshare")?
            .args(["--mount", "--propagation", "private", "sh"])
            .args([&script, &scratch])
            .start(&workplace.join("machine.log"))?;
        let (id, mut init) = (supervisor.id(), 0);
        supervisor.wait_until("to boot", || {
            init = descendants(id)
                .into_iter()
                .find(|&process| is_first(process))
                .unwrap_or_default();
            // Where systemctl finds it.
            Path::new(&format!("/proc/{init}/root/run/systemd/private")).exists()
        })?;
        let machine = Self {
            supervisor: Some(supervisor),
            init,
        };
        // It is degraded where one of the system's own units has no place here, which is no matter of ours.
        let wait = ["is-system-running", "--wait"];
        machine.run("systemctl")?.args(wait).finish()?;
        // From now on others than root may log in.
        machine.start("systemd-user-sessions")?;
        Ok(machine)
    }

    /// A program in the machine, as root.
    ///
    /// # Errors
    /// [`Error::Missing`].
    pub fn run(&self, program: impl AsRef<OsStr>) -> Result<Launch, Error> {
        Ok(Launch::new("nsenter")?
            .args(["--target", &self.init.to_string()])
            .args(NAMESPACES)
            .arg("--")
            .arg(program))
    }

    /// What a shell script prints to standard output; it ends with its first command that fails.
    ///
    /// # Errors
    /// [`Error::Failed`] if it fails.
    pub fn shell(&self, script: &str) -> Result<String, Error> {
        Ok(self
            .run("bash")?
            .args(["-euo", "pipefail", "-c", script])
            .succeed()?
            .output)
    }

    /// Starts a unit, and waits until systemd says that it has started.
    ///
    /// # Errors
    /// [`Error::Failed`] with the journal.
    pub fn start(&self, unit: &str) -> Result<(), Error> {
        self.manage("start", unit)
    }

    /// Restarts a unit.
    ///
    /// # Errors
    /// [`Error::Failed`] with the journal.
    pub fn restart(&self, unit: &str) -> Result<(), Error> {
        self.manage("restart", unit)
    }

    /// Reloads a unit.
    ///
    /// # Errors
    /// [`Error::Failed`] with the journal.
    pub fn reload(&self, unit: &str) -> Result<(), Error> {
        self.manage("reload", unit)
    }

    /// Stops a unit.
    ///
    /// # Errors
    /// [`Error::Failed`] with the journal.
    pub fn stop(&self, unit: &str) -> Result<(), Error> {
        self.manage("stop", unit)
    }

    /// What the machine calls a file, as we call it.
    pub fn path(&self, of_machine: impl AsRef<Path>) -> PathBuf {
        let of_machine = of_machine.as_ref();
        let below = of_machine.strip_prefix("/").unwrap_or(of_machine);
        Path::new(&format!("/proc/{}/root", self.init)).join(below)
    }

    /// Writes a file of the machine's, and the directories that lead to it.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&self, file: &str, contents: impl AsRef<[u8]>) -> Result<(), Error> {
        let path = self.path(file);
        let directory = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, contents))
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o644)))
            .map_err(Error::file("write", Path::new(file)))
    }

    /// Changes a package's file of configuration in these places, which must be there.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unexpected`].
    pub fn change(&self, file: &str, changes: &[(&str, &str)]) -> Result<(), Error> {
        let text =
            fs::read_to_string(self.path(file)).map_err(Error::file("read", Path::new(file)))?;
        let changed = changes.iter().try_fold(text, |text, (written, ours)| {
            if text.contains(written) {
                Ok(text.replace(written, ours))
            } else {
                Err(Error::Unexpected {
                    program: file.to_owned(),
                    reason: format!("it does not say '{written}'"),
                    output: text,
                })
            }
        })?;
        self.write(file, changed)
    }

    fn manage(&self, verb: &str, unit: &str) -> Result<(), Error> {
        // A job that hangs ends at systemd's own limit of 90 seconds for each of its commands, and the journal then says why.
        const BEYOND_SYSTEMD: Duration = Duration::from_secs(600);
        let systemctl = self.run("systemctl")?.args([verb, unit]);
        let finished = systemctl.limit(BEYOND_SYSTEMD).finish()?;
        if finished.status.success() {
            return Ok(());
        }
        let journal = ["--no-pager", "--lines=30", "--unit", unit];
        let said = self.run("journalctl")?.args(journal).finish()?;
        Err(Error::Failed {
            program: unit.to_owned(),
            status: format!("systemctl {verb}: {}", finished.status),
            errors: finished.errors + &said.output,
        })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Its script then clears away the control groups; what is killed instead, the next machine clears away.
        if let Some(supervisor) = self.supervisor.take() {
            let _ = supervisor.stop();
        }
    }
}

/// Whether a process is the first of its own namespace of processes.
fn is_first(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mut numbers = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))
        .into_iter()
        .flat_map(str::split_whitespace);
    numbers.next_back() == Some("1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boots_changes_nothing_and_ends() {
        if let Some(obstacle) = Machine::obstacle() {
            eprintln!("passed over: {obstacle}");
            return;
        }
        let workplace = Workplace::new().unwrap();
        let machine = Machine::boot(&workplace).unwrap();
        assert!(is_first(machine.init));
        let unit = "[Service]\nExecStart=/bin/sh -c 'id -u >/etc/by-the-unit'\nType=oneshot\n";
        machine
            .write("/etc/systemd/system/try.service", unit)
            .unwrap();
        machine.start("try").unwrap();
        assert_eq!(machine.shell("cat /etc/by-the-unit").unwrap(), "0\n");
        assert!(!Path::new("/etc/by-the-unit").exists());
        assert!(machine.shell("echo 0 >/proc/sys/kernel/sysrq").is_err());
        assert!(machine.shell("touch /opt/try").is_err());
        let missing = machine.start("no-such-unit").unwrap_err();
        assert!(missing.to_string().contains("no-such-unit"), "{missing}");
        let init = machine.init;
        drop(machine);
        // Its parent is gone as well: whoever inherits it waits for it.
        let begun = std::time::Instant::now();
        while Path::new(&format!("/proc/{init}")).exists() {
            assert!(begun.elapsed() < crate::PATIENCE, "process {init} lives on");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
