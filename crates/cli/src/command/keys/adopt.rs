//! `outboard keys adopt`: the key of a file moves into the service, and a reference takes its place.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use outboard_administration::{Connection, Grant, KeyInfo, Request, Right, Secret, Subject};
use outboard_file_replacement::{copy_beside, replace};
use outboard_wire::{AGENT_SOCKET, SYSTEM_DIRECTORY};
use zeroize::Zeroizing;

use super::sshd::drop_in::{self, DROP_IN, DropIn};
use super::sshd::public_beside;
use super::{key, private_key, sshd, text};
use crate::completion;
use crate::output::print;
use crate::{Failure, WrongUsage};
use outboard_accounts::{self as accounts, Account};
use outboard_inspect::card_service::{Place, option};
use outboard_inspect::early;
use outboard_inspect::loading::{self, Obstacle};
use outboard_inspect::references::{BACKUP, backup_of};
use outboard_processes::{Process, restart_command, restart_lines, restart_names};

/// What the labels of private keys in PEM end with.
const LABEL: &str = "PRIVATE KEY-----";

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The key files: PEM, perhaps with certificates beside the key, or OpenSSH's
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// The key's name; otherwise the file's, without its extension
    #[arg(long)]
    name: Option<String>,
    /// A file whose first line is the passphrase
    #[arg(long, value_name = "FILE")]
    passphrase: Option<PathBuf>,
    /// Let this user use the key, by name or number; repeat the option for others
    #[arg(long, value_name = "USER", add = completion::users())]
    user: Vec<String>,
    /// Keep no copy of the file
    #[arg(long)]
    destroy: bool,
    /// Take the keys even if no program can read a reference so far
    #[arg(long)]
    anyway: bool,
    /// Put the copies back that were kept of these files
    #[arg(long, conflicts_with_all = ["name", "passphrase", "user", "destroy", "anyway"])]
    pub(super) revert: bool,
}

pub(super) fn run(
    service: &mut Connection,
    arguments: &Arguments,
    directory: &Path,
) -> Result<(), Failure> {
    if arguments.name.is_some() && arguments.files.len() > 1 {
        return Err(WrongUsage("--name is for one file".into()).into());
    }
    let users = arguments
        .user
        .iter()
        .map(|user| accounts::find(Account::User, user))
        .collect::<Result<Vec<_>, _>>()?;
    let files: Vec<_> = arguments
        .files
        .iter()
        .flat_map(|file| expand(file))
        .collect();
    if files
        .iter()
        .any(|file| file.exists() && !is_of_openssh(file))
    {
        see_that_it_can_be_read(directory, arguments.anyway)?;
    }
    let mut any_ssh = false;
    let mut any_reference = false;
    let mut hosts = Hosts::default();
    for file in &files {
        match adopt(service, arguments, file, &users, directory, &mut hosts) {
            Ok(is_ssh) => {
                any_ssh |= is_ssh;
                any_reference |= !is_ssh;
            }
            Err(failure) => {
                hosts.tell()?;
                return Err(failure);
            }
        }
    }
    hosts.tell()?;
    if any_reference {
        tell_early(directory)?;
    }
    if any_ssh {
        let socket = directory.join(AGENT_SOCKET);
        print(&format!(
            "ssh uses keys of the service with the line 'IdentityAgent {0}' in ~/.ssh/config, sshd its host keys with \
             'HostKeyAgent {0}'.\n",
            socket.display()
        ))?;
    }
    Ok(())
}

/// Refuses where no server could read a reference to a key of the system's service. For another service, says what a server
/// needs.
fn see_that_it_can_be_read(directory: &Path, anyway: bool) -> Result<(), Failure> {
    let Some(Obstacle { because, remedy }) = loading::obstacle(directory) else {
        return Ok(());
    };
    let is_system = directory == Path::new(SYSTEM_DIRECTORY);
    if is_system && !anyway {
        let remedy = capitalised(&remedy);
        return Err(format!(
            "no key was touched: {because}, so no server could read the reference. {remedy}, restart the server, then run this \
             command again (--anyway takes the key all the same)"
        )
        .into());
    }
    let need = match is_system {
        true => {
            format!("no server can read the reference until you {remedy}, and restart the server")
        }
        false => format!(
            "a server reads the reference only with a configuration that loads Outboard and has 'service = {}'",
            directory.display()
        ),
    };
    print(&format!("Note: {because}; {need}.\n"))?;
    Ok(())
}

