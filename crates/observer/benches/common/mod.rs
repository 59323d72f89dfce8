//! What both measurements of observing need.

use std::path::PathBuf;

/// The module beside this program, or the one that `OUTBOARD_OBSERVER` names.
pub(crate) fn module() -> PathBuf {
    if let Some(named) = std::env::var_os("OUTBOARD_OBSERVER") {
        return named.into();
    }
    let program = std::env::current_exe().unwrap();
    let module = program.with_file_name("liboutboard_observe.so");
    assert!(module.is_file(), "cargo builds {}", module.display());
    module
}
