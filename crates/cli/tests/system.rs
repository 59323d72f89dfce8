//! The very system switched on and off again, and its card service, in a file system view of one's own.

mod common;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a script as root in a mount namespace of its own: `script.sh SCRATCH OUTBOARD MODULE MORE…`. It puts copies in the
/// place of the files that it changes: whatever it does to them ends with it.
fn session(name: &str, script: &str, more: impl FnOnce(&Path) -> Vec<PathBuf>) {
    let private = ["--mount", "--propagation", "private"];
    let allowed = Command::new("unshare").args(private).arg("true").output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: only root can have a mount namespace of its own");
        return;
    }
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let module = common::module();
    let output = Command::new("unshare")
        .args(private)
        .args(["sh", "-eu", "-c", script])
        .arg(name)
        .arg(scratch.path())
        .arg(assert_cmd::cargo::cargo_bin("outboard"))
        .arg(&module)
        .args(more(&module).into_iter().map(OsString::from))
        .env_remove("OPENSSL_CONF")
        .env_remove("OPENSSL_MODULES")
        .output()
        .expect("unshare ran before");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn enable_and_disable_the_system() {
    session("system.sh", include_str!("system.sh"), |module| {
        let observer = module.with_file_name("liboutboard_observe.so");
        let [none, record] = [1, 2].map(outboard_observation::default_path);
        vec![observer, none, record]
    });
}

/// What an administrator does with the system's card service, and what may go wrong.
#[test]
fn live_with_the_card_service() {
    let script = include_str!("system_service.sh");
    session("system_service.sh", script, |_| {
        vec![common::service::daemon()]
    });
}
