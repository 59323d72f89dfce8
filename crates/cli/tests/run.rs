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
fn a_misspelt_option_is_no_program() {
    for command in ["run", "observe"] {
        let mut misspelt = outboard();
        let misspelt = misspelt.args([command, "--stok", "--", "true"]).assert();
        says(&stderr(&misspelt.code(2)), "'--stock'");
    }
    // The options of a program are its own, also without '--'.
    let mut run = outboard();
    let run = run.args(["run", "--stock", "sh", "-c", "exit 7"]);
    run.assert().code(7);
}

/// Where a program does not come to its end, a test must.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn a_program_may_leave_its_process_group_and_its_session() {
    let code = |program: &[&str], code| {
        let mut run = outboard();
        run.args(["run", "--stock", "--"])
            .args(program)
            .timeout(PATIENCE);
        run.assert().code(code);
    };
    code(&["timeout", "60", "true"], 0);
    code(&["timeout", "60", "sh", "-c", "exit 3"], 3);
    code(&["setsid", "--wait", "sh", "-c", "exit 4"], 4);
    code(&["perl", "-e", "setpgrp(0, 0); exit 5"], 5);
    // A caller that ignores the end of its children loses no exit status.
    std::process::Command::new("perl")
        .args(["-e", "$SIG{CHLD} = 'IGNORE'; exec @ARGV"])
        .arg(assert_cmd::cargo::cargo_bin("outboard"))
        .args(["run", "--stock", "--", "sh", "-c", "exit 6"])
        .status()
        .map(|status| assert_eq!(status.code(), Some(6)))
        .expect("perl is installed");
}

#[test]
fn orphans_are_collected_while_the_program_runs() {
    // The orphan is in a session of its own. 'kill -0' finds a process until it is waited for.
    let script = "orphan=$(setsid --fork sh -c 'echo $$'); tries=0
        while kill -0 $orphan 2>/dev/null; do
            tries=$((tries + 1)); [ $tries -lt 1200 ] || exit 9; sleep 0.05
        done";
    stock(&["sh", "-c", script]).code(0);
}

/// What a terminal shows of a session, to which keys are sent one after the other: each once the text
/// before it was shown.
fn terminal(keys: &[(&str, &str)], last: &str) {
    let shell = outboard_process();
    let command = shell.get_args().last().expect("its program").to_owned();
    let mut session = std::process::Command::new("script")
        .args(["-qec", "bash --norc --noediting -i", "/dev/null"])
        .env("OUTBOARD", command)
        .env("PS1", "")
        .env_remove("OPENSSL_CONF")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script is installed (util-linux)");
    let mut output = session.stdout.take().expect("it is piped");
    let mut input = session.stdin.take().expect("it is piped");
    let (sender, shown) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut piece = [0; 1024];
        while let Ok(length @ 1..) = output.read(&mut piece) {
            let text = String::from_utf8_lossy(&piece[..length]).into_owned();
            if sender.send(text).is_err() {
                break;
            }
        }
    });
    let mut text = String::new();
    let mut await_text = |expected: &str| {
        let deadline = Instant::now() + PATIENCE;
        while !text.contains(expected) {
            let left = deadline.saturating_duration_since(Instant::now());
            let more = shown.recv_timeout(left);
            text += &more.unwrap_or_else(|_| panic!("no {expected:?} in:\n{text}"));
        }
        // What is typed is shown, too: the next text must come after this one.
        text = text.split_off(text.find(expected).unwrap_or_default() + expected.len());
    };
    for (typed, expected) in keys {
        std::io::Write::write_all(&mut input, typed.as_bytes()).expect("it reads");
        await_text(expected);
    }
    std::io::Write::write_all(&mut input, last.as_bytes()).expect("it reads");
    drop(input);
    session.wait().expect("it ends");
}

