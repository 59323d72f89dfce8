//! `outboard stats`.

use crate::common::{self, document, outboard, says, stderr, stdout};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn stats_of_a_file_that_is_no_ledger() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let stats = outboard()
        .args(["stats", "--ledger"])
        .arg(file.path())
        .assert()
        .code(1);
    says(&stderr(&stats), "is not a ledger");
    let stats = outboard()
        .args(["stats", "--ledger", "/nowhere/x"])
        .assert()
        .code(1);
    says(&stderr(&stats), "there is no ledger");
    outboard().args(["stats", "--watch", "0"]).assert().code(2);
    // No process has the highest id that there may be.
    for command in [&["stats"][..], &["cards"], &["stats", "--reset"]] {
        let unknown = outboard().args(command).args(["--pid", "4194305"]).assert();
        says(&stderr(&unknown.code(1)), "process 4194305 has no entry");
    }
}

#[test]
fn stats_folds_processes_and_adds_up() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
    for _ in 0..3 {
        let mut run = common::run(&["--offer", "all", "--ledger", named], &genpkey);
        run.assert().success();
    }
    let stats = |options: &[&str]| {
        let mut stats = outboard();
        let stats = stats.args(["stats", "--ledger", named]).args(options);
        stdout(&stats.assert().success())
    };
    let lines = |text: &str| {
        // Of the first table: with lanes, a second one has why they were not used.
        text.lines()
            .take_while(|line| !line.is_empty())
            .filter(|line| line.contains("x25519-keygen"))
            .count()
    };
    let folded = stats(&[]);
    assert_eq!(lines(&folded), 1, "{folded}");
    says(&folded, "3 ended");
    says(&folded, "Outboard served ");
    assert_eq!(lines(&stats(&["--by", "process"])), 3);
    assert_eq!(lines(&stats(&["--by", "user"])), 1);
    assert!(!stats(&["--by", "operation"]).contains("openssl"));
    assert_eq!(stats(&["--program", "nginx"]), "Nothing was counted.\n");
    let mut json = outboard();
    let json = json.args(["stats", "--json", "--ledger", named]).assert();
    let document = document(&json.success(), "outboard-stats");
    assert!(
        document["served"]["served"].as_u64() >= Some(3),
        "{document:#}"
    );
}

#[test]
fn stats_counts_and_resets() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
    common::run(&["--offer", "all", "--ledger", named], &genpkey)
        .assert()
        .success();
    let stats = || {
        stdout(
            &outboard()
                .args(["stats", "--ledger"])
                .arg(&ledger)
                .assert()
                .success(),
        )
    };
    assert!(stats().contains("x25519-keygen"), "{}", stats());
    outboard()
        .args(["stats", "--reset", "--ledger"])
        .arg(&ledger)
        .assert()
        .success();
    assert_eq!(stats(), "Nothing was counted.\n");
}

/// Two refreshes of each, with something to show in the second.
#[test]
fn a_watch_refreshes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    let work = || {
        let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
        common::run(&["--offer", "all", "--ledger", named], &genpkey)
            .assert()
            .success();
    };
    work();
    for (command, each, shown) in [
        ("stats", "In the last 1 s:", "x25519-keygen"),
        ("cards", "In the last 1 s:", "No process has a card"),
    ] {
        let mut watch = common::outboard_process();
        watch.args([command, "--watch", "1", "--ledger", named]);
        let mut watch = watch.stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(watch.stdout.take().expect("it is a pipe")).lines();
        let (mut refreshes, mut seen) = (0, false);
        for line in lines {
            let line = line.expect("text");
            if line.starts_with(each) {
                refreshes += 1;
                work();
            }
            seen |= refreshes > 1 && line.contains(shown);
            if seen && refreshes > 1 {
                break;
            }
        }
        watch.kill().expect("it runs");
        watch.wait().expect("it ends");
        assert!(seen, "{command} refreshed {refreshes} times");
    }
}

#[test]
fn watching_ends_with_its_reader() {
    for command in ["stats", "cards"] {
        let mut child = common::outboard_process()
            .args([command, "--watch", "1", "--json"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let mut end = None;
        for _ in 0..300 {
            std::thread::sleep(std::time::Duration::from_millis(100));
            end = child.try_wait().expect("it is ours");
            if end.is_some() {
                break;
            }
        }
        if end.is_none() {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
        }
        let end = end.expect("it ends when nobody reads");
        assert!(end.success(), "{command}: {end}");
    }
}

/// Every sample belongs to the family that was named last, and the text says that it is whole.
#[test]
fn stats_speak_openmetrics() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
    let mut run = common::run(&["--offer", "all", "--ledger", named], &genpkey);
    run.assert().success();
    let mut stats = outboard();
    let stats = stats.args(["stats", "--openmetrics", "--ledger", named]);
    let text = stdout(&stats.assert().success());
    let (mut family, mut kind) = ("", "");
    let mut families = Vec::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(named) = line.strip_prefix("# TYPE ") {
            (family, kind) = named.split_once(' ').expect("a name and a type");
            assert!(!families.contains(&family), "{family} comes twice");
            families.push(family);
        } else if !line.starts_with("# HELP ") {
            let suffix = if kind == "counter" { "_total" } else { "" };
            let end = line.find(['{', ' ']).expect("a name and a value");
            assert_eq!(line[..end], format!("{family}{suffix}"), "{line}");
            let (_, value) = line.rsplit_once(' ').expect("a value");
            value.parse::<f64>().expect(line);
        }
    }
    says(
        &text,
        "program=\"openssl\",operation=\"x25519-keygen\",path=",
    );
    assert!(text.ends_with("# EOF\n"), "{text}");
    outboard()
        .args(["stats", "--openmetrics", "--json"])
        .assert()
        .code(2);
}
