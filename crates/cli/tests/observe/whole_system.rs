//! A system that is observed: enable --observe.

use crate::common::{self, document, number, observer, outboard, row, says, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn a_whole_system_is_observed_until_it_is_disabled() {
    for name in ["debian-12.cnf", "ubuntu-22.04.cnf", "rhel-9.cnf"] {
        let directory = common::public_directory();
        let configuration = common::fixture(directory.path(), name);
        let module = common::installed_module(&directory);
        let observer_module = directory.path().join("outboard-observe.so");
        fs::copy(observer(), &observer_module).expect("it can be copied");
        let before = fs::read(&configuration).expect("it is ours");
        let enable = |options: &[&str]| {
            let mut command = outboard();
            command.arg("enable").arg("--config").arg(&configuration);
            command.arg("--module").arg(&module).args(options).assert()
        };
        let named = observer_module.display().to_string();
        enable(&["--observe", "--observer", &named, "--offer", "all"]).success();
        // Each user has a record of the same name: this one is for the test alone.
        let record = directory.path().join("record");
        let text = fs::read_to_string(&configuration).expect("it is ours");
        let module_line = format!("module = {named}\n");
        assert_eq!(text.matches(&module_line).count(), 2, "{name}: {text}");
        let ours = format!("{module_line}record = {}\n", record.display());
        fs::write(&configuration, text.replace(&module_line, &ours)).expect("it is ours");

        // A trial, as doctor's, leaves no record behind, and takes none away.
        let probe = || {
            let mut command = outboard();
            let tried = command.arg("probe").arg("--config").arg(&configuration);
            let told = stdout(&tried.assert().success());
            let told: Value = serde_json::from_str(&told).expect("it is JSON");
            assert_eq!(told["observed_is_active"], true, "{name}: {told}");
        };
        probe();
        assert!(!record.exists(), "{name}");

        common::openssl(&configuration, &["dgst", "-sha256", "/dev/null"]);
        probe();
        common::openssl(
            &configuration,
            &["ecparam", "-name", "prime256v1", "-genkey"],
        );
        let read = |record: &Path| {
            let mut command = outboard();
            let read = command.args(["observe", "--json", "--record"]).arg(record);
            document(&read.assert().success(), "outboard-observe")
        };
        let report = read(&record);
        let digest = row(&report, "SHA-256", "digest");
        assert_eq!(digest["implementation"], "default", "{name}");
        let key = row(&report, "EC P-256", "generate");
        assert_eq!(key["implementation"], "outboard", "{name}");

        // Should the module vanish, programs go on.
        fs::remove_file(&observer_module).expect("it is ours");
        let digest = common::openssl(&configuration, &["dgst", "-sha256", "/dev/null"]);
        assert!(digest.contains("e3b0c44298fc1c14"), "{name}: {digest}");

        let mut disable = outboard();
        let disable = disable.arg("disable").arg("--config").arg(&configuration);
        disable.assert().success();
        assert_eq!(
            fs::read(&configuration).expect("it is ours"),
            before,
            "{name}"
        );
    }
}

/// A system that activates `legacy` has it observed, and keeps it should the module vanish.
#[test]
fn a_system_s_legacy_is_observed_beside_it() {
    let directory = common::public_directory();
    let configuration = directory.path().join("openssl.cnf");
    let list = "[list]\ndefault = plain\nlegacy = plain\n[plain]\nactivate = 1\n";
    let before = format!("openssl_conf = init\n[init]\nproviders = list\n{list}");
    fs::write(&configuration, &before).expect("it is ours");
    let observer_module = directory.path().join("outboard-observe.so");
    fs::copy(observer(), &observer_module).expect("it can be copied");
    let mut enable = outboard();
    let enable = enable.arg("enable").arg("--config").arg(&configuration);
    let enable = enable
        .arg("--module")
        .arg(common::installed_module(&directory));
    let enable = enable.args(["--offer", "none", "--observe", "--observer"]);
    enable.arg(&observer_module).assert().success();
    let record = directory.path().join("record");
    let text = fs::read_to_string(&configuration).expect("it is ours");
    let line = format!("module = {}\n", observer_module.display());
    let ours = format!("{line}record = {}\n", record.display());
    fs::write(&configuration, text.replace(&line, &ours)).expect("it is ours");

    let digest = || common::openssl(&configuration, &["dgst", "-md4", "/dev/null"]);
    says(&digest(), "31d6cfe0d16ae931");
    common::openssl(
        &configuration,
        &["dgst", "-md4", "-propquery", "provider=legacy", "/dev/null"],
    );
    let mut read = outboard();
    let read = read.args(["observe", "--json", "--record"]).arg(&record);
    let read = read.env("OPENSSL_CONF", &configuration).assert().success();
    let report = document(&read, "outboard-observe");
    let md4 = row(&report, "MD4", "digest");
    assert_eq!(
        (&md4["implementation"], number(&md4["calls"])),
        (&"legacy".into(), 2)
    );
    assert!(
        !report["unseen"].to_string().contains("the provider legacy"),
        "{report:#}"
    );

    fs::remove_file(&observer_module).expect("it is ours");
    says(&digest(), "31d6cfe0d16ae931");
    let mut disable = outboard();
    let disable = disable.arg("disable").arg("--config").arg(&configuration);
    disable.assert().success();
    assert_eq!(
        fs::read_to_string(&configuration).expect("it is ours"),
        before
    );
}

#[test]
fn a_module_that_cannot_observe_leaves_the_system_as_it_is() {
    let directory = common::public_directory();
    let configuration = common::fixture(directory.path(), "debian-12.cnf");
    let before = fs::read(&configuration).expect("it is ours");
    let module = common::installed_module(&directory);
    // Outboard's own module is no observer: it would be active twice.
    let text = directory.path().join("text.so");
    fs::write(&text, "text").expect("it is ours");
    let mut command = outboard();
    command.arg("enable").arg("--config").arg(&configuration);
    command.arg("--module").arg(&module);
    let enable = command
        .args(["--observe", "--observer"])
        .arg(&text)
        .assert();
    says(&stderr(&enable.code(1)), "it is not an ELF file");
    assert_eq!(fs::read(&configuration).expect("it is ours"), before);
}

#[test]
fn doctor_names_an_observing_module_that_is_gone() {
    let directory = common::public_directory();
    let configuration = common::fixture(directory.path(), "debian-12.cnf");
    let module = common::installed_module(&directory);
    let observing = directory.path().join("outboard-observe.so");
    fs::copy(observer(), &observing).expect("it can be copied");
    let mut command = outboard();
    command.arg("enable").arg("--config").arg(&configuration);
    command.arg("--module").arg(&module);
    let enable = command.args(["--observe", "--observer"]).arg(&observing);
    enable.assert().success();
    let told = || {
        let mut doctor = outboard();
        let doctor = doctor.arg("doctor").env("OPENSSL_CONF", &configuration);
        stdout(&doctor.assert())
    };
    let name = observing.display();
    says(&told(), &format!("good     observing      {name} counts "));
    fs::remove_file(&observing).expect("it is ours");
    let gone = told();
    says(
        &gone,
        &format!("problem  observing      {name} cannot be read"),
    );
    says(&gone, "'outboard enable --no-observe'");
    assert!(!gone.contains("its section is at fault"), "{gone}");
}