/// As a sentence begins.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Says which programs read no reference to a key until they are restarted.
fn tell_early(directory: &Path) -> Result<(), Failure> {
    let place = Place::in_force();
    if place.directory != directory {
        return Ok(());
    }
    let all = Process::all();
    let early = early::of(&place, &all);
    let names = restart_names(early.iter().copied());
    if names.is_empty() {
        return Ok(());
    }
    let command = restart_command(early);
    let are_units = names.iter().all(|name| name.ends_with(".service"));
    let how = match &command {
        // The command names all of them.
        Some(command) if are_units => format!("run '{command}'"),
        Some(command) => format!(
            "run '{command}', and restart the others: {}",
            restart_lines(&names).join(", ")
        ),
        None => format!("restart {}", restart_lines(&names).join(", ")),
    };
    print(&format!(
        "A reload is not enough for a program that uses the key and loaded Outboard before {} existed: {how}.\n",
        directory.display()
    ))?;
    Ok(())
}

/// What was done for sshd.
#[derive(Default)]
struct Hosts {
    /// Whether the sshd that runs asks the service.
    ask: bool,
    /// Whether sshd's configuration changed.
    named: bool,
}

impl Hosts {
    fn tell(&self) -> Result<(), Failure> {
        if self.named {
            sshd::tell_other_lines()?;
            print(&format!(
                "sshd's configuration now names copies of the public halves ({DROP_IN}). Run {}.\n",
                sshd::RELOAD
            ))?;
        }
        Ok(())
    }
}

/// Says that a key was adopted before, if so, and lets sshd's configuration name a copy of its public half if an older
/// version did not.
fn adopted_before(file: &Path, directory: &Path, hosts: &mut Hosts) -> Result<bool, Failure> {
    let public = public_beside(file);
    let socket = directory.join(AGENT_SOCKET);
    let is_offered = || sshd::offers(&socket, &public).is_ok();
    if !public.exists() || !(backup_of(file).exists() || is_offered()) {
        return Ok(false);
    }
    print(&format!(
        "{0} is gone because it was adopted already: the service has its key. To put the file back, run \
         'outboard keys adopt --revert {0}'.\n",
        file.display()
    ))?;
    if sshd::is_host_key(file) && is_offered() && DropIn::of_system().is_some() {
        hosts.named |= sshd::name_copy(file, &socket)?.is_some();
    }
    Ok(true)
}

/// The files of OpenSSH that a pattern means where the shell found none, because all were adopted or put back before.
pub(super) fn expand(pattern: &Path) -> Vec<PathBuf> {
    let found = || {
        let name = pattern.file_name()?.to_str()?;
        let name = name.strip_suffix(BACKUP).unwrap_or(name);
        let (start, end) = name.split_once('*')?;
        let parent = pattern.parent()?;
        let mut found: Vec<_> = fs::read_dir(parent)
            .ok()?
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let name = name.to_str()?.strip_suffix(".pub")?;
                let is_meant = name.len() >= start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end)
                    && !name.ends_with("-cert");
                is_meant.then(|| parent.join(name))
            })
            .filter(|file| !drop_in::is_copy(file))
            .collect();
        found.sort();
        (!pattern.exists() && !found.is_empty()).then_some(found)
    };
    found().unwrap_or_else(|| vec![pattern.to_owned()])
}

