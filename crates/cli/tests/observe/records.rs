//! Records that stay, and the share of the CPU time.

use crate::common::{self, document, number, observe, outboard, row, says, script, stderr, stdout};
use assert_cmd::assert::Assert;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

#[test]
fn a_record_stays_and_can_be_read_and_reset() {
    let directory = TempDir::new().expect("a temporary directory");
    let record = directory.path().join("record").display().to_string();
    for _ in 0..2 {
        observe(
            &["--record", &record],
            &["openssl", "dgst", "-sha256", "/dev/null"],
        )
        .assert()
        .success();
    }
    let read = |options: &[&str]| -> Assert {
        outboard()
            .args(["observe", "--record", &record])
            .args(options)
            .assert()
    };
    let report = document(&read(&["--json"]).success(), "outboard-observe");
    assert_eq!(number(&row(&report, "SHA-256", "digest")["calls"]), 2);
    read(&["--reset"]).success();
    says(&stdout(&read(&[]).success()), "Nothing was observed.");
    let missing = directory.path().join("nothing").display().to_string();
    let failure = outboard()
        .args(["observe", "--record", &missing])
        .assert()
        .code(1);
    says(
        &stderr(&failure),
        &format!(
            "there is no record {missing} ('outboard observe --record {missing} -- PROGRAM' makes it)"
        ),
    );
}

/// The share of the CPU time in a report, and why it is not known.
pub(crate) fn share(report: &Value) -> (bool, String) {
    let because = report["share_unknown_because"].as_str().unwrap_or_default();
    (report["share_of_cpu"].is_number(), because.to_owned())
}

#[test]
fn a_share_is_that_of_the_work_that_is_told() {
    let directory = TempDir::new().expect("a temporary directory");
    let work = "sleep 300 >/dev/null 2>&1 & echo $! >pid; openssl dgst -sha256 /dev/null";
    observe(&["--json", "--output", "report"], &["sh", "-c", work])
        .current_dir(&directory)
        .assert()
        .success();
    let read =
        |name: &str| fs::read_to_string(directory.path().join(name)).expect("it was written");
    let killed = std::process::Command::new("kill")
        .arg(read("pid").trim())
        .status();
    assert!(killed.expect("it starts").success());
    let report: Value = serde_json::from_str(&read("report")).expect("it is JSON");
    let because = "processes that the program started still run";
    assert_eq!(share(&report), (false, because.to_owned()));
}

#[test]
fn a_share_is_not_that_of_another_run() {
    let directory = TempDir::new().expect("a temporary directory");
    let record = directory.path().join("record").display().to_string();
    for is_earlier in [false, true] {
        let report = script(&["--record", &record], "openssl dgst -sha256 /dev/null");
        let (is_known, because) = share(&report);
        let told = because == "the record also contains earlier work";
        assert_eq!(told, is_earlier, "{because}");
        assert!(!(is_known && told));
    }
}

#[test]
fn a_share_is_not_that_of_a_process_whose_counters_were_reset() {
    use std::io::{BufRead, Write};
    if !common::are_installed(&["python3"]) {
        return;
    }
    let workplace = outboard_programs::Workplace::new().expect("a temporary directory");
    let record = workplace.join("record");
    let openssl = common::observing(&workplace, "observed", &record);
    let mut service = std::process::Command::new("python3")
        .args(["-c", "import hashlib, sys\nfor line in sys.stdin:\n  hashlib.sha256(b'x').digest()\n  print(line, flush=True)"])
        .env("OPENSSL_CONF", openssl.configuration())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut to = service.stdin.take().expect("it was piped");
    let mut from = std::io::BufReader::new(service.stdout.take().expect("it was piped"));
    let mut work = || {
        let mut line = String::new();
        writeln!(to, "again").expect("it reads");
        while line.trim().is_empty() {
            line.clear();
            from.read_line(&mut line).expect("it answers");
        }
    };
    work();
    let known = common::report_of(&record);
    assert!(known["cpu_nanoseconds"].is_number(), "{known:#}");
    let mut reset = outboard();
    reset.args(["observe", "--reset", "--record"]).arg(&record);
    reset.assert().success();
    work();
    let unknown = common::report_of(&record);
    assert_eq!(number(&row(&unknown, "SHA-256", "digest")["calls"]), 1);
    assert!(unknown["cpu_nanoseconds"].is_null(), "{unknown:#}");
    says(&share(&unknown).1, "before the counters were set to zero");
    drop(to);
    assert!(service.wait().expect("it ends").success());
}
