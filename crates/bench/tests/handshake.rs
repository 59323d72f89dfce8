//! `outboard-bench handshake` as a user starts it, with a pair in memory and real servers.
//!
//! The provider, the command and the stopwatch lie beside the program, as `make` puts them.

use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

fn handshake(directory: &TempDir, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_outboard-bench"))
        .args(["handshake", "--quick", "--json"])
        .args(arguments)
        .env("TMPDIR", directory.path())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn row<'a>(case: &'a Value, phase: &str) -> &'a Value {
    let rows = case["phases"].as_array().expect("phases");
    let found = rows.iter().find(|row| row["phase"] == phase);
    found.unwrap_or_else(|| panic!("no {phase} in {case}"))
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// The phases are parts of the whole, and each that a full handshake has was seen in both setups.
#[test]
fn every_phase_of_a_handshake_is_seen() {
    let directory = directory();
    let picture = directory.path().join("phases.svg");
    let path = picture.to_str().expect("a plain path");
    let report = handshake(&directory, &["--picture", path]);
    let cases = report["cases"].as_array().expect("cases");
    let servers: Vec<&Value> = cases.iter().map(|case| &case["server"]).collect();
    assert_eq!(servers, ["in memory", "nginx", "HAProxy"]);
    for case in cases {
        for setup in ["stock", "outboard"] {
            let (time, calls) = (format!("{setup}_us"), format!("{setup}_calls"));
            for phase in [
                "key share",
                "signature",
                "key schedule",
                "transcript",
                "records",
            ] {
                let row = row(case, phase);
                assert!(
                    number(&row[&time]) > 0.0 && number(&row[&calls]) >= 1.0,
                    "{case}"
                );
            }
            // The one of its key share, the one of its certificate, and what makes secrets and keys of them.
            assert!(number(&row(case, "key schedule")[&calls]) >= 14.0);
            let rows = case["phases"].as_array().expect("phases").iter();
            let sum: f64 = rows.map(|row| number(&row[&time])).sum();
            let total = number(&case["total"][&time]);
            // How they compare is for a quiet machine: phases are elapsed time, and each is a median of its own.
            assert!(total > 0.0 && sum > 0.0, "{case}");
        }
    }
    let drawn = std::fs::read_to_string(&picture).expect("a picture");
    assert!(drawn.contains("nginx, P-256, TLS 1.3") && drawn.contains("key schedule"));
}

/// A resumed connection of TLS 1.2 neither agrees on a key nor signs.
#[test]
fn a_resumed_connection_has_fewer_phases() {
    let directory = directory();
    let arguments = [
        "--resumed",
        "--tls",
        "1.2",
        "--server",
        "memory",
        "--server",
        "nginx",
    ];
    let report = handshake(&directory, &arguments);
    for case in report["cases"].as_array().expect("cases") {
        assert_eq!(
            (&case["resumed"], &case["version"]),
            (&true.into(), &"TLS 1.2".into())
        );
        assert!(
            number(&row(case, "signature")["stock_calls"]) < 1.0,
            "{case}"
        );
        assert!(
            number(&row(case, "key schedule")["stock_calls"]) >= 1.0,
            "{case}"
        );
    }
}

#[test]
fn what_cannot_be_is_an_error_with_the_reason() {
    let command = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_outboard-bench"))
            .arg("handshake")
            .args(arguments)
            .output()
            .expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), errors)
    };
    let (status, errors) = command(&["--server", "iis"]);
    assert!(
        status == Some(2) && errors.contains("memory, nginx, haproxy"),
        "{errors}"
    );
    let (status, errors) = command(&["--quick", "--stopwatch", "/nowhere.so"]);
    assert!(
        status == Some(1) && errors.contains("cannot find the stopwatch"),
        "{errors}"
    );
}