/// Adopts the key of one file; whether it is OpenSSH's.
fn adopt(
    service: &mut Connection,
    arguments: &Arguments,
    file: &Path,
    users: &[u32],
    directory: &Path,
    hosts: &mut Hosts,
) -> Result<bool, Failure> {
    if !file.exists() && adopted_before(file, directory, hosts)? {
        return Ok(true);
    }
    // A link stays a link: the file that it leads to changes.
    let file = file
        .canonicalize()
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let content = fs::read(&file)
        .map(Zeroizing::new)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    if content.len() > private_key::MOST {
        return Err(format!("{} is no key file: it has more than 1 MiB", file.display()).into());
    }
    let block = block(&content).ok_or_else(|| {
        format!(
            "{} holds no PEM block of a private key (a block OUTBOARD KEY refers to a key that the service has already; for \
             other forms, run 'outboard keys import NAME < {}')",
            file.display(),
            file.display()
        )
    })?;
    let private = private_key::read(
        &content[block.clone()],
        arguments.passphrase.as_deref(),
        &file.display().to_string(),
    )?;
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => name_of(&file),
    };
    let is_ssh = is_of_openssh(&file);
    let is_host = is_ssh && sshd::is_host_key(&file);
    let socket = directory.join(AGENT_SOCKET);
    let copy = drop_in::copy_of(&file);
    let is_named = || DropIn::of_system().is_some_and(|it| it.host_keys.contains(&copy));
    if is_host && is_named() {
        return Err(format!(
            "{0} was adopted already, and sshd uses that key, whose public half is {1}. The key that is now in {0} is another \
             one, which sshd does not use: Debian's openssh-server makes it when it is upgraded. Let it be there",
            file.display(),
            public_beside(&copy).display()
        )
        .into());
    }
    if is_host && !hosts.ask {
        sshd::asks(&socket)?;
        hosts.ask = true;
    }
    let backup = backup_of(&file);
    if is_host && backup.exists() {
        return Err(format!(
            "{0} is there already, so {1} was adopted before, and the key that is in it now may be a new one, which Debian's \
             openssh-server made: to have the old key back, run 'outboard keys adopt --revert {1}'; otherwise move {0} away",
            backup.display(),
            file.display()
        )
        .into());
    }
    if !arguments.destroy && backup.exists() {
        return Err(format!(
            "{} is there already: move it away, or add --destroy to keep no copy",
            backup.display()
        )
        .into());
    }
    let known = already_there(service, &private, &name, directory)?;
    let is_known = known.is_some();
    let mut adopted = match known {
        Some(known) => known,
        None => key(
            service,
            &Request::Import {
                name,
                key: private,
                exportable: false,
            },
        )?,
    };
    let name = adopted.name.clone();
    // sshd asks as root.
    for &uid in users.iter().chain(is_host.then_some(&0)) {
        adopted = grant(service, &name, uid)?;
    }
    let mut naming = None;
    let offered = match is_host {
        true => sshd::offers(&socket, &public_beside(&file))
            .map_err(Failure::from)
            .and_then(|()| {
                naming = sshd::name_copy(&file, &socket)?;
                Ok(())
            }),
        false => Ok(()),
    };
    // sshd and ssh read the public half beside it, and ask the agent for the rest.
    let put = offered.and_then(|()| {
        let put = match is_ssh {
            true => remove(&file, &content, !arguments.destroy),
            false => put_reference(&file, &content, block, &adopted, !arguments.destroy),
        };
        Ok(put?)
    });
    match (&put, naming) {
        (Ok(()), Some(_)) => hosts.named = true,
        (Err(_), Some(naming)) => naming.undo(),
        (_, None) => {}
    }
    put.map_err(|error| {
        format!(
            "{} is as it was: {error} (the service has the key '{name}' now; run this command again when that is mended)",
            file.display()
        )
    })?;
    let kept = match arguments.destroy {
        true => "No copy of the file was kept.".to_owned(),
        false => format!(
            "The file as it was is {}. Move it to a safe place, or destroy it.",
            backup.display()
        ),
    };
    match is_known {
        true => text::tell_known(&adopted, directory)?,
        false => text::tell_new(&adopted, directory)?,
    }
    let now = match is_ssh {
        true => "is gone; its public half stays beside it",
        false => "now holds a reference to the key",
    };
    print(&format!("{} {now}. {kept}\n", file.display()))?;
    Ok(is_ssh)
}

/// The key of the service that has the same public half, whatever its name. Refuses if another key has the name.
fn already_there(
    service: &mut Connection,
    private: &Secret,
    name: &str,
    directory: &Path,
) -> Result<Option<KeyInfo>, Failure> {
    let public = private_key::public_pem(private)?;
    let (keys, _) = service.keys()?;
    let is_same = |key: &&KeyInfo| key.public.trim() == public.trim();
    let named = keys.iter().find(|key| key.name == name);
    if let Some(same) = named.filter(is_same).or(keys.iter().find(is_same)) {
        return Ok(Some(same.clone()));
    }
    match named {
        None => Ok(None),
        Some(other) => Err(format!(
            "the service has another key named '{name}' ({}): --name takes another name, or 'outboard keys delete {name} \
             --yes{}' destroys that one",
            other.kind,
            option(directory)
        )
        .into()),
    }
}

