//! sshd's host keys: sshd must ask the service for a key before the key's file goes, or nobody could log in.
//!
//! sshd reads its configuration when it starts or is reloaded, and its key files again for each connection. So the first
//! 'adopt' writes the drop-in and leaves the keys; after a reload, the second one takes them.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64ct::{Base64, Encoding};
use outboard_file_replacement::create;

use super::adopt::public_beside;
use crate::Failure;
use outboard_inspect::ssh_agent;

/// OpenSSH's configuration.
const MAIN: &str = "/etc/ssh/sshd_config";
/// The file in which sshd is told to ask the service.
const DROP_IN: &str = "/etc/ssh/sshd_config.d/outboard.conf";
/// How the file begins where it is ours.
const MARK: &str = "# Written by 'outboard keys adopt'";
/// After each change of the configuration.
pub(super) const RELOAD: &str = "systemctl reload ssh (or sshd)";

/// Whether sshd reads that file: by the name that ssh-keygen gives host keys, or by sshd's configuration.
pub(super) fn is_host_key(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    let is_this = |host_key: &PathBuf| host_key.canonicalize().is_ok_and(|path| path == file);
    name.to_string_lossy().starts_with("ssh_host_")
        || Settings::of_system().is_ok_and(|settings| settings.host_keys.iter().any(is_this))
}

/// Makes sure that the sshd that runs asks the agent at `socket`.
///
/// # Errors
/// It does not, or not yet. No key was touched.
pub(super) fn asks(socket: &Path) -> Result<(), Failure> {
    ssh_agent::connect(socket).map_err(|error| {
        format!(
            "sshd could not ask the service: nobody answers at {}: {error} (run 'systemctl enable --now \
             outboard-agent.socket')",
            socket.display()
        )
    })?;
    let settings = Settings::of_system()?;
    match &settings.agent {
        None => {
            write_drop_in(socket)?;
            Err(format!(
                "no key was touched yet: sshd must ask the service first. {DROP_IN} now says so, and 'sshd -t' accepts it. \
                 Run {RELOAD}, then this command again. Clients must know all host keys of this machine before, or \
                 sshd ends their sessions (docs/service.md, SSH)"
            )
            .into())
        }
        Some(agent) if agent != socket => Err(format!(
            "sshd asks another agent for its host keys: {MAIN}, or a file that it includes, says 'HostKeyAgent {}'. \
             To use the service instead, change the line to 'HostKeyAgent {}' and run {RELOAD}",
            agent.display(),
            socket.display()
        )
        .into()),
        Some(_) if !settings.are_read() => Err(format!(
            "no key was touched yet: the sshd that runs has not read its configuration since it changed. Run {RELOAD}, \
             then this command again"
        )
        .into()),
        Some(_) => Ok(()),
    }
}

/// Makes sure that the agent at `socket` offers the key whose public half is in that file.
///
/// # Errors
/// It does not.
pub(super) fn offers(socket: &Path, public: &Path) -> io::Result<()> {
    let public = fs::read_to_string(public)?;
    let public = public.split_whitespace().nth(1).unwrap_or_default();
    let public = Base64::decode_vec(public).map_err(io::Error::other)?;
    if public.is_empty() {
        return Err(io::Error::other("its public half is damaged"));
    }
    let answer = ssh_agent::keys(ssh_agent::connect(socket)?)?;
    match answer.windows(public.len()).any(|part| part == public) {
        true => Ok(()),
        false => Err(io::Error::other(
            "the service's agent does not offer it to this user",
        )),
    }
}

