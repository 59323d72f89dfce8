//! `outboard keys delete`: a key is destroyed, and the files that refer to it are named.

use std::path::Path;

use outboard_administration::{Connection, Request};

use super::{done, key};
use crate::output::{print, remark};
use crate::{Failure, WrongUsage};
use outboard_inspect::card_service::option;
use outboard_inspect::references;
use outboard_installation::is_root;
use outboard_wording::printable;

pub(super) fn run(
    service: &mut Connection,
    name: String,
    yes: bool,
    directory: &Path,
) -> Result<(), Failure> {
    let users = users(service, &name);
    if !yes {
        let users = users.map_or(String::new(), |files| format!("; {files} refer to it"));
        let problem = format!(
            "the key '{name}' would be lost for ever{users} (to destroy it, run 'outboard keys delete {name} --yes{}')",
            option(directory)
        );
        return Err(WrongUsage(problem).into());
    }
    done(service, &Request::Delete { name: name.clone() })?;
    print(&format!("The key '{name}' is destroyed.\n"))?;
    if let Some(files) = users {
        remark(&format!(
            "outboard: note: {files} referred to the key: a server that reads such a file needs another key \
             ('outboard doctor --key FILE' says which ways there are)"
        ));
    }
    Ok(())
}

/// The system's files that refer to the key, for a sentence. Only root can read all of them.
fn users(service: &mut Connection, name: &str) -> Option<String> {
    if !is_root() {
        return None;
    }
    let id = key(
        service,
        &Request::Show {
            name: name.to_owned(),
        },
    )
    .ok()?
    .id;
    let found = references::of_system();
    let files = found
        .iter()
        .filter(|held| held.reference.id.to_string() == id);
    let names = references::names(files.map(|held| held.file.as_path()), ", ");
    (!names.is_empty()).then(|| printable(&names))
}