fn grant(service: &mut Connection, name: &str, uid: u32) -> Result<KeyInfo, Failure> {
    let request = Request::Grant {
        name: name.to_owned(),
        grant: Grant {
            to: Subject::User(uid),
            right: Right::Use,
        },
        given: true,
    };
    key(service, &request)
}

/// Puts the reference where the block is. The copy is there before the file changes.
fn put_reference(
    file: &Path,
    content: &[u8],
    block: std::ops::Range<usize>,
    key: &KeyInfo,
    keep: bool,
) -> io::Result<()> {
    if keep {
        copy_beside(file, content, &backup_of(file))?;
    }
    let before = &content[..block.start];
    let after = &content[block.end..];
    let new = Zeroizing::new([before, key.reference.as_bytes(), after].concat());
    // An overwritten file system block may live on; overwriting first is all that can be done here.
    if !keep && fs::metadata(file)?.nlink() == 1 {
        wipe(file)?;
    }
    replace(file, &new, |_| Ok::<(), io::Error>(()))
}

/// Removes the file. The copy is there before.
fn remove(file: &Path, content: &[u8], keep: bool) -> io::Result<()> {
    match keep {
        true => copy_beside(file, content, &backup_of(file))?,
        false if fs::metadata(file)?.nlink() == 1 => wipe(file)?,
        false => {}
    }
    fs::remove_file(file)
}

/// Whether OpenSSH reads the file's key by the public half beside it.
fn is_of_openssh(file: &Path) -> bool {
    let public = fs::read_to_string(public_beside(file)).unwrap_or_default();
    ["ssh-", "ecdsa-sha2-"]
        .iter()
        .any(|kind| public.starts_with(kind))
}

/// Overwrites a file's content in its place.
fn wipe(file: &Path) -> io::Result<()> {
    use std::io::Write;
    let length = fs::metadata(file)?.len();
    let mut open = fs::OpenOptions::new().write(true).open(file)?;
    let zeros = vec![0; usize::try_from(length).unwrap_or(private_key::MOST)];
    open.write_all(&zeros)?;
    open.sync_all()
}

/// The key's name where none is given: the file's, in letters that names have.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let lower = stem.to_ascii_lowercase();
    let name: String = lower
        .chars()
        .map(|letter| if allowed(letter) { letter } else { '-' })
        .collect();
    name.trim_start_matches(['.', '_', '-']).to_owned()
}

/// Where the first PEM block of a private key is, with its line end. Old forms have a block of parameters before, which
/// the reference needs no more than the key does.
fn block(content: &[u8]) -> Option<std::ops::Range<usize>> {
    let mut start = None;
    let mut at = 0;
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
        let end = at + line.len();
        if text.starts_with("-----BEGIN ") && text.ends_with(LABEL) {
            start = Some(at);
        } else if let Some(start) = start
            && text.starts_with("-----END ")
            && text.ends_with(LABEL)
        {
            return Some(start..end);
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_the_key_is_found_among_others() {
        let certificate = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
        let key = "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\r\n";
        let both = format!("{certificate}{key}{certificate}");
        let range = block(both.as_bytes()).unwrap();
        assert_eq!(&both[range], key);
        assert_eq!(block(certificate.as_bytes()), None);
        assert_eq!(block(&key.as_bytes()[..40]), None);
        let reference = "-----BEGIN OUTBOARD KEY-----\nAA==\n-----END OUTBOARD KEY-----\n";
        assert_eq!(block(reference.as_bytes()), None);
    }

    #[test]
    fn a_file_gives_its_key_a_name() {
        for (file, name) in [
            ("/etc/nginx/site.key", "site"),
            ("ssh_host_rsa_key", "ssh_host_rsa_key"),
            ("/x/Öffentlich Netz.PEM", "ffentlich-netz"),
        ] {
            assert_eq!(name_of(Path::new(file)), name);
        }
    }
}
