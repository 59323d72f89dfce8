//! `outboard doctor` on the card service: it names the cause and a remedy.

mod common;

use common::service::{Service, kill, succeeds, us};
use common::{document, outboard, public_directory};
use rustix::process::{Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// What doctor finds about a subject, by a configuration that names the service.
fn doctor(service: &Service, words: &[&str], subject: &str) -> Vec<Value> {
    let configuration = service.configuration();
    let assert = outboard()
        .arg("doctor")
        .args(words)
        .arg("--json")
        .env("OPENSSL_CONF", &configuration)
        .assert();
    let document = document(&assert, "outboard-doctor");
    let findings = document["findings"].as_array().cloned();
    let findings = findings.unwrap_or_default().into_iter();
    findings
        .filter(|finding| finding["subject"] == subject)
        .collect()
}

/// A problem whose words and remedy say that.
#[track_caller]
fn has_problem(findings: &[Value], what: &str, remedy: &str) {
    let says = |finding: &Value, field: &str, text: &str| {
        finding[field]
            .as_str()
            .is_some_and(|said| said.contains(text))
    };
    let found = findings.iter().any(|finding| {
        finding["state"] == "problem"
            && says(finding, "what", what)
            && says(finding, "remedy", remedy)
    });
    assert!(found, "no '{what}' with '{remedy}' in {findings:#?}");
}

#[track_caller]
fn has_no_problem(findings: &[Value]) {
    let problems = findings
        .iter()
        .filter(|finding| finding["state"] == "problem");
    assert_eq!(problems.count(), 0, "{findings:#?}");
}

const SERVICE: &str = "card service";

#[test]
fn a_locked_pin_is_named() {
    let service = Service::start();
    let file = |name: &str| {
        let file = service.path(name);
        fs::write(&file, format!("{name}-1234\n")).expect("it is ours");
        file.display().to_string()
    };
    let (right, wrong) = (file("right"), file("wrong"));
    let pins = ["--pin-file", &right, "--officer-pin-file", &right];
    service.says(&[&["token", "init", "web"][..], &pins].concat());
    has_no_problem(&doctor(&service, &[], SERVICE));
    for _ in 0..10 {
        service.refuses(&["token", "objects", "web", "--pin-file", &wrong]);
    }
    let findings = doctor(&service, &[], SERVICE);
    has_problem(
        &findings,
        "token 'web' is locked",
        "outboard token reset-pin web",
    );
}

#[test]
fn a_service_that_serves_is_well() {
    let service = Service::start();
    service.says(&["keys", "generate", "site", "--type", "p256"]);
    let findings = doctor(&service, &[], SERVICE);
    has_no_problem(&findings);
    assert!(
        findings[0]["what"]
            .as_str()
            .is_some_and(|what| what.contains("1 keys")),
        "{findings:?}"
    );
}

#[test]
fn the_log_of_the_last_start_stays() {
    let service = Service::start();
    let log = std::fs::read(service.path("outboardd.log")).unwrap();
    service.says(&["service", "stop"]);
    service.says(&["service", "start"]);
    let before = std::fs::read(service.path("outboardd.log.before")).unwrap();
    assert!(!log.is_empty() && before.starts_with(&log));
}

#[test]
fn a_service_that_does_not_run_is_named() {
    let service = Service::start();
    service.says(&["service", "stop"]);
    has_problem(
        &doctor(&service, &[], SERVICE),
        "",
        "outboard service start",
    );
    service.says(&["service", "start"]);
    has_no_problem(&doctor(&service, &[], SERVICE));
}

#[test]
fn sockets_that_keep_others_out_are_named() {
    let service = Service::start();
    let socket = service.path("service.sock");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let name = socket.display().to_string();
    has_problem(&doctor(&service, &[], SERVICE), &name, "chmod a+rw");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).expect("it is ours");
    has_no_problem(&doctor(&service, &[], SERVICE));
}

#[test]
fn a_front_that_ssh_clients_miss_is_explained() {
    let service = Service::start();
    let (agent, relay, aside) = ("agent.sock", "relay.sock", service.path("aside"));
    let front = service.front();
    let signal = |signal| kill_process(front, signal).expect("it is ours");
    let of_service = || doctor(&service, &[], SERVICE);

    fs::rename(service.path(relay), &aside).expect("it is ours");
    has_problem(&of_service(), "does not reach the service", "service start");
    fs::rename(&aside, service.path(relay)).expect("it is ours");

    fs::rename(service.path(agent), &aside).expect("it is ours");
    has_problem(&of_service(), agent, "outboard service start");
    fs::rename(&aside, service.path(agent)).expect("it is ours");
    has_no_problem(&of_service());

    signal(Signal::STOP);
    let findings = of_service();
    signal(Signal::CONT);
    has_problem(&findings, "does not answer", "kill -CONT");

    kill(front);
    has_problem(&of_service(), agent, "outboard service start");
    service.says(&["service", "start"]);
    has_no_problem(&of_service());
}

#[test]
fn a_store_that_others_reach_is_named() {
    let service = Service::start();
    let store = service.path("store");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).expect("it is ours");
    has_problem(
        &doctor(&service, &[], "store"),
        "other users can reach",
        "chmod go-rwx",
    );
    fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).expect("it is ours");
    has_no_problem(&doctor(&service, &[], "store"));
}

