//! `outboard run`, as a session at a shell.

mod common;

use assert_cmd::assert::Assert;
use common::{document, outboard, outboard_process, run, says, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// `outboard run --stock -- PROGRAM…`, to its end.
fn stock(program: &[&str]) -> Assert {
    outboard()
        .args(["run", "--stock", "--"])
        .args(program)
        .assert()
}

/// How often, and on which path, an operation was done, by a list of work in a document.
fn done(work: &Value, operation: &str) -> (String, u64) {
    let rows = work.as_array().expect("a list of work");
    let row = rows.iter().find(|row| row["operation"] == operation);
    let row = row.unwrap_or_else(|| panic!("no {operation} in {work:#}"));
    let path = row["path"].as_str().expect("a path");
    (
        path.to_owned(),
        row["operations"].as_u64().expect("a number"),
    )
}

#[test]
fn the_program_s_end_is_told_as_it_was() {
    stock(&["true"]).code(0);
    stock(&["sh", "-c", "exit 7"]).code(7);
    stock(&["sh", "-c", "kill -9 $$"]).code(137);
    let missing = stock(&["no-such-program"]).code(127);
    says(&stderr(&missing), "outboard: cannot run no-such-program: ");
    stock(&["/etc/passwd"]).code(126);
    stock(&[]).code(2);
}

#[test]
fn the_program_s_arguments_input_and_output_are_its_own() {
    let run = outboard()
        .args([
            "run",
            "--stock",
            "--",
            "sh",
            "-c",
            "cat; echo $1 >&2",
            "sh",
            "--proof",
        ])
        .write_stdin("through\n")
        .assert()
        .success();
    assert_eq!(stdout(&run), "through\n");
    assert_eq!(stderr(&run), "--proof\n");
}

#[test]
fn stock_reads_what_the_system_reads() {
    let run = stock(&["sh", "-c", "cat $OPENSSL_CONF; echo; echo $OPENSSL_CONF"]).success();
    let text = stdout(&run);
    let (configuration, path) = text.trim_end().rsplit_once('\n').expect("two parts");
    let system = fs::read_to_string("/etc/ssl/openssl.cnf").expect("Debian has it there");
    assert_eq!(configuration, system);
    assert!(!Path::new(path).exists(), "it is gone with the program");
}

#[test]
fn the_configuration_in_force_is_kept() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = common::fixture(directory.path(), "ubuntu-22.04.cnf");
    let run = run(&["--offer", "none"], &["sh", "-c", "cat $OPENSSL_CONF"])
        .env("OPENSSL_CONF", &file)
        .assert()
        .success();
    let text = stdout(&run);
    assert!(text.starts_with(&fs::read_to_string(&file).expect("it is ours")));
    for line in [
        "offer = none",
        "default_properties = ?provider=outboard,?outboard.preferred=yes",
        "ledger = ",
    ] {
        says(&text, line);
    }
    // An empty OPENSSL_CONF means none; a missing file too.
    for nothing in ["", "/nowhere/openssl.cnf"] {
        let run = outboard()
            .args(["run", "--stock", "--", "sh", "-c", "cat $OPENSSL_CONF"])
            .env("OPENSSL_CONF", nothing)
            .assert()
            .success();
        assert_eq!(stdout(&run), "");
    }
}

#[test]
fn what_openssl_would_not_read_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("openssl.cnf");
    fs::write(&file, "[ok]\nnonsense\n").expect("it is ours");
    let run = run(&[], &["true"])
        .env("OPENSSL_CONF", &file)
        .assert()
        .code(1);
    says(&stderr(&run), "line 2: no '=' after 'nonsense'");
}

#[test]
fn openssl_runs_on_outboard_and_the_proof_says_so() {
    let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
    let proved = run(&["--proof", "--json", "--offer", "all"], &genpkey)
        .assert()
        .success();
    assert!(stdout(&proved).starts_with("-----BEGIN PRIVATE KEY-----"));
    let proof: Value = serde_json::from_str(&stderr(&proved)).expect("it is JSON");
    assert_eq!(proof["schema"], "outboard-proof");
    assert_eq!(done(&proof["work"], "x25519-keygen"), ("scalar".into(), 1));

    let proved = run(&["--proof", "--offer", "all"], &genpkey)
        .assert()
        .success();
    says(&stderr(&proved), "x25519-keygen  scalar      1");
}

