//! sshd's host keys that 'outboard keys adopt' has moved into the service: whether the agent still offers them.

use std::fs;
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};

use crate::Finding;
use crate::card_service::Place;
use crate::service::SUBJECT;
use crate::ssh_agent;

/// The file in which 'outboard keys adopt' names them, and tells sshd to ask the service.
pub const DROP_IN: &str = "/etc/ssh/sshd_config.d/outboard.conf";
/// How the names begin there: only public halves have them.
pub const PREFIX: &str = "outboard_";

/// The findings about the system's host keys. Root alone sees all keys.
pub(crate) fn examine(place: &Place) -> Vec<Finding> {
    if !outboard_installation::is_root() {
        return Vec::new();
    }
    let text = fs::read_to_string(DROP_IN).unwrap_or_default();
    let files = moved(&text);
    if files.is_empty() {
        return Vec::new();
    }
    let socket = ssh_agent::socket(&place.directory);
    let Ok(offered) = ssh_agent::connect(&socket).and_then(ssh_agent::keys) else {
        // The front's own finding says why.
        return Vec::new();
    };
    let lacks = |file: &&PathBuf| public(file).is_some_and(|key| !contains(&offered, &key));
    files.iter().filter(lacks).map(|file| lost(file)).collect()
}

fn lost(file: &Path) -> Finding {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let original = file.with_file_name(name.strip_prefix(PREFIX).unwrap_or(&name));
    let original = original.display();
    Finding::problem(
        SUBJECT,
        format!("sshd cannot use its host key {original}: the service's agent does not offer it"),
    )
    .because(format!(
        "{DROP_IN} names it, and the service has no such key, or root has no grant for it"
    ))
    .remedy(format!(
        "run 'outboard keys adopt --revert {original}', then 'systemctl reload ssh' (or sshd)"
    ))
}

/// The names of the moved keys in that file.
fn moved(drop_in: &str) -> Vec<PathBuf> {
    let files = drop_in
        .lines()
        .filter_map(|line| line.strip_prefix("HostKey "));
    let files = files.map(|file| PathBuf::from(file.trim()));
    let is_moved = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(PREFIX)
    };
    files.filter(is_moved).collect()
}

/// The public half beside that name, as an agent sends it.
fn public(file: &Path) -> Option<Vec<u8>> {
    let mut name = file.as_os_str().to_owned();
    name.push(".pub");
    let line = fs::read_to_string(PathBuf::from(name)).ok()?;
    let key = Base64::decode_vec(line.split_whitespace().nth(1)?).ok()?;
    (!key.is_empty()).then_some(key)
}

fn contains(answer: &[u8], key: &[u8]) -> bool {
    answer.windows(key.len()).any(|part| part == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_keys_are_known_by_their_names() {
        let text = "# HostKey /etc/ssh/outboard_x\nHostKeyAgent /run/outboard/agent.sock\n\
                    HostKey /etc/ssh/outboard_ssh_host_rsa_key\nHostKey /etc/ssh/ssh_host_ed25519_key\n";
        let files = moved(text);
        assert_eq!(files, [PathBuf::from("/etc/ssh/outboard_ssh_host_rsa_key")]);
        let remedy = lost(&files[0]).remedy.unwrap();
        assert!(
            remedy.contains("--revert /etc/ssh/ssh_host_rsa_key'"),
            "{remedy}"
        );
    }
}
