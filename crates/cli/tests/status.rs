//! `outboard status`, and switching on and off by program.

mod common;

use common::service::Service;
use common::{
    document, fixture, installed_module, openssl, outboard, public_directory, says, stderr, stdout,
};
use outboard_profile::{Machine, Profile};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;

struct Stand {
    directory: TempDir,
    configuration: PathBuf,
}

impl Stand {
    fn new() -> Self {
        let directory = public_directory();
        let configuration = fixture(directory.path(), "debian-12.cnf");
        installed_module(&directory);
        let version = openssl(&configuration, &["version"]);
        let version = version.split(' ').nth(1).expect("its version");
        let profile = Profile::measured(Machine::detect().named(), version, Vec::new());
        let file = directory.path().join("profile.json");
        profile.save(&file).expect("it is ours");
        fs::set_permissions(file, PermissionsExt::from_mode(0o644)).expect("it is ours");
        Self {
            directory,
            configuration,
        }
    }

    fn command(&self, command: &str, options: &[&str]) -> Value {
        let mut switch = outboard();
        switch.args([command, "--json", "--config"]);
        switch.arg(&self.configuration).args(options);
        document(&switch.assert().success(), &format!("outboard-{command}"))
    }

    fn enable(&self, options: &[&str]) -> Value {
        let file = |name: &str| self.directory.path().join(name).display().to_string();
        let (module, profile) = (file("outboard.so"), file("profile.json"));
        let all = [&["--module", &module, "--profile", &profile], options].concat();
        self.command("enable", &all)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.configuration).expect("it is ours")
    }

    fn status(&self) -> (Value, i32) {
        let mut status = outboard();
        let status = status.args(["status", "--json"]);
        let status = status.env("OPENSSL_CONF", &self.configuration).assert();
        let code = status.get_output().status.code();
        (document(&status, "outboard-status"), code.expect("it ends"))
    }
}

#[test]
fn one_screen_says_whether_it_is_on_and_what_is_wrong() {
    let stand = Stand::new();
    let (off, code) = stand.status();
    assert_eq!((&off["on"], code), (&Value::Bool(false), 1));

    stand.enable(&[]);
    let (on, code) = stand.status();
    assert_eq!(on["on"], true);
    assert_eq!(on["serves"], "every program");
    assert_eq!(
        on["configuration"],
        stand.configuration.display().to_string()
    );
    let problems = on["problems"].as_array().expect("a list");
    assert_eq!(code == 0, problems.is_empty(), "{problems:#?}");
    for field in ["asked", "served"] {
        assert!(on["total"][field].is_u64(), "{on:#}");
    }
    for field in ["since", "processes", "programs", "observed"] {
        assert!(!on[field].is_null(), "{field}: {on:#}");
    }

    // As a plugin of a monitoring system: a state, a sentence, figures, an exit status.
    let text = || {
        let mut status = outboard();
        let status = status
            .arg("status")
            .env("OPENSSL_CONF", &stand.configuration)
            .assert();
        (stdout(&status), status.get_output().status.code())
    };
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let (well, _) = text();
    says(&first(&well), "|asked=");
    says(&first(&well), " problems=");
    fs::remove_file(stand.directory.path().join("outboard.so")).expect("it is ours");
    let (broken, code) = text();
    assert_eq!(code, Some(1));
    assert!(
        first(&broken).starts_with("OUTBOARD WARNING - "),
        "{broken}"
    );
    says(&broken, "make install");

    outboard().args(["status", "--no-such"]).assert().code(2);
}

#[test]
fn programs_are_switched_on_one_by_one() {
    let stand = Stand::new();
    let before = stand.text();
    let nginx = stand.enable(&["--for", "nginx"]);
    assert_eq!(nginx["serves"], "nginx");
    says(&stand.text(), "programs = nginx\n");
    let both = stand.enable(&["--for", "/usr/sbin/haproxy"]);
    assert_eq!(both["serves"], "nginx, haproxy");
    assert_eq!(stand.status().0["serves"], "nginx, haproxy");
    // What runs now is none of them: it loads Outboard, which offers nothing.
    let providers = openssl(&stand.configuration, &["list", "-signature-algorithms"]);
    assert!(!providers.contains("@ outboard"), "{providers}");

    let one = stand.command("disable", &["--for", "nginx"]);
    assert_eq!(one["serves"], "haproxy");
    let none = stand.command("disable", &["--for", "haproxy"]);
    assert!(none["serves"].is_null());
    assert_eq!(stand.text(), before, "no program is left");
}

