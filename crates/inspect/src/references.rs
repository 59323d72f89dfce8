//! Files of this system that refer to keys of the card service: a program that reads one needs Outboard, and the service.
//!
//! packaging/removal.sh searches the same places.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use outboard_wire::Reference;
use outboard_wire::reference::FIRST_LINE;

use crate::Finding;
use crate::card_service::Place;
use crate::key;
use crate::service::SUBJECT;

/// What the name of the copy ends with that 'outboard keys adopt' keeps of a file.
pub const BACKUP: &str = ".outboard-backup";

/// A search ends after that time, with what it has found.
const PATIENCE: Duration = Duration::from_secs(20);

/// A file that is larger is no key file.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// How many files a sentence names.
const MOST_NAMED: usize = 8;

/// A file that holds a reference.
#[derive(Clone, Debug)]
pub struct KeyFile {
    /// Its name, with links followed.
    pub file: PathBuf,
    /// The first one in it.
    pub reference: Reference,
}

/// Those of the system: in /etc, and where PostgreSQL has its key.
pub fn of_system() -> Vec<KeyFile> {
    let mut found = below(Path::new("/etc"));
    let entries = |directory: PathBuf| fs::read_dir(directory).into_iter().flatten().flatten();
    let versions = entries("/var/lib/postgresql".into());
    let clusters = versions.flat_map(|version| entries(version.path()));
    let files = clusters.map(|cluster| cluster.path().join("server.key"));
    found.extend(files.filter_map(|file| read(&file)));
    found
}

/// Those in a directory and below it, by name. A link leads to its file.
pub fn below(directory: &Path) -> Vec<KeyFile> {
    let since = Instant::now();
    let mut found = Vec::new();
    let mut known = HashSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        if since.elapsed() > PATIENCE {
            break;
        }
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        if !known.insert((metadata.dev(), metadata.ino())) {
            continue;
        }
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| entry.path()));
        } else {
            found.extend(read(&path));
        }
    }
    found.sort_by(|one: &KeyFile, other| one.file.cmp(&other.file));
    found
}

/// The file, if it holds a reference.
pub fn read(file: &Path) -> Option<KeyFile> {
    let metadata = fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    let text = fs::read(file).ok()?;
    Some(KeyFile {
        reference: Reference::from_pem(block(&text)?).ok()?,
        file: file.canonicalize().ok()?,
    })
}

/// The block of the reference among the others of a file.
pub(crate) fn block(text: &[u8]) -> Option<&[u8]> {
    const LAST_LINE: &[u8] = b"-----END OUTBOARD KEY-----";
    let find = |what: &[u8]| text.windows(what.len()).position(|window| window == what);
    let start = find(FIRST_LINE.as_bytes())?;
    let end = find(LAST_LINE)?;
    text.get(start..end + LAST_LINE.len())
}

/// Where 'outboard keys adopt' keeps the file as it was.
pub fn backup_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(BACKUP);
    name.into()
}

/// The names of files for a sentence; of many, the first ones.
pub fn names<'a>(files: impl IntoIterator<Item = &'a Path>, between: &str) -> String {
    let names: Vec<String> = files
        .into_iter()
        .map(|file| file.display().to_string())
        .collect();
    let (first, more) = names.split_at(names.len().min(MOST_NAMED));
    match more.len() {
        0 => first.join(between),
        more => format!("{} and {more} more", first.join(between)),
    }
}

/// How the servers of these files get keys that need no service.
pub fn way_back(files: &[KeyFile]) -> String {
    let (kept, lost): (Vec<_>, Vec<_>) = files
        .iter()
        .map(|one| one.file.as_path())
        .partition(|file| backup_of(file).exists());
    let mut ways = Vec::new();
    if !kept.is_empty() {
        ways.push(format!(
            "run 'outboard keys adopt --revert {}'",
            names(kept, " ")
        ));
    }
    if !lost.is_empty() {
        ways.push(format!(
            "put keys into {}, of which no copy was kept beside the file",
            names(lost, ", ")
        ));
    }
    ways.join("; ")
}

/// The findings about the system's files whose key the service does not have. Root alone sees every file and every key.
pub(crate) fn examine(place: &Place) -> Vec<Finding> {
    if !outboard_installation::is_root() || !place.is_known() {
        return Vec::new();
    }
    let Ok((keys, _)) = place.connect().and_then(|mut service| service.keys()) else {
        // The service's own findings say why.
        return Vec::new();
    };
    let is_there = |reference: &Reference| {
        let id = reference.id.to_string();
        keys.iter().any(|key| key.id == id)
    };
    let lost = of_system()
        .into_iter()
        .filter(|one| !is_there(&one.reference));
    lost.take(MOST_NAMED)
        .map(|KeyFile { file, reference }| {
            let name = &reference.name;
            let what = format!(
                "{} refers to a key '{name}' that the service does not have",
                file.display()
            );
            Finding::problem(SUBJECT, what)
                .because("the key was deleted, or is another service's")
                .remedy(key::way_back(&file))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_where_links_lead() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let reference = Reference {
            id: "00112233445566778899aabbccddeeff".parse().unwrap(),
            name: "site".to_owned(),
            public: vec![0x30, 0x00],
        };
        let pem = reference.to_pem().unwrap();
        fs::create_dir(at("etc")).unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        fs::write(at("etc/other"), "-----BEGIN OUTBOARD KEY-----\n").unwrap();
        fs::write(at("elsewhere/site.key"), format!("text\n{pem}")).unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("etc/link")).unwrap();
        std::os::unix::fs::symlink(at("etc"), at("etc/again")).unwrap();
        let found = below(&at("etc"));
        let files: Vec<_> = found.iter().map(|one| one.file.clone()).collect();
        let file = at("elsewhere/site.key").canonicalize().unwrap();
        assert_eq!(files, std::slice::from_ref(&file));
        assert!(way_back(&found).starts_with("put keys into"));
        fs::write(backup_of(&file), "").unwrap();
        let way = format!("run 'outboard keys adopt --revert {}'", file.display());
        assert_eq!(way_back(&found), way);
    }
}
