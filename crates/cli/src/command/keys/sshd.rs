//! sshd's host keys: sshd must ask the service for a key before the key's file goes, or nobody could log in.
//!
//! sshd reads its configuration when it starts or is reloaded, and its key files again for each connection. So the first
//! 'adopt' writes the drop-in and leaves the keys; after a reload, the second one takes them. It also lets the drop-in name
//! copies of the public halves. Until the next reload, sshd reads the public halves beside the private files that are gone.
//! The way back is alike: the copies stay until sshd was reloaded.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64ct::{Base64, Encoding};
use outboard_file_replacement::{create, replace};

use super::adopt::public_beside;
use super::drop_in::{DROP_IN, DropIn, copy_of, is_copy, is_plain};
use crate::Failure;
use crate::output::print;
use outboard_inspect::ssh_agent;

/// OpenSSH's configuration.
const MAIN: &str = "/etc/ssh/sshd_config";
/// After each change of the configuration.
pub(super) const RELOAD: &str = "systemctl reload ssh (or sshd)";

/// Whether sshd reads that file: by the name that ssh-keygen gives host keys, or by sshd's configuration.
pub(super) fn is_host_key(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    let is_this = |host_key: &PathBuf| is_same(host_key, file);
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
    let public = Base64::decode_vec(body(&public)).map_err(io::Error::other)?;
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

/// The key of a line of OpenSSH's, without its comment.
pub(super) fn body(public: &str) -> &str {
    public.split_whitespace().nth(1).unwrap_or_default()
}

/// A change of the drop-in that can be undone.
pub(super) struct Naming {
    previous: Option<DropIn>,
    copies: Vec<PathBuf>,
}

impl Naming {
    /// Makes everything as it was before.
    pub(super) fn undo(self) {
        // What fails here leaves a configuration that names a key which the service has.
        let undone = match self.previous {
            Some(previous) => put(&previous),
            None => fs::remove_file(DROP_IN).map_err(Failure::from),
        };
        if undone.is_ok() {
            for copy in self.copies {
                let _ = fs::remove_file(public_beside(&copy));
            }
        }
    }
}

/// Lets the configuration name a copy of the public half of that host key, which the agent at `socket` offers. Nothing is
/// done where sshd does not read the key, or where the configuration names the copy already.
///
/// # Errors
/// sshd would not accept the configuration; it is then as it was.
pub(super) fn name_copy(file: &Path, socket: &Path) -> Result<Option<Naming>, Failure> {
    let settings = Settings::of_system()?;
    let Some(file) = settings.host_keys.iter().find(|name| is_same(name, file)) else {
        return Ok(None);
    };
    let previous = DropIn::of_system();
    if previous.is_none() && fs::symlink_metadata(DROP_IN).is_ok() {
        return Err(
            format!("{DROP_IN} is there, but not written by this command: move it away").into(),
        );
    }
    let mut new = previous.clone().unwrap_or_else(|| DropIn::new(&[]));
    if new.host_keys.is_empty() && settings.are_default()? {
        // The first line replaces sshd's defaults, so all of those that are there must be named.
        let is_there = |file: &PathBuf| file.exists() || public_beside(file).exists();
        let host_keys = settings.host_keys.iter().filter(|file| is_there(file));
        new.host_keys = host_keys.cloned().collect();
    }
    let mut copies = Vec::new();
    for name in &mut new.host_keys {
        // An older version named no copies.
        let is_away = || !name.exists() && offers(socket, &public_beside(name)).is_ok();
        if !is_copy(name) && (name == file || is_away()) {
            copies.push(copy(name)?);
            *name = copy_of(name);
        }
    }
    let name = copy_of(file);
    if !new.host_keys.contains(&name) {
        copies.push(copy(file)?);
        new.host_keys.push(name);
    }
    if copies.is_empty() {
        return Ok(None);
    }
    let naming = Naming { previous, copies };
    match put(&new) {
        Ok(()) => Ok(Some(naming)),
        Err(refused) => {
            naming.undo();
            Err(refused)
        }
    }
}

/// Says which lines of the administrator's are in the way of the copies.
pub(super) fn tell_other_lines() -> Result<(), Failure> {
    let Some(drop_in) = DropIn::of_system() else {
        return Ok(());
    };
    let others = Settings::of_system()?.others(&drop_in);
    let is_adopted = |file: &&PathBuf| drop_in.host_keys.contains(&copy_of(file));
    for file in others.iter().filter(is_adopted) {
        print(&format!(
            "Remove the line 'HostKey {0}' from {MAIN} (or from a file that it includes): {DROP_IN} names the key now, \
             and Debian's openssh-server makes a new key for that line when it is upgraded.\n",
            file.display()
        ))?;
    }
    Ok(())
}

/// Copies the public half of a host key.
fn copy(file: &Path) -> Result<PathBuf, Failure> {
    let name = copy_of(file);
    if !is_plain(name.as_os_str()) {
        return Err(format!(
            "sshd's configuration has no room for the name {}",
            name.display()
        )
        .into());
    }
    let (from, to) = (public_beside(file), public_beside(&name));
    let content =
        fs::read(&from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    let written = match to.exists() {
        true => replace(&to, &content, |_| Ok::<(), io::Error>(())),
        false => create(&to, &content),
    };
    written.map_err(|error| format!("cannot write {}: {error}", to.display()))?;
    Ok(name)
}

/// Puts that drop-in in its place, if sshd accepts it and reads all of it.
fn put(new: &DropIn) -> Result<(), Failure> {
    let failed = |error| format!("cannot write {DROP_IN}: {error}");
    let previous = fs::read(DROP_IN).ok();
    let write = |content: &[u8]| match Path::new(DROP_IN).exists() {
        true => replace(Path::new(DROP_IN), content, |_| Ok::<(), io::Error>(())),
        false => create(Path::new(DROP_IN), content),
    };
    write(new.text().as_bytes()).map_err(failed)?;
    let problem = match checked() {
        Ok(settings)
            if new
                .host_keys
                .iter()
                .all(|name| settings.host_keys.contains(name)) =>
        {
            return Ok(());
        }
        Ok(_) => format!(
            "{MAIN} does not include it (put 'Include /etc/ssh/sshd_config.d/*.conf' at the top of {MAIN})"
        ),
        Err(refused) => refused,
    };
    match previous {
        Some(previous) => write(&previous),
        None => fs::remove_file(DROP_IN),
    }
    .map_err(failed)?;
    Err(format!("{DROP_IN} is as it was: {problem}").into())
}

/// The way back from the service, for some host keys.
pub(super) struct Release {
    files: Vec<PathBuf>,
    /// None where there is no sshd any more.
    settings: Option<Settings>,
}

impl Release {
    /// Looks whether sshd would accept a change, before anything is touched. None where none of the files has to do with
    /// sshd.
    ///
    /// # Errors
    /// sshd refuses its configuration as it is.
    pub(super) fn of(files: &[PathBuf]) -> Result<Option<Self>, Failure> {
        let has_copy = |file: &PathBuf| public_beside(&copy_of(file)).exists();
        let ours = DropIn::of_system().is_some();
        let mut files = files.to_vec();
        files.retain(|file| has_copy(file) || (ours && is_host_key(file)));
        if files.is_empty() {
            return Ok(None);
        }
        let settings = match is_installed() {
            true => Some(checked().map_err(|refused| {
                format!(
                    "no file was touched: sshd refuses its configuration: {refused} (mend it, then run this command again)"
                )
            })?),
            false => None,
        };
        Ok(Some(Self { files, settings }))
    }

    /// Whether the file is in its place again, since an earlier try.
    pub(super) fn is_back(&self, file: &PathBuf) -> bool {
        // A key that somebody made there since is another one.
        let is_own = match fs::read_to_string(public_beside(&copy_of(file))) {
            Ok(copy) => derived(file).is_none_or(|own| body(&own) == body(&copy)),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        self.files.contains(file) && file.exists() && is_own
    }

    /// Takes the files' lines away, and the drop-in with the last of them.
    ///
    /// # Errors
    /// sshd would not accept its configuration; the drop-in is then as it was.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if let Some(drop_in) = DropIn::of_system() {
            self.change(drop_in)?;
        }
        let copies = self.files.iter().map(|file| public_beside(&copy_of(file)));
        let copies: Vec<_> = copies.filter(|copy| copy.exists()).collect();
        if copies.is_empty() {
            return Ok(());
        }
        let settings = match self.settings {
            Some(_) => Some(Settings::of_system()?),
            None => None,
        };
        let names: Vec<_> = copies
            .iter()
            .map(|copy| copy.display().to_string())
            .collect();
        let names = names.join(", ");
        let is_named = |settings: &Settings| {
            let mut files = self.files.iter();
            files.any(|file| settings.host_keys.contains(&copy_of(file)))
        };
        if settings.as_ref().is_some_and(is_named) {
            print(&format!(
                "{MAIN}, or a file that it includes, still has lines 'HostKey' with names of copies. Change them, then run \
                 this command again: it removes {names}.\n"
            ))?;
            return Ok(());
        }
        if settings
            .as_ref()
            .is_some_and(|it| it.pid_file == Path::new("none"))
        {
            print(&format!(
                "An sshd that runs still reads {names}, and asks the service. Remove these copies of public keys after {RELOAD}.\n"
            ))?;
            return Ok(());
        }
        if settings.is_some_and(|settings| !settings.are_read()) {
            print(&format!(
                "The sshd that runs still reads {names}, and asks the service. Run {RELOAD}, then this command again: it \
                 removes these copies of public keys.\n"
            ))?;
            return Ok(());
        }
        for copy in &copies {
            fs::remove_file(copy)
                .map_err(|error| format!("cannot remove {}: {error}", copy.display()))?;
        }
        print(&format!("Removed {names}.\n"))?;
        Ok(())
    }

    /// Changes the drop-in, or removes it.
    fn change(&self, drop_in: DropIn) -> Result<(), Failure> {
        let mut new = drop_in.clone();
        let others = self.settings.as_ref().map(|it| it.others(&drop_in));
        new.host_keys.clear();
        for name in &drop_in.host_keys {
            let mut files = self.files.iter();
            match files.find(|file| copy_of(file) == *name) {
                Some(file) if others.as_ref().is_some_and(|it| it.contains(file)) => {}
                Some(file) => new.host_keys.push(file.clone()),
                None => new.host_keys.push(name.clone()),
            }
        }
        let is_away = |file: &PathBuf| !file.exists() && public_beside(file).exists();
        let is_used = match &self.settings {
            Some(settings) => {
                let mut host_keys = settings.host_keys.iter();
                host_keys
                    .any(|name| is_away(name) && !self.files.iter().any(|it| copy_of(it) == *name))
            }
            None => false,
        };
        if new.has_copies() || is_used {
            if new != drop_in {
                put(&new)?;
                print(&format!(
                    "{DROP_IN} names the private keys again. sshd reads it as soon as you run {RELOAD}.\n"
                ))?;
            }
            return Ok(());
        }
        fs::remove_file(DROP_IN).map_err(|error| format!("cannot remove {DROP_IN}: {error}"))?;
        if self.settings.is_some() {
            let settings = checked().or_else(|refused| {
                create(Path::new(DROP_IN), drop_in.text().as_bytes())
                    .map_err(|error| format!("cannot write {DROP_IN} again: {error}"))?;
                Err(format!(
                    "{DROP_IN} stays, because sshd refuses its configuration without: {refused}"
                ))
            })?;
            for file in &new.host_keys {
                if !settings.host_keys.contains(file) {
                    print(&format!(
                        "No line of {MAIN} names {0} any more. Write 'HostKey {0}' into it if sshd shall use the key.\n",
                        file.display()
                    ))?;
                }
            }
        }
        print(&format!(
            "sshd asks the service no longer for its host keys, as soon as you run {RELOAD}.\n"
        ))?;
        Ok(())
    }
}

/// Makes the public half beside a private key the key's own, if another one is there: Debian's openssh-server overwrites
/// it where it makes a new key.
///
/// # Errors
/// It cannot be written.
pub(super) fn restore_public(file: &Path) -> Result<(), Failure> {
    let beside = public_beside(file);
    let present = fs::read_to_string(&beside).unwrap_or_default();
    let is_ssh = present.starts_with("ssh-") || present.starts_with("ecdsa-sha2-");
    let copy = fs::read_to_string(public_beside(&copy_of(file))).ok();
    if !is_ssh && copy.is_none() {
        return Ok(());
    }
    let Some(own) = derived(file) else {
        return Ok(());
    };
    if body(&own) == body(&present) {
        return Ok(());
    }
    // The copy has the comment, too.
    let own = copy.filter(|copy| body(copy) == body(&own)).unwrap_or(own);
    let written = match beside.exists() {
        true => replace(&beside, own.as_bytes(), |_| Ok::<(), io::Error>(())),
        false => create(&beside, own.as_bytes()),
    };
    written.map_err(|error| format!("cannot write {}: {error}", beside.display()))?;
    print(&format!(
        "{} was another key's. It is this key's public half again.\n",
        beside.display()
    ))?;
    Ok(())
}

/// The public half of a private key without a passphrase, as ssh-keygen tells it.
fn derived(file: &Path) -> Option<String> {
    let output = Command::new("ssh-keygen")
        .args(["-y", "-P", "", "-f"])
        .arg(file)
        .env("PATH", PATH)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !body(&text).is_empty()).then_some(text)
}

