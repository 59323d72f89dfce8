//! Help and the generated files.

use crate::common::{outboard, says, stdout};
use std::fs;

#[test]
fn help_says_what_its_terms_mean() {
    let help = stdout(&outboard().arg("--help").assert().success());
    for term in ["Path: ", "Lane: ", "Card: "] {
        says(&help, term);
    }
}

#[test]
fn help_teaches_and_files_are_generated() {
    for command in [
        "run",
        "observe",
        "info",
        "status",
        "stats",
        "cards",
        "calibrate",
        "advise ssh",
        "advise tls",
        "enable",
        "disable",
        "doctor",
    ] {
        let words = command.split(' ').chain(["--help"]);
        let help = stdout(&outboard().args(words).assert().success());
        assert!(help.contains("Usage:"), "{command}");
        assert!(help.contains("Examples:"), "{command}");
    }
    outboard().assert().code(2);
    outboard().arg("no-such-command").assert().code(2);

    let directory = tempfile::tempdir().expect("a temporary directory");
    outboard()
        .arg("generate")
        .arg(directory.path())
        .assert()
        .success();
    for file in ["man/outboard.1", "man/outboard-run.1"] {
        let text = fs::read_to_string(directory.path().join(file)).expect(file);
        assert!(
            text.contains("doctor") || file == "man/outboard-run.1",
            "{file}"
        );
        assert!(!text.contains("probe"), "{file} tells of a hidden command");
    }
}
