//! `outboard-bench run` as a user starts it, with real workloads, and interrupted.
//!
//! The provider and the command lie beside the program, as `make` puts them.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use outboard_bench::result::{self, Extent};
use outboard_programs::descendants;
use tempfile::TempDir;

/// `outboard-bench run`, with temporary files and a lock of its own.
fn run(directory: &TempDir, arguments: &[&str]) -> Command {
    let temporary = directory.path().join("temporary");
    std::fs::create_dir_all(&temporary).expect("it is ours");
    let mut command = Command::new(env!("CARGO_BIN_EXE_outboard-bench"));
    command
        .arg("run")
        .args(arguments)
        .arg("--out")
        .arg(directory.path().join("results"))
        .env("TMPDIR", temporary);
    command
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn layers_runs_through_and_is_proved() {
    let directory = directory();
    let output = run(&directory, &["layers", "--tiny"])
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{output:?}");
    assert!(
        errors.contains("layers: aes-128-gcm-seal, 64 bytes"),
        "{errors}"
    );

    let path = directory.path().join("results/layers.json");
    let result = result::read(&path).expect("a result");
    assert!(result.is_valid() && result.extent == Extent::Tiny);
    assert_eq!(result.commands[0], "outboard-bench run layers --tiny");
    let bulk = result.table("bulk").expect("a table");
    let setups: Vec<&str> = bulk.rows.iter().map(|row| &*row.setup).collect();
    assert_eq!(
        setups[..4],
        ["kernel", "engine", "EVP, Outboard", "EVP, stock"]
    );
    let proof = bulk.rows[2].proof.as_deref().expect("a proof");
    assert!(proof.contains("× aes-128-gcm-seal"), "{proof}");
}

/// Both in one process, which has one ledger.
#[test]
fn speed_and_layers_run_one_after_the_other() {
    let directory = directory();
    let output = run(&directory, &["speed", "layers", "--tiny"])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let results = result::read_all(&directory.path().join("results")).expect("results");
    assert_eq!(results.len(), 2);
    for result in results {
        assert!(result.is_valid(), "{result:#?}");
        let mut rows = result.rows();
        assert!(rows.any(|(_, row)| row.ratio.is_some() && row.proof.is_some()));
    }
}

#[test]
fn cards_runs_through_and_tells_where_the_work_was_done() {
    let directory = directory();
    let output = run(&directory, &["cards", "--tiny"])
        .output()
        .expect("it runs");
    let path = directory.path().join("results/cards.json");
    let result = result::read(&path).expect("a result");
    assert!(result.complete, "{output:?}");
    if outboard_measure::together::are_possible() {
        let together = result.table("together").expect("a table");
        let setups: Vec<&str> = together.rows.iter().map(|row| &*row.setup).collect();
        assert_eq!(setups, ["stock", "AWS-LC", "lanes"]);
    }
    let private = result.table("private").expect("a table");
    let card = private.rows.iter().find(|row| row.setup == "1 card");
    let card = card.expect("a card's row");
    // A processor without lanes has no cards, and its profile says so. On a busy machine, cards may get too little.
    match (&card.invalid, card.proof.as_deref()) {
        (None, proof) => {
            assert!(output.status.success(), "{output:?}");
            assert!(
                proof.is_some_and(|proof| proof.contains("p384-sign")),
                "{proof:?}"
            );
        }
        (Some(reason), _) => {
            assert!(
                reason.contains("on cards; the profile wants path card"),
                "{reason}"
            );
            assert_eq!(output.status.code(), Some(1));
        }
    }
}

/// What cannot be done is told before anything is measured.
#[test]
fn peers_are_for_the_workloads_that_can() {
    let directory = directory();
    let file = directory.path().join("libcrypto_mb.so");
    std::fs::write(&file, "no library").expect("it is ours");
    let peer = format!("crypto_mb={}", file.display());
    let output = run(&directory, &["speed", "--tiny", "--peers", &peer])
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("only these workloads can measure crypto_mb: cards"),
        "{errors}"
    );
    assert!(!directory.path().join("results").exists());

    let output = run(&directory, &["cards", "--tiny", "--peers", &peer])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    let path = directory.path().join("results/cards.json");
    let result = result::read(&path).expect("a result");
    assert_eq!(
        result.commands[0],
        "outboard-bench run cards --tiny --peers crypto_mb"
    );
    let failure = result.failure.expect("it is no library");
    assert!(failure.contains("crypto_mb"), "{failure}");
    assert!(result.tables.is_empty());
}

/// Starts a workload that starts programs, and waits until one runs.
fn started(directory: &TempDir) -> (Child, Vec<u32>) {
    let mut child = run(directory, &["cards", "--tiny"])
        // A group of its own, as a shell makes one: Ctrl-C goes to all of it.
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    loop {
        let programs = descendants(child.id());
        let speeds = programs.iter().any(|program| name(*program) == "openssl");
        if speeds && directory.path().join("results/cards.json").exists() {
            return (child, programs);
        }
        if let Some(status) = child.try_wait().expect("it is ours") {
            let errors = BufReader::new(child.stderr.take().expect("piped")).lines();
            let errors: Vec<String> = errors.map_while(Result::ok).collect();
            panic!("it ended ({status}): {}", errors.join("\n"));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn name(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/comm"))
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}

/// Whether it runs; the dead that nobody has waited for yet don't count.
fn is_alive(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn ctrl_c_leaves_nothing_and_keeps_what_was_measured() {
    let directory = directory();
    let (mut child, programs) = started(&directory);
    // SAFETY: kill touches no memory of ours; the group is the child's own.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGINT) };
    let status = child.wait().expect("it is ours");
    assert_eq!(status.code(), Some(130), "{status}");

    for program in programs {
        let mut waits = 0;
        while is_alive(program) {
            waits += 1;
            assert!(waits < 500, "process {program} lives on");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    let left: Vec<_> = std::fs::read_dir(directory.path().join("temporary"))
        .expect("it is there")
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name != "outboard-bench.running")
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(workplaces_of(child.id()).is_empty());

    let result = result::read(&directory.path().join("results/cards.json")).expect("a result");
    assert!(!result.complete && result.failure.is_none());
}

/// Its directories in memory.
fn workplaces_of(process: u32) -> Vec<std::ffi::OsString> {
    let prefix = format!("outboard-bench.{process}.");
    let entries = std::fs::read_dir(Path::new("/dev/shm"))
        .into_iter()
        .flatten();
    entries
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().starts_with(&prefix))
        .collect()
}