#[test]
fn ctrl_z_stops_the_program_and_ctrl_c_ends_it() {
    terminal(
        &[
            (
                "$OUTBOARD run --stock -- sh -c 'trap \"echo on-\\$((1+1))\" CONT; echo is-$((1+1)); \
                 while :; do sleep 0.05; done'\n",
                "is-2",
            ),
            ("\x1a", "Stopped"),
            ("fg; echo ended-$?-\n", "on-2"),
            ("\x03", "ended-130-"),
        ],
        "exit\n",
    );
}

#[test]
fn ctrl_c_reaches_a_program_in_a_process_group_of_its_own() {
    let program = r#"setpgrp(0, 0); $| = 1; print "is-", 1 + 1, "\n"; sleep 600"#;
    let line = format!("$OUTBOARD run --stock -- perl -e '{program}'; echo ended-$?-\n");
    terminal(&[(&line, "is-2"), ("\x03", "ended-130-")], "exit\n");
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

/// The system may serve others alone.
#[test]
fn whatever_runs_is_served() {
    let directory = common::public_directory();
    let file = common::fixture(directory.path(), "debian-12.cnf");
    outboard()
        .args(["enable", "--for", "nginx", "--config"])
        .arg(&file)
        .arg("--module")
        .arg(common::installed_module(&directory))
        .assert()
        .success();
    let text = fs::read_to_string(&file).expect("it is ours");
    says(&text, "programs = nginx");
    let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
    let proved = run(&["--proof", "--offer", "all"], &genpkey)
        .env("OPENSSL_CONF", &file)
        .assert()
        .success();
    says(&stderr(&proved), "x25519-keygen  scalar      1");
}

#[test]
fn a_profile_that_is_none_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("profile.json");
    fs::write(&file, "root:x:0:0\n").expect("it is ours");
    let file = file.to_str().expect("it is ASCII");
    let run = run(&["--profile", file], &["true"]).assert().code(1);
    says(&stderr(&run), &format!("{file} is damaged"));
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
    common::assert_fits_its_schema(&proof);
    assert_eq!(done(&proof["work"], "x25519-keygen"), ("scalar".into(), 1));

    let proved = run(&["--proof", "--offer", "all"], &genpkey)
        .assert()
        .success();
    says(&stderr(&proved), "x25519-keygen  scalar      1");
}

#[test]
fn a_program_that_uses_nothing_proves_nothing() {
    let proved = run(&["--proof"], &["true"]).assert().success();
    says(&stderr(&proved), "true did not load Outboard");
    let proved = run(
        &["--proof", "--offer", "none"],
        &["openssl", "list", "-providers"],
    )
    .assert()
    .success();
    says(
        &stderr(&proved),
        "used no operation that Outboard offers here",
    );
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
    keeps_its_configuration("sleep 600 >/dev/null 2>&1 & echo $! $OPENSSL_CONF");
}

#[test]
fn a_daemon_in_a_session_of_its_own_keeps_its_configuration() {
    keeps_its_configuration(
        "setsid --fork sh -c 'echo $$ $OPENSSL_CONF; exec sleep 600 >/dev/null 2>&1'",
    );
}

/// As daemons do that write a title over their environment.
#[test]
fn a_daemon_without_an_environment_keeps_its_configuration() {
    keeps_its_configuration(
        "setsid --fork sh -c 'echo $$ $OPENSSL_CONF; exec env -i sleep 600 >/dev/null 2>&1'",
    );
}

/// `script` says the daemon's id and its configuration.
fn keeps_its_configuration(script: &str) {
    let run = stock(&["sh", "-c", script]).success();
    let line = stdout(&run);
    let (pid, configuration) = line.trim_end().split_once(' ').expect("two words");
    let configuration = PathBuf::from(configuration);
    assert!(stderr(&run).contains("left processes running"));
    stock(&["true"]).success();
    assert!(configuration.exists());
    let killed = std::process::Command::new("kill").arg(pid).status();
    assert!(killed.expect("kill is installed").success());
    wait_for_end(pid);
    stock(&["true"]).success();
    assert!(!configuration.exists());
}
