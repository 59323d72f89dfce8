//! Where the provider is.

use std::path::{Path, PathBuf};

/// Where it may lie beside this command.
const BESIDE_THE_COMMAND: [&str; 2] = ["liboutboard.so", "outboard.so"];

/// The module that was named, or the one beside this command.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = named {
        return path
            .canonicalize()
            .map_err(|error| format!("cannot find the module {}: {error}", path.display()));
    }
    let command = std::env::current_exe()
        .map_err(|error| format!("cannot tell where this command is: {error}"))?;
    let directory = command.parent().unwrap_or(Path::new("/"));
    BESIDE_THE_COMMAND
        .iter()
        .find_map(|name| directory.join(name).canonicalize().ok())
        .ok_or_else(|| {
            format!(
                "cannot find the provider beside {} (build it with 'make', or name it with \
                 --module)",
                command.display()
            )
        })
}
