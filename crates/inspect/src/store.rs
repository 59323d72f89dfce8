//! The card service's store: whether others can read it, and whether it is whole.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use outboard_administration::{Code, Error, Request, Status};

use crate::Finding;
use crate::card_service::Place;

const SUBJECT: &str = "store";
/// Where the system's service has its store.
const OF_SYSTEM: &str = "/var/lib/outboard/store";

impl Place {
    /// The directory of the store, as the service tells of it, or where it is expected.
    pub(crate) fn store(&self, status: Option<&Status>) -> PathBuf {
        match status {
            Some(status) => PathBuf::from(&status.store),
            None if self.is_system() => OF_SYSTEM.into(),
            None => self.directory.join("store"),
        }
    }
}

/// What in a store belongs to other users, or can be read by them.
pub(crate) fn exposed(store: &Path) -> Vec<Finding> {
    const OTHERS: u32 = 0o077;
    let Ok(directory) = store.metadata() else {
        return Vec::new();
    };
    let files = fs::read_dir(store).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.sort();
    paths.insert(0, store.to_owned());
    let finding = |path: &PathBuf| {
        let metadata = fs::symlink_metadata(path).ok()?;
        let name = path.display();
        let mode = metadata.mode() & 0o7777;
        let because = "the service does not start with such a store; a copy of it and the master key give every key";
        if metadata.uid() != directory.uid() {
            let (found, wanted) = (metadata.uid(), directory.uid());
            let what = format!("{name} belongs to uid {found}, the store to uid {wanted}");
            let finding = Finding::problem(SUBJECT, what).because(because);
            return Some(finding.remedy(format!("run 'chown {wanted} {name}'")));
        }
        if mode & OTHERS == 0 {
            return None;
        }
        let what = format!("other users can reach {name} (mode {mode:o})");
        let finding = Finding::problem(SUBJECT, what).because(because);
        Some(finding.remedy(format!("run 'chmod go-rwx {name}'")))
    };
    paths.iter().filter_map(finding).collect()
}

/// Lets the service compare its keys with its audit log. Only its administrators may.
pub(crate) fn damaged(place: &Place) -> Option<Finding> {
    let mut service = place.connect().ok()?;
    match service.ask(&Request::CheckAudit) {
        Err(Error::Refused(refusal)) if refusal.code == Code::Store => Some(
            Finding::problem(SUBJECT, "the store of the card service is damaged")
                .because(refusal.message)
                .remedy(format!(
                    "run 'outboard service stop{0}', {1}, then run 'outboard service start{0}'; keys that are whole serve meanwhile",
                    place.option(),
                    restore(place)
                )),
        ),
        _ => None,
    }
}

/// How a backup takes the store's place, while no service runs.
pub(crate) fn restore(place: &Place) -> String {
    match place.is_system() {
        true => format!(
            "run 'runuser -u outboard -- outboardd --store {OF_SYSTEM} --restore BACKUP' with a file that 'outboard keys backup' made"
        ),
        false => format!(
            "run 'outboardd --directory {} --restore BACKUP' with a file that 'outboard keys backup' made",
            place.directory.display()
        ),
    }
}
