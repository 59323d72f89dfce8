//! The way back from the service.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use outboard_file_replacement::{create, replace};

use super::drop_in::{DROP_IN, DropIn, copy_of};
use super::settings::{PATH, Settings, checked, is_installed};
use super::{MAIN, RELOAD, body, is_host_key, public_beside, put};
use crate::Failure;
use crate::output::print;

/// The way back from the service, for some host keys.
pub(in crate::command::keys) struct Release {
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
    pub(in crate::command::keys) fn of(files: &[PathBuf]) -> Result<Option<Self>, Failure> {
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
    pub(in crate::command::keys) fn is_back(&self, file: &PathBuf) -> bool {
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
    pub(in crate::command::keys) fn finish(self) -> Result<(), Failure> {
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
pub(in crate::command::keys) fn restore_public(file: &Path) -> Result<(), Failure> {
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
