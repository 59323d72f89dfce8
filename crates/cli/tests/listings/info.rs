//! `outboard info`.

use crate::common::{document, outboard, says, stdout};
use outboard_operation::{Operation, Path};
use outboard_profile::{LanesMeasurement, Machine, Profile, Queueing};
use std::fs;

#[test]
fn info_tells_every_operation() {
    let text = stdout(&outboard().arg("info").assert().success());
    assert!(
        text.contains("rsa-3072-sign") && text.contains("libcrypto"),
        "{text}"
    );
    let info = document(
        &outboard().args(["info", "--json"]).assert().success(),
        "outboard-info",
    );
    let operations = info["operations"].as_array().expect("a list");
    assert!(operations.len() > 30);
    for operation in operations {
        let chosen = operation["chosen"].as_str().expect("a path");
        assert!(["stock", "scalar", "wide", "card"].contains(&chosen));
        assert!(!operation["because"].as_str().expect("a text").is_empty());
    }
}

#[test]
fn a_locale_without_utf8_gets_ascii() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let profile = Profile::measured(
        Machine::detect(),
        "3.0.22",
        vec![outboard_profile::Measurement {
            operation: Operation::X25519Derive,
            size: 0,
            stock_ns: 40_000.0,
            scalar_ns: 20_000.0,
            ratio: 2.0,
            low: 1.9,
            high: 2.1,
        }],
    );
    profile.save(file.path()).expect("it is ours");
    let info = |locale: &str, options: &[&str]| {
        let mut info = outboard();
        let info = info.args(["info", "--profile"]).arg(file.path());
        stdout(&info.args(options).env("LC_ALL", locale).assert().success())
    };
    says(&info("C.UTF-8", &[]), "40.0 µs");
    let plain = info("C", &[]);
    assert!(plain.is_ascii(), "{plain}");
    says(&plain, "40.0 us");
    let operations = |locale| {
        let text = info(locale, &["--json"]);
        let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        document["operations"].clone()
    };
    assert_eq!(operations("C"), operations("C.UTF-8"));
}

/// The numbers that the provider goes by: of the profile where it has them, else built in.
#[test]
fn info_tells_from_when_on_cards_pay() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let lanes = LanesMeasurement {
        operation: Operation::Rsa2048Sign,
        scalar_ns: 100.0,
        batch_ns: Some(440.0),
        wide_ns: Some(80.0),
    };
    let costs = Queueing {
        queue_ns: 30.0,
        wake_ns: 0.0,
        pause_ns: 10.0,
        sleep_ns: 0.0,
    };
    let mut profile = Profile::measured(Machine::detect(), "3.0.22", Vec::new());
    for operation in [Operation::Rsa2048Sign, Operation::P256Sign] {
        profile.choices.set(operation, Path::Card);
    }
    let ml_kem = LanesMeasurement {
        operation: Operation::MlKem768Decapsulate,
        scalar_ns: 100.0,
        batch_ns: None,
        wide_ns: Some(40.0),
    };
    let profile = profile.with_lanes(vec![lanes, ml_kem], costs);
    profile.save(file.path()).expect("it is ours");
    // Nothing was measured: the words say by themselves whose they are.
    let unmeasured = outboard()
        .args(["info", "--profile", "/nonexistent"])
        .assert();
    let unmeasured = stdout(&unmeasured.success());
    let titles = unmeasured
        .lines()
        .find(|line| line.starts_with("operation"));
    let titles: Vec<&str> = titles.unwrap_or_default().split_whitespace().collect();
    assert_eq!(
        titles,
        ["operation", "stock", "scalar", "chosen", "because"],
        "{unmeasured}"
    );
    let mut command = outboard();
    let info = command.args(["info", "--profile"]).arg(file.path());
    let text = stdout(&info.assert().success());
    let numbers = |operation: &str| -> Vec<String> {
        let (_, cards) = text.split_once("\nconcurrency").expect("it tells of cards");
        let line = cards.lines().find(|line| line.starts_with(operation));
        let words = line.expect("it is on cards").split_whitespace();
        words.skip(1).map(str::to_owned).collect()
    };
    assert_eq!(
        numbers("rsa-2048-sign"),
        ["wide", "6", "never", "measured"],
        "{text}"
    );
    assert_eq!(
        numbers("p256-sign"),
        ["one", "lane", "1", "3", "built", "in"],
        "{text}"
    );
    says(&text, "1.2 times scalar across the lanes");
    says(
        &text,
        "2.5 times scalar across the lanes; with 'post-quantum = yes'",
    );
    let wide = text
        .lines()
        .skip_while(|line| !line.starts_with("concurrency"));
    assert!(wide.clone().count() > 5, "{text}");
    for line in wide {
        assert!(line.chars().count() <= 80, "{line}");
    }

    let rules = &document(&info.arg("--json").assert().success(), "outboard-info")["cards"];
    let rule = |operation: &str| {
        let rules = rules.as_array().expect("a list");
        rules
            .iter()
            .find(|rule| rule["operation"] == operation)
            .cloned()
    };
    let expected = serde_json::json!(
        {"operation": "p256-sign", "alone": "card", "lanes": 1, "queued": 3, "measured": false}
    );
    assert_eq!(rule("p256-sign"), Some(expected));
    let expected = serde_json::json!(
        {"operation": "rsa-2048-sign", "alone": "wide", "lanes": 6, "queued": 9, "measured": true}
    );
    assert_eq!(rule("rsa-2048-sign"), Some(expected));
}