/// Takes the drop-in away, where it is ours and each host key is in its file again; whether it did.
///
/// # Errors
/// sshd would not accept its configuration without the drop-in; it is then as it was.
pub(super) fn release() -> Result<bool, Failure> {
    let text = fs::read_to_string(DROP_IN).unwrap_or_default();
    if !text.starts_with(MARK) {
        return Ok(false);
    }
    let is_away = |file: &PathBuf| !file.exists() && public_beside(file).exists();
    if Settings::of_system()?.host_keys.iter().any(is_away) {
        return Ok(false);
    }
    fs::remove_file(DROP_IN).map_err(|error| format!("cannot remove {DROP_IN}: {error}"))?;
    if let Err(refused) = sshd(&["-t"], "") {
        create(Path::new(DROP_IN), text.as_bytes())
            .map_err(|error| format!("cannot write {DROP_IN} again: {error}"))?;
        return Err(format!(
            "{DROP_IN} stays, because sshd refuses its configuration without: {refused}"
        )
        .into());
    }
    Ok(true)
}

/// Writes the drop-in, which `sshd -t` has accepted before and accepts after.
fn write_drop_in(socket: &Path) -> Result<(), Failure> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    let agent = socket.to_str().filter(|path| path.chars().all(plain));
    let agent = agent.ok_or_else(|| {
        format!(
            "sshd's configuration has no room for the name {}",
            socket.display()
        )
    })?;
    if fs::symlink_metadata(DROP_IN).is_ok() {
        return Err(format!(
            "{DROP_IN} is there, but sshd does not ask the service: look at it, and at the line 'Include' of {MAIN}"
        )
        .into());
    }
    let line = format!("HostKeyAgent {agent}\n");
    sshd(
        &["-t", "-f", "/dev/stdin"],
        &format!("{line}Include {MAIN}\n"),
    )
    .map_err(|refused| format!("sshd refuses the line '{}': {refused}", line.trim()))?;
    let text = format!("{MARK}; 'outboard keys adopt --revert' removes it.\n{line}");
    create(Path::new(DROP_IN), text.as_bytes())
        .map_err(|error| format!("cannot write {DROP_IN}: {error}"))?;
    let given = sshd(&["-t"], "").and_then(|_| sshd(&["-T"], ""));
    let problem = match given.map(|text| Settings::read(&text)) {
        Ok(settings) if settings.agent.as_deref() == Some(socket) => return Ok(()),
        Ok(_) => format!(
            "{MAIN} does not include it (put '{}' at the top of {MAIN})",
            line.trim()
        ),
        Err(refused) => refused,
    };
    fs::remove_file(DROP_IN).map_err(|error| format!("cannot remove {DROP_IN}: {error}"))?;
    Err(format!(
        "sshd would not ask the service with {DROP_IN}, so the file is gone again: {problem}"
    )
    .into())
}

/// What sshd reads in its configuration.
struct Settings {
    /// The agent that it asks for its host keys.
    agent: Option<PathBuf>,
    host_keys: Vec<PathBuf>,
    /// Where a running sshd has written its number.
    pid_file: PathBuf,
}

impl Settings {
    fn of_system() -> Result<Self, Failure> {
        match sshd(&["-T"], "") {
            Ok(text) => Ok(Self::read(&text)),
            Err(refused) => {
                Err(format!("'sshd -T' refuses sshd's configuration: {refused}").into())
            }
        }
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
    fn are_read(&self) -> bool {
        let changed = |file: &Path| {
            let file = fs::metadata(file).ok()?;
            Some((file.ctime(), file.ctime_nsec()))
        };
        let drop_ins = Path::new(DROP_IN).parent().map(fs::read_dir);
        let drop_ins = drop_ins.into_iter().flatten().flatten().flatten();
        let files = drop_ins.map(|entry| entry.path()).chain([MAIN.into()]);
        let newest = files.filter_map(|file| changed(&file)).max();
        changed(&self.pid_file).is_none_or(|started| Some(started) > newest)
    }
}

/// What sshd prints with these arguments; why it refuses.
fn sshd(arguments: &[&str], input: &str) -> Result<String, String> {
    let run = || {
        let mut child = Command::new("sshd")
            .args(arguments)
            .env("PATH", "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin")
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
        false => Err(outboard_wording::printable(
            String::from_utf8_lossy(&output.stderr).trim(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
