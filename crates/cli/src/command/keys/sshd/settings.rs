//! What sshd reads of its configuration, and whether it accepts it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::MAIN;
use super::drop_in::{DROP_IN, DropIn};
use crate::Failure;

/// What sshd reads in its configuration.
pub(super) struct Settings {
    /// The agent that it asks for its host keys.
    pub(super) agent: Option<PathBuf>,
    pub(super) host_keys: Vec<PathBuf>,
    /// Where a running sshd has written its number.
    pub(super) pid_file: PathBuf,
}

impl Settings {
    pub(super) fn of_system() -> Result<Self, Failure> {
        match sshd(&["-T"], "") {
            Ok(text) => Ok(Self::read(&text)),
            Err(refused) => {
                Err(format!("'sshd -T' refuses sshd's configuration: {refused}").into())
            }
        }
    }

    /// The host keys that lines outside of the drop-in name.
    pub(super) fn others(&self, drop_in: &DropIn) -> Vec<PathBuf> {
        let mut others = self.host_keys.clone();
        for name in &drop_in.host_keys {
            if let Some(at) = others.iter().position(|other| other == name) {
                others.remove(at);
            }
        }
        others
    }

    /// Whether no line names host keys, so that sshd takes its defaults: then lines before all others replace them.
    pub(super) fn are_default(&self) -> Result<bool, Failure> {
        let lines = self.host_keys.iter();
        let lines: String = lines
            .map(|file| format!("HostKey {}\n", file.display()))
            .collect();
        let text = sshd(
            &["-T", "-f", "/dev/stdin"],
            &format!("{lines}Include {MAIN}\n"),
        )
        .map_err(|refused| format!("sshd refuses lines that name its host keys: {refused}"))?;
        Ok(Self::read(&text).host_keys.len() == self.host_keys.len())
    }

    /// Reads what `sshd -T` prints.
    fn read(text: &str) -> Self {
        let values = |keyword: &str| -> Vec<PathBuf> {
            let lines = text.lines().filter_map(|line| line.split_once(' '));
            let lines = lines.filter(|(word, _)| word.eq_ignore_ascii_case(keyword));
            lines.map(|(_, value)| value.trim().into()).collect()
        };
        let first = |keyword| values(keyword).into_iter().next();
        Self {
            agent: first("hostkeyagent").filter(|agent| agent != Path::new("none")),
            host_keys: values("hostkey"),
            pid_file: first("pidfile").unwrap_or_default(),
        }
    }

    /// Whether the sshd that runs has read the configuration as it is now: it writes its pid file anew when it starts and
    /// when it is reloaded. Where there is none, no sshd waits for connections: each one is started for its connection.
    pub(super) fn are_read(&self) -> bool {
        let changed = |file: &Path| {
            let file = fs::metadata(file).ok()?;
            Some((file.ctime(), file.ctime_nsec()))
        };
        let drop_ins = Path::new(DROP_IN).parent().map(fs::read_dir);
        let drop_ins = drop_ins.into_iter().flatten().flatten().flatten();
        // The directory changes when a file of it is removed.
        let directory = Path::new(DROP_IN).parent().map(PathBuf::from);
        let files = drop_ins.map(|entry| entry.path()).chain(directory);
        let files = files.chain([MAIN.into()]);
        let newest = files.filter_map(|file| changed(&file)).max();
        changed(&self.pid_file).is_none_or(|started| Some(started) > newest)
    }
}

/// What sshd reads, if it accepts its configuration; why it refuses.
pub(super) fn checked() -> Result<Settings, String> {
    let text = sshd(&["-t"], "").and_then(|_| sshd(&["-T"], ""))?;
    Ok(Settings::read(&text))
}

/// Where sshd is.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";

pub(super) fn is_installed() -> bool {
    PATH.split(':')
        .any(|directory| Path::new(directory).join("sshd").exists())
}

/// What sshd prints with these arguments; why it refuses.
pub(super) fn sshd(arguments: &[&str], input: &str) -> Result<String, String> {
    let mut output = run(arguments, input);
    if let Err(refused) = &output
        && make_directory(refused)
    {
        output = run(arguments, input);
    }
    output
}

fn run(arguments: &[&str], input: &str) -> Result<String, String> {
    let run = || {
        let mut child = Command::new("sshd")
            .args(arguments)
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that reads nothing has ended before.
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output()
    };
    let output = run().map_err(|error| format!("cannot run 'sshd': {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(one_line(&String::from_utf8_lossy(&output.stderr))),
    }
}

/// What a program said, whose lines may end with a carriage return.
fn one_line(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| outboard_wording::printable(line.trim()));
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

/// Makes the directory without which sshd does not even read its configuration, if sshd says so: Debian's unit makes it,
/// and removes it when sshd stops. Whether it did.
fn make_directory(refused: &str) -> bool {
    let name = refused.split_once("Missing privilege separation directory: ");
    let Some((_, name)) = name.filter(|(_, name)| name.starts_with("/run/")) else {
        return false;
    };
    let name = name.split(';').next().unwrap_or_default();
    fs::create_dir(name)
        .and_then(|()| fs::set_permissions(name, fs::Permissions::from_mode(0o755)))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sshd_says_becomes_one_line() {
        let text = "/etc/ssh/sshd_config: line 1: Bad option: X\r\nterminating, 1 bad option\r\n";
        assert_eq!(
            one_line(text),
            "/etc/ssh/sshd_config: line 1: Bad option: X; terminating, 1 bad option"
        );
    }

    #[test]
    fn what_sshd_prints_is_read() {
        let text =
            "port 22\nhostkeyagent none\nhostkey /a/one\nhostkey /a/two\npidfile /run/sshd.pid\n";
        let settings = Settings::read(text);
        assert_eq!(settings.agent, None);
        assert_eq!(
            settings.host_keys,
            [Path::new("/a/one"), Path::new("/a/two")]
        );
        assert_eq!(settings.pid_file, Path::new("/run/sshd.pid"));
        let settings = Settings::read("HostKeyAgent /run/outboard/agent.sock\n");
        assert_eq!(
            settings.agent.as_deref(),
            Some(Path::new("/run/outboard/agent.sock"))
        );
    }
}
