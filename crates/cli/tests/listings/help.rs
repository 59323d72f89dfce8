//! Help and the generated files.

use crate::common::{self, outboard, says, stdout};
use std::fs;
use std::process::Stdio;

#[test]
fn help_says_what_its_terms_mean() {
    let help = stdout(&outboard().arg("--help").assert().success());
    for term in ["Path: ", "Lane: ", "Card: "] {
        says(&help, term);
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let help = |to: Stdio| {
        let mut outboard = common::outboard_process();
        let outboard = outboard.args(["enable", "--help"]).stdout(to);
        outboard.output().expect("it starts")
    };
    let full = fs::File::create("/dev/full").expect("it is there");
    let full = help(full.into());
    assert_eq!(full.status.code(), Some(1));
    says(
        &String::from_utf8_lossy(&full.stderr),
        "outboard: cannot write to standard output: ",
    );

    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let gone = help(writer.into());
    assert_eq!((gone.status.code(), gone.stderr), (Some(0), Vec::new()));
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