#[test]
fn a_damaged_profile_is_told_and_passed_over() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), "{}").expect("it is ours");
    let info = outboard()
        .args(["info", "--json", "--profile"])
        .arg(file.path())
        .assert()
        .success();
    let info = document(&info, "outboard-info");
    assert_eq!(info["profile"]["built_in"], true);
    let reason = info["profile"]["not_used_because"]
        .as_str()
        .expect("a reason");
    says(reason, "damaged");
}

/// One line says what it was measured with, and how it is made anew, whether it is used or not.
#[test]
fn a_profile_of_another_version_is_told() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let of_info = |arguments: &[&str]| {
        let mut info = outboard();
        let info = info.arg("info").args(arguments).arg("--profile");
        info.arg(file.path()).assert().success()
    };
    let current = document(&of_info(&["--json"]), "outboard-info");
    let version = current["libcrypto"]["version"].as_str().expect("a text");
    let mut profile = Profile::measured(Machine::detect(), version, Vec::new());
    let line = |profile: &Profile, from: &str, to: &str| {
        profile.save(file.path()).expect("it is ours");
        let text = fs::read_to_string(file.path()).expect("it was just saved");
        assert!(text.contains(from));
        fs::write(file.path(), text.replacen(from, to, 1)).expect("it is ours");
        let told = of_info(&[]);
        let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
        let line = told.lines().find(|line| line.starts_with("profile "));
        line.expect("a line on the profile").to_owned()
    };
    let path = file.path().display();
    let unchanged = line(&profile, "", "");
    assert!(
        unchanged.starts_with(&format!("profile    {path}, measured 2")),
        "{unchanged}"
    );
    assert!(!unchanged.contains("calibrate"), "{unchanged}");
    profile.outboard = "0.0.9".into();
    let used = line(&profile, "", "");
    says(&used, ": it was measured with Outboard 0.0.9 and OpenSSL ");
    says(&used, "(run 'outboard calibrate')");
    let json = document(&of_info(&["--json"]), "outboard-info");
    let reason = &json["profile"]["out_of_date_because"];
    says(reason.as_str().expect("a reason"), "Outboard 0.0.9");
    for (from, to) in [
        ("\"version\": 2", "\"version\": 1"),
        ("p384-sign", "ml-dsa-sign"),
    ] {
        let passed_over = line(&profile, from, to);
        says(
            &passed_over,
            "from another version of Outboard: 0.0.9 with format ",
        );
        says(&passed_over, "(run 'outboard calibrate' to make a new one)");
    }
}

/// A processor of which OpenSSL makes as good a use.
#[test]
fn a_machine_that_gains_nothing_is_left_alone() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let version = outboard_libcrypto::Library::open(outboard_libcrypto::Library::SYSTEM)
        .expect("it is installed")
        .version();
    let profile = Profile::measured(Machine::detect(), &version, Vec::new());
    profile.save(file.path()).expect("it is ours");
    let info = |options: &[&str]| {
        let mut command = outboard();
        command.arg("info").arg("--profile").arg(file.path());
        command.args(options).assert().success()
    };
    says(
        &stdout(&info(&[])),
        "nothing: this machine has nothing to gain",
    );
    let summary = &document(&info(&["--json"]), "outboard-info")["summary"];
    assert_eq!(
        (&summary["chosen"], &summary["next"]),
        (&0.into(), &"nothing".into())
    );
}

#[test]
fn info_begins_with_what_can_be_done_and_what_is_on() {
    let text = stdout(&outboard().arg("info").assert().success());
    let labels: Vec<&str> = text
        .lines()
        .take(5)
        .map(|line| line[..10].trim_end())
        .collect();
    assert_eq!(
        labels,
        ["lanes", "faster", "switch", "loaded by", "next"],
        "{text}"
    );
}