#[test]
fn a_key_file_is_explained() {
    let service = Service::start();
    let file = service.path("site.key");
    let path = file.to_str().expect("it is ASCII").to_owned();
    let us = us();
    let of_user = || doctor(&service, &["--key", &path, "--user", &us], "key file");
    fs::write(&file, "no key").expect("it is ours");
    has_problem(
        &of_user(),
        "no PEM block of a reference or of a private key",
        "name the file",
    );
    let own = "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n";
    fs::write(&file, own).expect("it is ours");
    let findings = of_user();
    assert!(
        findings[0]["remedy"]
            .as_str()
            .is_some_and(|remedy| remedy.contains("keys adopt"))
    );

    service.says(&["keys", "generate", "site", "--type", "p256"]);
    let reference = service.says(&["keys", "reference", "site"]);
    // As HAProxy has it.
    let certificate = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
    fs::write(&file, format!("{certificate}{reference}")).expect("it is ours");
    has_problem(&of_user(), "may not use", "outboard keys grant site --user");
    service.says(&["keys", "grant", "site", "--user", &us]);
    has_no_problem(&of_user());
    service.says(&["keys", "revoke", "site", "--user", &us]);
    service.says(&["keys", "grant", "site", "--group", "0"]);
    if us == "0" {
        has_no_problem(&of_user());
    }
    service.says(&["keys", "grant", "site", "--user", &us]);

    service.says(&["keys", "policy", "site", "--valid-to", "1"]);
    has_problem(&of_user(), "no longer allows", "--valid-to 0");
    service.says(&["keys", "policy", "site", "--valid-to", "0"]);
    service.says(&["keys", "rename", "site", "shop"]);
    has_no_problem(&of_user());
    let backup = service.path("site.key.outboard-backup");
    fs::write(&backup, "a private key").expect("it is ours");
    let note = of_user();
    assert!(
        note.iter().any(|finding| finding["state"] == "note"),
        "{note:?}"
    );
    service.says(&["keys", "delete", "shop", "--yes"]);
    // The copy has the only key that is left.
    let findings = of_user();
    let revert = format!("run 'outboard keys adopt --revert {path}'");
    if us == "0" {
        has_problem(&findings, "has no key 'site'", &revert);
        assert!(!format!("{findings:?}").contains("shred"), "{findings:?}");
        fs::rename(&backup, service.path("aside")).expect("it is ours");
        has_problem(
            &of_user(),
            "has no key 'site'",
            "restore a backup of the store",
        );
        fs::rename(service.path("aside"), &backup).expect("it is ours");
    }
    service.says(&["keys", "generate", "site", "--type", "p256"]);
    has_problem(&of_user(), "is gone", "outboard keys reference site");
    service.says(&["service", "stop"]);
    has_problem(
        &doctor(&service, &["--key", &path], SERVICE),
        "",
        "outboard service start",
    );
}

#[test]
fn programs_that_were_there_before_the_service_are_named() {
    let service = Service::in_directory(public_directory());
    let directory = service.path("run");
    let text = service.configuration_text();
    let named = |path: &Path| format!("service = {}\n", path.display());
    let text = text.replace(&named(service.directory()), &named(&directory));
    let configuration = service.path("openssl.cnf");
    fs::write(&configuration, text).expect("it is ours");
    let program = || {
        let mut command = Command::new("openssl");
        command.env("OPENSSL_CONF", &configuration);
        let command = command.arg("dgst").stdin(Stdio::piped());
        let program = Ended(command.spawn().expect("openssl is there"));
        let maps = format!("/proc/{}/maps", program.0.id());
        let has_loaded =
            || fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("outboard.so"));
        while !has_loaded() {
            thread::sleep(Duration::from_millis(10));
        }
        program
    };
    let early = program();
    thread::sleep(Duration::from_millis(1100));
    fs::create_dir(&directory).expect("it is ours");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let late = program();
    let outboard = |words: &[&str]| {
        let mut command = outboard();
        command.args(words).env("OPENSSL_CONF", &configuration);
        command
    };
    let option = ["--directory", directory.to_str().expect("it is ASCII")];
    outboard(&[&["service", "start"][..], &option].concat())
        .assert()
        .success();
    let key = service.path("site.key");
    let made = Command::new("openssl")
        .args(["genpkey", "-algorithm", "ED25519", "-out"])
        .arg(&key)
        .output();
    succeeds(&made.expect("openssl is there"));
    let adopt = ["keys", "adopt", key.to_str().expect("it is ASCII")];
    let said = outboard(&[&adopt[..], &option].concat()).assert().success();
    let said = common::stdout(&said);
    common::says(&said, "A reload is not enough");
    let is_named = |said: &str, program: &Ended| said.contains(&program.0.id().to_string());
    assert!(is_named(&said, &early) && !is_named(&said, &late), "{said}");
    let said = outboard(&["doctor"]).assert();
    let said = common::stdout(&said);
    common::says(&said, "these cannot read a reference");
    let said = outboard(&["doctor", "--pid", &late.0.id().to_string()]).assert();
    assert!(!common::stdout(&said).contains("these cannot read a reference"));
    outboard(&[&["service", "stop"][..], &option].concat())
        .assert()
        .success();
}

/// A program that does not outlive its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
