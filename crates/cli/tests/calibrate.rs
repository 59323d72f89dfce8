//! `calibrate`, short of measuring.

mod common;

use common::{outboard, says, stderr};

#[test]
fn a_directory_that_was_misspelt_is_not_made() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let missing = directory.path().join("missing");
    let calibrate = outboard()
        .args(["calibrate", "--time", "1", "--module"])
        .arg(common::module())
        .arg("--output")
        .arg(missing.join("profile.json"))
        .assert()
        .code(1);
    let complaint = format!(
        "cannot write to {}: there is no such directory",
        missing.display()
    );
    says(&stderr(&calibrate), &complaint);
    assert!(!missing.exists());
}