#[test]
fn a_program_that_uses_nothing_proves_nothing() {
    let proved = run(&["--proof"], &["true"]).assert().success();
    says(&stderr(&proved), "true never loaded Outboard");
    let proved = run(
        &["--proof", "--offer", "none"],
        &["openssl", "list", "-providers"],
    )
    .assert()
    .success();
    says(&stderr(&proved), "used it for nothing");
}

#[test]
fn a_module_that_cannot_be_loaded_is_told() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let proved = outboard()
        .args(["run", "--proof", "--module"])
        .arg(file.path())
        .args(["--", "openssl", "list", "-providers"])
        .assert()
        .success();
    says(&stdout(&proved), "OpenSSL Default Provider");
    says(&stderr(&proved), "file too short");
}

#[test]
fn a_ledger_that_is_named_stays() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    for _ in 0..2 {
        let genpkey = ["openssl", "genpkey", "-algorithm", "ED25519"];
        run(&["--offer", "all", "--ledger", named], &genpkey)
            .assert()
            .success();
    }
    let stats = outboard()
        .args(["stats", "--json", "--ledger", named])
        .assert()
        .success();
    let stats = document(&stats, "outboard-stats");
    let total = &stats["ledgers"][0]["total"];
    assert_eq!(done(&total["work"], "ed25519-keygen"), ("scalar".into(), 2));
}

/// Starts `outboard run --stock -- sh -c SCRIPT` and waits until the script has said a line.
fn start(script: &str) -> (Child, String) {
    let mut child = outboard_process()
        .args(["run", "--stock", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("it is piped"))
        .read_line(&mut line)
        .expect("it speaks");
    (child, line.trim_end().to_owned())
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-s", name, &pid])
        .status();
    assert!(sent.expect("kill is installed").success());
}

#[test]
fn signals_reach_the_program() {
    for name in ["TERM", "INT", "HUP", "USR1"] {
        let script = format!("trap 'exit 9' {name}; echo ready; while :; do sleep 0.05; done");
        let (mut child, _) = start(&script);
        signal(&child, name);
        assert_eq!(child.wait().expect("it ends").code(), Some(9), "{name}");
    }
}

#[test]
fn nohup_stays_nohup() {
    let mut child = std::process::Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(assert_cmd::cargo::cargo_bin("outboard"))
        .args([
            "run",
            "--stock",
            "--",
            "sh",
            "-c",
            "echo ready; sleep 0.5; exit 3",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut ready = [0; 6];
    child
        .stdout
        .as_mut()
        .expect("it is piped")
        .read_exact(&mut ready)
        .expect("it speaks");
    signal(&child, "HUP");
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
}

/// Waits until a process that others shall reap has ended.
fn wait_for_end(pid: &str) {
    let start = Instant::now();
    let runs = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = state.rsplit_once(") ").map(|(_, rest)| &rest[..1]);
        !matches!(state, None | Some("Z" | "X"))
    };
    while runs() {
        assert!(start.elapsed() < Duration::from_secs(60), "{pid} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_killed_run_leaves_is_swept_by_the_next() {
    let (mut child, line) = start("echo $$ $OPENSSL_CONF; exec sleep 60");
    let (pid, configuration) = line.split_once(' ').expect("two words");
    let configuration = PathBuf::from(configuration);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    stock(&["true"]).success();
    assert!(configuration.exists(), "its program still runs");

    let killed = std::process::Command::new("kill").arg(pid).status();
    assert!(killed.expect("kill is installed").success());
    wait_for_end(pid);
    stock(&["true"]).success();
    assert!(!configuration.exists());
}

#[test]
fn a_daemon_keeps_its_configuration() {
    let run = stock(&[
        "sh",
        "-c",
        "sleep 600 >/dev/null 2>&1 & echo $! $OPENSSL_CONF",
    ])
    .success();
    let line = stdout(&run);
    let (pid, configuration) = line.trim_end().split_once(' ').expect("two words");
    let configuration = PathBuf::from(configuration);
    assert!(stderr(&run).contains("processes are left running"));
    stock(&["true"]).success();
    assert!(configuration.exists());
    let killed = std::process::Command::new("kill").arg(pid).status();
    assert!(killed.expect("kill is installed").success());
    wait_for_end(pid);
    stock(&["true"]).success();
    assert!(!configuration.exists());
}
