//! `outboard doctor`.

use crate::common::{
    self, document, fixture, installed_module, module, outboard, public_directory, says, stderr,
    stdout,
};
use outboard_profile::{Machine, Profile};
use outboard_programs::{
    Certificate, HaProxyMode, HaProxyOptions, Offer, OpenSsl, Outboard, Workplace,
};
use std::fs;

#[test]
fn doctor_finds_what_is_wrong_with_a_configuration() {
    let directory = public_directory();
    let configuration = fixture(directory.path(), "debian-12.cnf");
    let module = installed_module(&directory);
    let doctor = || {
        let mut command = outboard();
        command
            .args(["doctor", "--json"])
            .env("OPENSSL_CONF", &configuration);
        command.assert()
    };
    let finding = |doctor: &assert_cmd::assert::Assert, subject: &str, state: &str| {
        let report = document(doctor, "outboard-doctor");
        let findings = report["findings"].as_array().expect("a list").clone();
        let found = findings
            .into_iter()
            .find(|f| f["subject"] == subject && f["state"] == state);
        found.unwrap_or_else(|| panic!("no {state} about {subject}: {report:#}"))
    };

    outboard()
        .arg("enable")
        .arg("--config")
        .arg(&configuration)
        .arg("--module")
        .arg(&module)
        .assert()
        .success();
    finding(&doctor(), "configuration", "good");
    finding(&doctor(), "module", "good");
    finding(&doctor(), "loading", "good");

    let enabled = fs::read_to_string(&configuration).expect("it is ours");
    let wrong = enabled.replace(
        "[outboard_sect]\n",
        "[outboard_sect]\ncards = many\nasync = no\n",
    );
    fs::write(&configuration, wrong).expect("it is ours");
    let problem = finding(&doctor().code(1), "settings", "problem");
    assert!(
        problem["what"]
            .as_str()
            .expect("a text")
            .contains("cards = many")
    );
    let unloved = enabled.replace("?provider=outboard,?outboard.preferred=yes", "");
    fs::write(&configuration, unloved).expect("it is ours");
    let problem = finding(&doctor().code(1), "configuration", "problem");
    assert!(
        problem["remedy"]
            .as_str()
            .expect("a text")
            .contains("outboard enable")
    );

    fs::write(&configuration, &enabled).expect("it is ours");
    fs::write(&module, "no module").expect("it is ours");
    let problem = finding(&doctor().code(1), "module", "problem");
    assert_eq!(problem["why"], "it is not an ELF file");

    // An old profile is used; a damaged one is not.
    let profile = directory.path().join("profile.json");
    let with_profile = enabled.replace(
        "[outboard_sect]",
        &format!("[outboard_sect]\nprofile = {}", profile.display()),
    );
    fs::write(&configuration, with_profile).expect("it is ours");
    let mut old = Profile::measured(Machine::detect(), "3.0.0", Vec::new());
    old.outboard = "0.0.1".into();
    let system_is_3_0 = common::openssl(&configuration, &["version"]).starts_with("OpenSSL 3.0.");
    if system_is_3_0 {
        old.save(&profile).expect("the directory is ours");
        let note = finding(&doctor(), "profile", "note");
        says(
            note["why"].as_str().expect("a text"),
            "measured with Outboard 0.0.1 and OpenSSL 3.0.0",
        );
    }
    old.libcrypto.version = "1.1.1".into();
    old.save(&profile).expect("the directory is ours");
    says(
        &finding(&doctor().code(1), "profile", "problem").to_string(),
        "1.1.1",
    );
    fs::write(&profile, "{").expect("it is ours");
    says(
        &finding(&doctor().code(1), "profile", "problem").to_string(),
        "damaged",
    );

    fs::write(&configuration, "nonsense\n").expect("it is ours");
    finding(&doctor().code(1), "configuration", "problem");
}

#[test]
fn doctor_looks_at_processes_and_programs() {
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .expect("it starts");
    let pid = child.id().to_string();
    let doctor = outboard().args(["doctor", "--pid", &pid]).assert().code(1);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    says(&stdout(&doctor), "has not loaded OpenSSL");

    let full = fs::File::create("/dev/full").expect("it is there");
    let mut doctor = common::outboard_process();
    let doctor = doctor.args(["doctor", "--program", "openssl"]).stdout(full);
    let said = doctor.output().expect("it starts").stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    says(&said, "cannot write to standard output: ");

    let endless = outboard().args(["doctor", "--key", "/dev/zero"]).assert();
    says(&stderr(&endless.code(1)), "/dev/zero is no key file");

    let gone = outboard().args(["doctor", "--pid", &pid]).assert().code(1);
    assert_eq!(
        stderr(&gone),
        format!("outboard: there is no process {pid}\n")
    );

    let doctor = outboard()
        .args(["doctor", "--program", "openssl"])
        .assert()
        .success();
    says(&stdout(&doctor), "libcrypto.so.3");
    outboard()
        .args(["doctor", "--program", "no-such-program"])
        .assert()
        .code(1);
    outboard()
        .args(["doctor", "--program", "x", "--pid", "1"])
        .assert()
        .code(2);
}

#[test]
fn a_process_under_outboard_is_proved_to_be() {
    let mut command = common::outboard_process();
    command
        .args(["run", "--offer", "all", "--module"])
        .arg(module());
    // It reads its configuration at once, then waits for input.
    command.args(["--", "openssl", "dgst", "-sha256"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let proof = (0..1200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let children = fs::read_to_string(&children).expect("it runs");
        let pid = children.split_whitespace().next()?;
        let doctor = outboard().args(["doctor", "--pid", pid]).assert();
        doctor.try_success().ok().map(|doctor| stdout(&doctor))
    });
    drop(child.stdin.take());
    child.wait().expect("it ends");
    let proof = proof.expect("it loads Outboard at last");
    says(&proof, "liboutboard.so loaded");
}

/// A running HAProxy with 5,000 connections to serve, and room for 6,000.
#[test]
fn doctor_warns_of_an_haproxy_without_room() {
    let workplace = Workplace::new().expect("a temporary directory");
    let ours = Outboard {
        module: module(),
        offer: Offer::All,
        profile: None,
    };
    let openssl = OpenSsl::outboard(&workplace, &ours, "outboard").expect("it can be written");
    let key = "ec -pkeyopt ec_paramgen_curve:P-256";
    let certificate = Certificate::generate(&workplace, &openssl, "p256", key);
    let options = HaProxyOptions {
        openssl: &openssl,
        certificates: &[&certificate.expect("openssl makes one")],
        mode: HaProxyMode::Http,
        asynchronous: true,
        threads: 1,
        resumption: false,
        core: None,
        settings: "",
        bind: "",
    };
    let told = |options: &HaProxyOptions<'_>| {
        let haproxy = options.start(&workplace).expect("it starts");
        // Others' servers may run beside it.
        let directory = workplace.path().to_string_lossy().into_owned();
        let doctor = outboard().args(["doctor", "--json"]).assert();
        let report = document(&doctor, "outboard-doctor");
        let findings = report["findings"].as_array().expect("a list").clone();
        drop(haproxy);
        findings.into_iter().find(|finding| {
            let what = finding["what"].as_str().expect("a text");
            finding["subject"] == "haproxy" && what.contains(&directory)
        })
    };
    assert_eq!(told(&options), None);
    let short = HaProxyOptions {
        settings: "frontend more\nmode http\nmaxconn 1000",
        ..options
    };
    let finding = told(&short).expect("it warns");
    says(
        &finding.to_string(),
        "too few descriptors for paused handshakes",
    );
    says(&finding.to_string(), "in global to 1.5 times their sum");
}
