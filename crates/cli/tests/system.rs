//! The very system switched on and off again, in a file system view of one's own.

mod common;

use std::process::Command;

/// Runs a script as root in a mount namespace in which /etc/ssl and OpenSSL's modules directory are
/// copies: whatever it does to them ends with it.
#[test]
fn enable_and_disable_the_system() {
    let private = ["--mount", "--propagation", "private"];
    let allowed = Command::new("unshare").args(private).arg("true").output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: only root can have a mount namespace of its own");
        return;
    }
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let output = Command::new("unshare")
        .args(private)
        .args(["sh", "-eu", "-c", include_str!("system.sh")])
        .arg("system.sh")
        .arg(scratch.path())
        .arg(assert_cmd::cargo::cargo_bin("outboard"))
        .arg(common::module())
        .arg(common::module().with_file_name("liboutboard_observe.so"))
        .args([1, 2].map(outboard_observation::default_path))
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