#[test]
fn one_program_is_left_out() {
    let stand = Stand::new();
    let before = stand.text();
    stand.enable(&["--offer", "all"]);
    let served =
        || openssl(&stand.configuration, &["list", "-signature-algorithms"]).contains("@ outboard");
    assert!(served());
    let doctor = |says_what: &str| {
        let mut doctor = outboard();
        let doctor = doctor.args(["doctor", "--program", "openssl"]);
        let doctor = doctor.env("OPENSSL_CONF", &stand.configuration).assert();
        says(&stdout(&doctor.success()), says_what);
    };
    // A word that changes nothing is told, and so is one that no program has.
    let notes = |options: &[&str]| stand.enable(options)["notes"].to_string();
    says(
        &notes(&["--for", "openssl"]),
        "serves every program already",
    );
    says(&notes(&["--for", "ngnix"]), "no program 'ngnix' is in PATH");
    for command in ["enable", "disable"] {
        let stray = outboard().args([command, "nginx"]).assert().code(2);
        says(
            &stderr(&stray),
            &format!("'outboard {command} --for nginx'"),
        );
    }
    let others = stand.command("disable", &["--for", "openssl"]);
    doctor("offers openssl nothing but keys");
    assert_eq!(others["serves"], "every program but openssl");
    says(&stand.text(), "offer = all\nexcept = openssl\n");
    assert!(!served());
    // A later 'enable' keeps that, until it is told otherwise.
    assert_eq!(stand.enable(&[])["serves"], "every program but openssl");
    assert_eq!(
        stand.enable(&["--for", "openssl"])["serves"],
        "every program"
    );
    assert!(served());
    stand.command("disable", &[]);
    assert_eq!(stand.text(), before);
    doctor("Outboard is off");
    // Nor does a file ever take the place of a device.
    let mut enable = outboard();
    let enable = enable.args(["enable", "--config", "/dev/null"]).assert();
    says(&stderr(&enable.code(1)), "/dev/null is no regular file");
    let mut doctor = outboard();
    let doctor = doctor.arg("doctor").env("OPENSSL_CONF", "/dev/null");
    says(&stdout(&doctor.assert()), "run 'unset OPENSSL_CONF'");
    let wrong = ["enable", "--for", "no name"];
    outboard().args(wrong).assert().code(2);
}

/// With a service, the screen has a line on it.
#[test]
fn the_card_service_has_a_line() {
    let service = Service::start();
    let configuration = service.configuration();
    let status = |words: &[&str]| {
        let mut status = outboard();
        let status = status.arg("status").args(words);
        status.env("OPENSSL_CONF", &configuration).assert()
    };
    let told = || document(&status(&["--json"]), "outboard-status")["service"].clone();
    service.says(&["keys", "generate", "site", "--type", "p256"]);
    let running = told();
    assert_eq!(running["state"], "running");
    assert_eq!(running["keys"], 1);
    assert_eq!(running["master_key"], "open");
    assert!(running["complaint"].is_null(), "{running}");
    says(
        &stdout(&status(&[])),
        "service    running; keys: 1; master key: entered\n",
    );
    // Without a grant nobody uses the key.
    let key = service.path("site.key");
    fs::write(&key, service.says(&["keys", "reference", "site"])).expect("it is ours");
    let key = key.to_str().expect("it is ASCII");
    let request = ["req", "-x509", "-new", "-key", key, "-subj", "/CN=x"];
    assert!(!service.openssl(&request).status.success());
    let complaint = told()["complaint"]["sentence"].clone();
    says(
        complaint.as_str().expect("a sentence"),
        "key 'site': permission denied",
    );
    says(&stdout(&status(&[])), "key 'site': permission denied");
    says(
        &service.says(&["service", "status"]),
        "key 'site': permission denied",
    );
    service.says(&["service", "stop"]);
    assert_eq!(told()["state"], "down");
    says(
        &stdout(&status(&[])),
        "service    the card service does not run (run 'outboard service start --directory",
    );
}
