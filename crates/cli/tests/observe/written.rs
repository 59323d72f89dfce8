//! Where a report goes, and what happens if it cannot be written.

use crate::common::{self, observe, observer, says, stderr};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[test]
fn a_profile_that_cannot_be_used_is_refused_before_the_program_runs() {
    let directory = TempDir::new().expect("a temporary directory");
    let ran = directory.path().join("ran").display().to_string();
    let hostile = directory.path().join("hostile.json");
    let text = r#"{"schema":"outboard-profile","version":1,"outboard":"\u001b]0;title\u0007"}"#;
    fs::write(&hostile, text).expect("it is ours");
    let hostile = hostile.display().to_string();
    for profile in ["/nonexistent/profile.json", "/dev/null", &hostile] {
        let failure = observe(&["--profile", profile], &["touch", &ran])
            .env("CLICOLOR_FORCE", "1") // as on a terminal: escapes pass
            .assert()
            .code(1);
        let said = stderr(&failure);
        says(&said, profile);
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
        assert!(!Path::new(&ran).exists(), "it ran");
    }
}

#[test]
fn a_report_that_cannot_be_written_hides_no_failure() {
    let directory = TempDir::new().expect("a temporary directory");
    let digest = "openssl dgst -sha256 /dev/null; rmdir place";
    for option in ["--cbom", "--output"] {
        for (end, status) in [("exit 7", 7), ("true", 1)] {
            fs::create_dir(directory.path().join("place")).expect("it is ours");
            let failure = observe(
                &[option, "place/report"],
                &["sh", "-c", &format!("{digest}; {end}")],
            )
            .current_dir(&directory)
            .assert()
            .code(status);
            let said = stderr(&failure);
            says(&said, "cannot write place/report: ");
            // What was observed is told all the same.
            says(&said, "SHA-256");
        }
    }
}

#[test]
fn what_cannot_be_written_is_told_before_the_program_runs() {
    let directory = TempDir::new().expect("a temporary directory");
    fs::write(directory.path().join("text"), "no record").expect("it is ours");
    for (options, reason) in [
        (
            ["--cbom", "nowhere/report"],
            "cannot write nowhere/report: ",
        ),
        (
            ["--output", "nowhere/report"],
            "cannot write nowhere/report: ",
        ),
        (["--output", "."], "cannot write .: "),
        (
            ["--record", "text"],
            "is not a record: wrong size (name another file)",
        ),
    ] {
        let refused = observe(&options, &["touch", "it-ran"])
            .current_dir(&directory)
            .assert()
            .code(1);
        says(&stderr(&refused), reason);
        assert!(!directory.path().join("it-ran").exists(), "{options:?}");
    }
}

#[test]
fn a_report_may_go_to_a_name_a_link_or_a_pipe() {
    let directory = TempDir::new().expect("a temporary directory");
    let at = |name: &str| directory.path().join(name);
    std::os::unix::fs::symlink("behind", at("link")).expect("it is ours");
    for name in ["c.json", "link"] {
        // The second time, it takes the place of the first.
        for _ in 0..2 {
            observe(&["--cbom", name], &["true"])
                .current_dir(&directory)
                .assert()
                .success();
        }
        let text = fs::read(at(name)).expect("it was written");
        let bill: Value = serde_json::from_slice(&text).expect("it is JSON");
        assert_eq!(bill["bomFormat"], "CycloneDX");
    }
    assert!(at("link").is_symlink());

    let pipe = at("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is installed").success());
    let from = pipe.clone();
    let reader = std::thread::spawn(move || fs::read(from).expect("it is ours"));
    observe(&["--cbom", "pipe"], &["true"])
        .current_dir(&directory)
        .assert()
        .success();
    let read = reader.join().expect("it does not panic");
    serde_json::from_slice::<Value>(&read).expect("it is JSON");
}

#[test]
fn what_the_program_printed_is_not_lost_to_the_report() {
    let directory = TempDir::new().expect("a temporary directory");
    let log = directory.path().join("log");
    let status = common::outboard_process()
        .args(["observe", "--output", "log", "--observer"])
        .arg(observer())
        .args(["--", "echo", "printed"])
        .current_dir(&directory)
        .stdout(fs::File::create(&log).expect("it is ours"))
        .status();
    assert!(status.expect("it starts").success());
    let text = fs::read_to_string(&log).expect("it is ours");
    assert!(text.starts_with("printed\n"), "{text}");
    assert!(text.len() > "printed\n".len());
}

#[test]
fn once_the_program_has_ended_signals_end_the_report() {
    use std::os::unix::process::ExitStatusExt;
    let directory = TempDir::new().expect("a temporary directory");
    let pipe = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is installed").success());
    // Nobody reads the pipe: opening it waits for ever.
    let mut child = common::outboard_process()
        .args(["observe", "--output"])
        .arg(&pipe)
        .arg("--observer")
        .arg(observer())
        .args(["--", "true"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let pid = child.id().to_string();
    let mut end = None;
    // The first may come while the program runs, and is the program's then.
    for _ in 0..300 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        end = child.try_wait().expect("it is ours");
        if end.is_some() {
            break;
        }
        let _ = std::process::Command::new("kill").arg(&pid).status();
    }
    if end.is_none() {
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
    assert_eq!(end.and_then(|end| end.signal()), Some(15));
}
