//! The way to the service: sshd asks it for its host keys, and names copies of their public halves.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};
use outboard_file_replacement::{create, replace};

use super::drop_in::{DROP_IN, DropIn, copy_of, is_copy, is_plain};
use super::settings::{Settings, checked, sshd};
use super::{MAIN, RELOAD, body, is_same, public_beside, put};
use crate::Failure;
use crate::output::print;
use outboard_inspect::ssh_agent;

/// Makes sure that the sshd that runs asks the agent at `socket`.
///
/// # Errors
/// It does not, or not yet. No key was touched.
pub(in crate::command::keys) fn asks(socket: &Path) -> Result<(), Failure> {
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
pub(in crate::command::keys) fn offers(socket: &Path, public: &Path) -> io::Result<()> {
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

/// A change of the drop-in that can be undone.
pub(in crate::command::keys) struct Naming {
    previous: Option<DropIn>,
    copies: Vec<PathBuf>,
}

impl Naming {
    /// Makes everything as it was before.
    pub(in crate::command::keys) fn undo(self) {
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
pub(in crate::command::keys) fn name_copy(
    file: &Path,
    socket: &Path,
) -> Result<Option<Naming>, Failure> {
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
pub(in crate::command::keys) fn tell_other_lines() -> Result<(), Failure> {
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
