//! What `outboard doctor` says of drop-ins, when the OpenSSH that is installed is another one.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use crate::common::{copy, document, outboard, says};
use crate::system::{HALVES, System, shell};

impl System {
    /// What doctor finds about the drop-ins; of what else it finds, nothing matters here.
    fn examined(&self) -> Vec<Value> {
        let doctor = outboard()
            .args(["doctor", "--json", "--ssh-directory"])
            .arg(self.directory.path())
            .assert();
        drop_ins(&document(&doctor, "outboard-doctor"))
    }
}

fn drop_ins(report: &Value) -> Vec<Value> {
    let findings = report["findings"].as_array().expect("a list").iter();
    findings
        .filter(|finding| finding["subject"] == "OpenSSH")
        .cloned()
        .collect()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").expect("it is there").uid() == 0
}

fn text<'a>(finding: &'a Value, field: &str) -> &'a str {
    finding[field].as_str().expect("a text")
}

#[test]
fn what_a_newer_openssh_dropped_is_found() {
    let system = System::new();
    let server = system.drop_in("sshd_config");
    assert_eq!(system.examined(), [] as [Value; 0]);
    // Another's is not looked at, whatever it says.
    fs::write(&server, "Nonsense yes\n").expect("it is ours");
    assert_eq!(system.examined(), [] as [Value; 0]);
    fs::remove_file(&server).expect("it is ours");

    system.advise(&["--stock", "--apply"]).success();
    for (finding, program) in system.examined().iter().zip(["sshd", "ssh"]) {
        assert_eq!(finding["state"], "good");
        says(text(finding, "what"), &format!("{program} accepts "));
    }

    for name in HALVES {
        let file = system.drop_in(name);
        let written = fs::read_to_string(&file).expect("it was written");
        let older = written.replace("KexAlgorithms ", "KexAlgorithms gone-sha256,");
        let older = older.replace("MACs ", "MACs gone-sha2@example.org,");
        fs::write(&file, older).expect("it is ours");
    }
    let before = system.state();
    let findings = system.examined();
    assert_eq!(findings.len(), 2);
    let consequences = ["does not start with it", "makes no connection with it"];
    for (finding, consequence) in findings.iter().zip(consequences) {
        assert_eq!(finding["state"], "problem");
        says(text(finding, "what"), consequence);
        says(text(finding, "why"), "10-outboard.conf line ");
        says(
            text(finding, "why"),
            "this OpenSSH has no gone-sha2@example.org, gone-sha256",
        );
        let directory = system.directory.path().display();
        says(
            text(finding, "remedy"),
            &format!("'outboard advise ssh --directory {directory} --revert', then "),
        );
    }
    assert_eq!(system.state(), before);

    // The remedy is one.
    system.advise(&["--revert"]).success();
    system.advise(&["--stock", "--apply"]).success();
    let findings = system.examined();
    assert_eq!(findings.len(), 2);
    assert!(findings.iter().all(|finding| finding["state"] == "good"));
}

#[test]
fn what_cannot_be_asked_is_said() {
    let system = System::new();
    system.advise(&["--stock", "--apply"]).success();

    // Programs that answer something else. (ssh-keygen and others stay to be found.)
    let programs = system.path("programs");
    fs::create_dir(&programs).expect("it is ours");
    let script = programs.join("script");
    fs::write(&script, "#!/bin/sh\necho no such library >&2; exit 127\n").expect("it is ours");
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("a mode");
    for name in ["sshd", "ssh"] {
        copy(&script, &programs.join(name));
    }
    let path = format!("export PATH={}:$PATH", programs.display());
    let output = shell(&assert_cmd::cargo::cargo_bin("outboard"), &path)
        .args(["doctor", "--json", "--ssh-directory"])
        .arg(system.directory.path())
        .output()
        .expect("it runs");
    let report = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let findings = drop_ins(&report);
    assert_eq!(findings.len(), 2, "{report:#}");
    for finding in findings {
        assert_eq!(finding["state"], "note");
        assert_eq!(text(&finding, "why"), "no such library");
    }

    // A pipe in its place would keep whoever opens it waiting.
    let server = system.drop_in("sshd_config");
    fs::remove_file(&server).expect("it is ours");
    let made = std::process::Command::new("mkfifo").arg(&server).status();
    assert!(made.expect("it is installed").success());
    let findings = system.examined();
    assert_eq!(findings[0]["state"], "note");
    says(text(&findings[0], "why"), "it is not a plain file");
    assert_eq!(findings[1]["state"], "good");
    if is_root() {
        // Whoever may change it could have a Match run what he likes, as root.
        let client = system.drop_in("ssh_config");
        fs::set_permissions(&client, PermissionsExt::from_mode(0o666)).expect("it is ours");
        let findings = system.examined();
        assert_eq!(findings[1]["state"], "note");
        says(
            text(&findings[1], "why"),
            "users other than root can change ",
        );
    }
}

#[test]
fn users_are_told_what_they_may_see() {
    let system = System::new();
    system.advise(&["--stock", "--apply"]).success();
    if !is_root() {
        eprintln!("skipped: only root can become somebody else");
        return;
    }
    let private = fs::Permissions::from_mode(0o700);
    fs::set_permissions(system.path("sshd_config.d"), private).expect("it is ours");
    let program = system.path("outboard");
    copy(&assert_cmd::cargo::cargo_bin("outboard"), &program);
    let doctor = shell(&program, ":")
        .uid(65_534)
        .gid(65_534)
        .args(["doctor", "--json", "--ssh-directory"])
        .arg(system.directory.path())
        .output()
        .expect("it runs");
    let report = serde_json::from_slice(&doctor.stdout).expect("it is JSON");
    let findings = drop_ins(&report);
    assert_eq!(findings[0]["state"], "note", "{report:#}");
    says(text(&findings[0], "why"), "(run it as root)");
    assert_eq!(findings[1]["state"], "good", "{report:#}");
}

#[test]
fn a_directory_that_is_none_is_told() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (missing, file) = (
        directory.path().join("missing"),
        directory.path().join("file"),
    );
    fs::write(&file, "").expect("it is ours");
    let within = file.join("missing");
    for (named, reason) in [
        (
            &missing,
            format!("there is no directory {}", missing.display()),
        ),
        (&file, format!("{} is not a directory", file.display())),
        (
            &within,
            format!("cannot examine {}: Not a directory", within.display()),
        ),
    ] {
        let refused = outboard()
            .args(["doctor", "--ssh-directory"])
            .arg(named)
            .assert()
            .code(1);
        let output = refused.get_output();
        assert!(output.stdout.is_empty());
        let said = String::from_utf8_lossy(&output.stderr);
        says(&said, &reason);
        says(&said, "(give --ssh-directory");
    }
}