/// Whether both are one file.
fn is_same(name: &Path, file: &Path) -> bool {
    name == file || name.canonicalize().is_ok_and(|path| path == file)
}

/// Writes the drop-in, which `sshd -t` has accepted before and accepts after.
fn write_drop_in(socket: &Path) -> Result<(), Failure> {
    if !is_plain(socket.as_os_str()) {
        return Err(format!(
            "sshd's configuration has no room for the name {}",
            socket.display()
        )
        .into());
    }
    if fs::symlink_metadata(DROP_IN).is_ok() {
        return Err(format!(
            "{DROP_IN} is there, but sshd does not ask the service: look at it, and at the line 'Include' of {MAIN}"
        )
        .into());
    }
    let line = format!("HostKeyAgent {}", socket.display());
    sshd(
        &["-t", "-f", "/dev/stdin"],
        &format!("{line}\nInclude {MAIN}\n"),
    )
    .map_err(|refused| format!("sshd refuses the line '{line}': {refused}"))?;
    let text = DropIn::new(std::slice::from_ref(&line)).text();
    create(Path::new(DROP_IN), text.as_bytes())
        .map_err(|error| format!("cannot write {DROP_IN}: {error}"))?;
    let problem = match checked() {
        Ok(settings) if settings.agent.as_deref() == Some(socket) => return Ok(()),
        Ok(_) => format!("{MAIN} does not include it (put '{line}' at the top of {MAIN})"),
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

    /// The host keys that lines outside of the drop-in name.
    fn others(&self, drop_in: &DropIn) -> Vec<PathBuf> {
        let mut others = self.host_keys.clone();
        for name in &drop_in.host_keys {
            if let Some(at) = others.iter().position(|other| other == name) {
                others.remove(at);
            }
        }
        others
    }

    /// Whether no line names host keys, so that sshd takes its defaults: then lines before all others replace them.
    fn are_default(&self) -> Result<bool, Failure> {
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
    fn are_read(&self) -> bool {
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
fn checked() -> Result<Settings, String> {
    let text = sshd(&["-t"], "").and_then(|_| sshd(&["-T"], ""))?;
    Ok(Settings::read(&text))
}

/// Where sshd is.
const PATH: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";

fn is_installed() -> bool {
    PATH.split(':')
        .any(|directory| Path::new(directory).join("sshd").exists())
}

/// What sshd prints with these arguments; why it refuses.
fn sshd(arguments: &[&str], input: &str) -> Result<String, String> {
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
