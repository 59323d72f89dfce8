//! `outboard enable` and `disable` on copies of configurations, with the system's own OpenSSL.

mod common;

use common::{
    document, fixture, installed_module, openssl, outboard, public_directory, says, stderr, stdout,
};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory with a configuration of that shape and a module.
fn system(name: &str) -> (TempDir, PathBuf, PathBuf) {
    let directory = public_directory();
    let configuration = fixture(directory.path(), name);
    let module = installed_module(&directory);
    (directory, configuration, module)
}

fn enable(configuration: &Path, module: &Path) -> assert_cmd::assert::Assert {
    let mut command = outboard();
    command
        .arg("enable")
        .arg("--config")
        .arg(configuration)
        .arg("--module")
        .arg(module);
    command.assert()
}

fn disable(configuration: &Path) -> assert_cmd::assert::Assert {
    outboard()
        .arg("disable")
        .arg("--config")
        .arg(configuration)
        .assert()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is ours");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("it is ours")
                .file_name()
                .into_string()
                .expect("text")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_system_loads_outboard_and_forgets_it_again() {
    for name in [
        "debian-12.cnf",
        "ubuntu-22.04.cnf",
        "ubuntu-24.04.cnf",
        "rhel-9.cnf",
        "odd-no-sections-crlf.cnf",
        "odd-without-default.cnf",
    ] {
        let (directory, configuration, module) = system(name);
        fs::set_permissions(&configuration, PermissionsExt::from_mode(0o664)).expect("it is ours");
        let before = fs::read(&configuration).expect("it is ours");

        enable(&configuration, &module).success();
        let providers = openssl(&configuration, &["list", "-providers"]);
        assert!(
            providers.contains("outboard") && providers.contains("default"),
            "{name}: {providers}"
        );
        assert_eq!(
            fs::metadata(&configuration).expect("it is ours").mode() & 0o777,
            0o664
        );
        let once = fs::read(&configuration).expect("it is ours");
        assert!(
            once.starts_with(&before),
            "{name}: no line of its own is touched"
        );

        let again = enable(&configuration, &module).success();
        says(&stdout(&again), "nothing was changed");
        assert_eq!(
            fs::read(&configuration).expect("it is ours"),
            once,
            "{name}"
        );

        let off = disable(&configuration).success();
        assert!(
            stdout(&off).contains("byte for byte"),
            "{name}: {}",
            stdout(&off)
        );
        assert_eq!(
            fs::read(&configuration).expect("it is ours"),
            before,
            "{name}"
        );
        assert_eq!(
            names(directory.path()),
            ["openssl.cnf", "outboard.so"],
            "nothing is left"
        );
    }
}

/// First, then second, kept by a later call, and gone again.
#[test]
fn post_quantum_groups_come_and_go() {
    const GROUPS: &str = "X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:X25519:";
    let with = |configuration: &Path, module: &Path, arguments: &[&str]| {
        let mut command = outboard();
        command.arg("enable").args(arguments);
        command.arg("--config").arg(configuration);
        command.arg("--module").arg(module);
        stdout(&command.assert().success())
    };
    for name in [
        "debian-12.cnf",
        "ubuntu-22.04.cnf",
        "rhel-9.cnf",
        "odd-no-sections-crlf.cnf",
    ] {
        let (_directory, configuration, module) = system(name);
        let before = fs::read(&configuration).expect("it is ours");
        let text = || fs::read_to_string(&configuration).expect("it is ours");

        let said = with(&configuration, &module, &["--post-quantum"]);
        if said.contains("has the post-quantum groups itself") {
            assert!(!text().contains("MLKEM"), "{name}");
            continue;
        }
        assert!(
            text().contains(&format!("Groups = {GROUPS}")),
            "{name}: {}",
            text()
        );
        let algorithms = openssl(&configuration, &["list", "-kem-algorithms"]);
        assert!(
            algorithms.contains("SecP256r1MLKEM768 @ outboard"),
            "{algorithms}"
        );

        says(
            &with(&configuration, &module, &["--offer", "profile"]),
            "'--post-quantum' stays",
        );
        assert!(text().contains(&format!("Groups = {GROUPS}")), "{name}");
        with(
            &configuration,
            &module,
            &["--post-quantum", "--servers-only"],
        );
        assert!(text().contains("Groups = X25519:X25519MLKEM768:"), "{name}");
        says(
            &with(&configuration, &module, &[]),
            "'--post-quantum --servers-only' stays",
        );
        let ended = with(&configuration, &module, &["--no-post-quantum"]);
        assert!(!ended.contains("--post-quantum"), "{ended}");
        assert!(
            !text().contains("MLKEM") && text().contains("[outboard_sect]"),
            "{name}"
        );
        let algorithms = openssl(&configuration, &["list", "-kem-algorithms"]);
        assert!(!algorithms.contains("MLKEM"), "{algorithms}");

        with(&configuration, &module, &["--post-quantum"]);
        disable(&configuration).success();
        assert_eq!(
            fs::read(&configuration).expect("it is ours"),
            before,
            "{name}"
        );
    }
}

#[test]
fn edits_made_meanwhile_stay() {
    let (directory, configuration, module) = system("debian-12.cnf");
    let before = fs::read_to_string(&configuration).expect("it is ours");
    enable(&configuration, &module).success();
    let enabled = fs::read_to_string(&configuration).expect("it is ours");
    fs::write(
        &configuration,
        enabled.replace("popo = -1", "popo = 0") + "cmd = rr\n",
    )
    .expect("ours");

    let off = disable(&configuration).success();
    says(&stdout(&off), "only Outboard's lines were removed");
    says(
        &stdout(&off),
        "before-outboard stays: the file before that.",
    );
    let after = fs::read_to_string(&configuration).expect("it is ours");
    assert_eq!(
        after,
        before.replace("popo = -1", "popo = 0") + "cmd = rr\n"
    );
    let backup = directory.path().join("openssl.cnf.before-outboard");
    assert_eq!(fs::read_to_string(backup).expect("it is kept"), before);

    let off = disable(&configuration).success();
    says(&stdout(&off), "does not load Outboard");
}

#[test]
fn a_dry_run_changes_nothing() {
    let (directory, configuration, module) = system("rhel-9.cnf");
    let before = fs::read(&configuration).expect("it is ours");
    let would = || {
        let dry = outboard()
            .args(["enable", "--dry-run", "--offer", "all", "--config"])
            .arg(&configuration)
            .arg("--module")
            .arg(&module)
            .assert()
            .success();
        stdout(&dry)
    };
    says(&would(), "[provider_sect]\noutboard = outboard_sect\n");
    assert!(would().contains("offer = all\n"));
    assert_eq!(fs::read(&configuration).expect("it is ours"), before);
    assert_eq!(names(directory.path()), ["openssl.cnf", "outboard.so"]);

    let enable = ["enable", "--offer", "all", "--config"];
    let enable = outboard()
        .args(enable)
        .arg(&configuration)
        .arg("--module")
        .arg(&module)
        .assert();
    enable.success();
    says(&would(), "already loads Outboard; nothing would be changed");
}

#[test]
fn other_settings_replace_the_block() {
    let (_directory, configuration, module) = system("debian-12.cnf");
    enable(&configuration, &module).success();
    let enable = outboard()
        .args(["enable", "--json", "--offer", "none", "--config"])
        .arg(&configuration)
        .arg("--module")
        .arg(&module)
        .assert()
        .success();
    assert_eq!(document(&enable, "outboard-enable")["changed"], true);
    let text = fs::read_to_string(&configuration).expect("it is ours");
    assert_eq!(text.matches("[outboard_sect]").count(), 1);
    assert!(text.contains("offer = none\n"));
    let off = outboard()
        .args(["disable", "--json", "--config"])
        .arg(&configuration)
        .assert();
    assert_eq!(
        document(&off.success(), "outboard-disable")["restored"],
        true
    );
}

#[test]
fn what_an_earlier_enable_was_asked_for_stays() {
    let (directory, configuration, module) = system("debian-12.cnf");
    let before = fs::read(&configuration).expect("it is ours");
    let observer = directory.path().join("outboard-observe.so");
    fs::copy(common::observer(), &observer).expect("it can be copied");
    let profile = directory.path().join("profile.json");
    let enable = |options: &[&str]| {
        let mut command = outboard();
        command.args(["enable", "--config"]).arg(&configuration);
        command.arg("--module").arg(&module).args(options);
        stdout(&command.assert().success())
    };
    let text = || fs::read_to_string(&configuration).expect("it is ours");
    let path = |path: &Path| path.display().to_string();
    enable(&[
        "--observe",
        "--observer",
        &path(&observer),
        "--offer",
        "all",
    ]);
    enable(&["--profile", &path(&profile)]);
    // A person adds a line to the block.
    let edited = text().replace("offer = all\n", "offer = all\ncards = 2\n");
    fs::write(&configuration, edited).expect("it is ours");

    let said = enable(&[]);
    for kept in [
        format!("module = {}\n", observer.display()),
        format!("inner = {}\n", module.display()),
        format!("profile = {}\n", profile.display()),
        "offer = all\n".to_owned(),
        "cards = 2\n".to_owned(),
    ] {
        says(&text(), &kept);
    }
    for note in [
        "Note: programs are still observed",
        "Note: 'offer = all' stays",
        "Note: 'cards = 2' stays",
    ] {
        says(&said, note);
    }
    let providers = openssl(&configuration, &["list", "-providers"]);
    says(&providers, "observed_default");

    // What is asked for now takes the place of what was asked for earlier.
    enable(&["--no-observe", "--offer", "profile"]);
    says(&text(), "offer = profile\ncards = 2\n");
    assert!(!text().contains("outboard-observe.so"), "{}", text());
    disable(&configuration).success();
    assert_eq!(fs::read(&configuration).expect("it is ours"), before);
}

#[test]
fn what_is_said_of_programs_is_true() {
    let (_directory, configuration, module) = system("debian-12.cnf");
    let path = |path: &Path| path.to_str().expect("it is ASCII").to_owned();
    let run = |words: &[&str]| {
        let mut command = outboard();
        let command = command
            .args(words)
            .args(["--config", &path(&configuration)]);
        stdout(&command.assert().success())
    };
    let enable =
        |words: &[&str]| run(&[&["enable", "--module", &path(&module)][..], words].concat());
    enable(&[]);
    run(&["disable", "--for", "nginx"]);
    says(&enable(&[]), "Note: 'except = nginx' stays");
    let said = enable(&["--for", "all"]);
    assert!(!said.contains("except"), "{said}");
}

#[test]
fn a_link_stays_a_link() {
    let (directory, configuration, module) = system("debian-12.cnf");
    let link = directory.path().join("link.cnf");
    symlink(&configuration, &link).expect("it is ours");
    enable(&link, &module).success();
    assert!(
        fs::symlink_metadata(&link)
            .expect("it is ours")
            .is_symlink()
    );
    let text = fs::read_to_string(&configuration).expect("it is ours");
    assert!(text.contains("# >>> outboard"));
}

#[test]
fn what_cannot_work_is_refused_and_nothing_changes() {
    let (directory, configuration, module) = system("debian-12.cnf");
    let before = fs::read(&configuration).expect("it is ours");
    let refused = |configuration: &Path, module: &Path, reason: &str| {
        let refusal = enable(configuration, module).code(1);
        assert!(
            stderr(&refusal).starts_with("outboard: "),
            "{}",
            stderr(&refusal)
        );
        assert!(
            stderr(&refusal).contains(reason),
            "{reason}: {}",
            stderr(&refusal)
        );
    };
    let file = |name: &str| directory.path().join(name);

    refused(&configuration, &file("absent.so"), "cannot find the module");
    refused(&file("absent.cnf"), &module, "cannot find");
    fs::write(file("text.so"), "no module").expect("it is ours");
    refused(&configuration, &file("text.so"), "it is not an ELF file");
    // A shared object that is no provider: OpenSSL says why.
    let libcrypto = fs::canonicalize("/usr/lib/x86_64-linux-gnu/libcrypto.so.3")
        .or_else(|_| fs::canonicalize("/usr/lib/aarch64-linux-gnu/libcrypto.so.3"))
        .expect("Debian has it there");
    fs::copy(libcrypto, file("other.so")).expect("it can be copied");
    refused(&configuration, &file("other.so"), "OSSL_provider_init");
    fs::set_permissions(&module, PermissionsExt::from_mode(0o700)).expect("it is ours");
    refused(&configuration, &module, "not every user can read it");
    fs::set_permissions(&module, PermissionsExt::from_mode(0o755)).expect("it is ours");

    assert_eq!(fs::read(&configuration).expect("it is ours"), before);
    assert_eq!(
        names(directory.path()),
        ["openssl.cnf", "other.so", "outboard.so", "text.so"]
    );

    for (name, reason) in [
        ("refused-legacy-only.cnf", "without the default provider"),
        (
            "refused-other-preference.cnf",
            "already says which provider to prefer",
        ),
    ] {
        refused(&fixture(directory.path(), name), &module, reason);
    }
    fs::write(&configuration, "# >>> outboard\n").expect("it is ours");
    refused(&configuration, &module, "is damaged");
}

#[test]
fn programs_survive_a_module_that_is_gone() {
    let (_directory, configuration, module) = system("debian-12.cnf");
    enable(&configuration, &module).success();
    fs::remove_file(&module).expect("it is ours");
    let digest = openssl(&configuration, &["dgst", "-sha256", "/dev/null"]);
    assert!(digest.contains("e3b0c44298fc1c149afbf4c8996fb924"));
    let key = openssl(&configuration, &["genpkey", "-algorithm", "X25519"]);
    assert!(key.starts_with("-----BEGIN PRIVATE KEY-----"));
}
