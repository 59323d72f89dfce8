//! sshd's host keys: sshd must ask the service for a key before the key's file goes, or nobody could log in.
//!
//! sshd reads its configuration when it starts or is reloaded, and its key files again for each connection. So the first
//! 'adopt' writes the drop-in and leaves the keys; after a reload, the second one takes them. It also lets the drop-in name
//! copies of the public halves. Until the next reload, sshd reads the public halves beside the private files that are gone.
//! The way back is alike: the copies stay until sshd was reloaded.
//!
//! ```text
//! naming      the way to the service: sshd asks it, and names copies of the public halves
//! release     the way back
//! drop_in     the file of sshd's configuration that is ours
//! settings    what sshd reads and accepts
//! ```

pub(super) mod drop_in;
mod naming;
mod release;
mod settings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use outboard_file_replacement::{create, replace};

use crate::Failure;
use drop_in::{DROP_IN, DropIn};
pub(super) use naming::{asks, name_copy, offers, tell_other_lines};
pub(super) use release::{Release, restore_public};
use settings::{Settings, checked};

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

/// Where OpenSSH has the public half of the key in a file.
pub(super) fn public_beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".pub");
    name.into()
}

/// The key of a line of OpenSSH's, without its comment.
fn body(public: &str) -> &str {
    public.split_whitespace().nth(1).unwrap_or_default()
}

/// Whether both are one file.
fn is_same(name: &Path, file: &Path) -> bool {
    name == file || name.canonicalize().is_ok_and(|path| path == file)
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
