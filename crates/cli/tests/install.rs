//! `make install` into a staged prefix: over programs that use the old files, and without cargo.

mod common;

use common::{module, observer, openssl, outboard, public_directory};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Where a build's files lie, under the names that the Makefile expects.
fn built(directory: &Path) -> PathBuf {
    let built = directory.join("built");
    fs::create_dir(&built).expect("it is ours");
    let command = assert_cmd::cargo::cargo_bin("outboard");
    for (name, file) in [
        ("outboard", &command),
        // What these are does not matter to the Makefile: it only generates pages, and copies.
        ("outboard-bench", &command),
        ("outboardd", &command),
        ("liboutboard_stopwatch.so", &observer()),
        ("liboutboard.so", &module()),
        ("liboutboard_pkcs11.so", &module()),
        ("liboutboard_observe.so", &observer()),
        ("libcsulcca.so", &module()),
        ("outboard.jar", &module()),
    ] {
        std::os::unix::fs::symlink(file, built.join(name)).expect("it is ours");
    }
    built
}

/// `make install` of that build into the directory, on a machine without cargo.
fn install(built: &Path, stage: &Path) -> std::process::Output {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let variable = |name: &str, value: &Path| format!("{name}={}", value.display());
    Command::new("make")
        .arg("-C")
        .arg(repository)
        .args(["install", "CARGO=/nowhere/cargo", "MODULESDIR=/modules"])
        .arg(variable("release", built))
        .arg(variable("DESTDIR", stage))
        .output()
        .expect("make is installed")
}

/// A system with an enabled configuration that names the staged module.
fn enabled() -> (TempDir, PathBuf, PathBuf) {
    let directory = public_directory();
    let built = built(directory.path());
    let output = install(&built, directory.path());
    assert!(output.status.success(), "{output:?}");
    let configuration = common::fixture(directory.path(), "debian-12.cnf");
    outboard()
        .args(["enable", "--config"])
        .arg(&configuration)
        .arg("--module")
        .arg(directory.path().join("modules/outboard.so"))
        .assert()
        .success();
    (directory, built, configuration)
}

#[test]
fn what_was_built_is_installed_without_cargo() {
    let (directory, built, _) = enabled();
    let there = |file: &str| directory.path().join(file).exists();
    for file in [
        "usr/local/bin/outboard",
        "usr/local/bin/outboard-bench",
        "usr/local/sbin/outboardd",
        "usr/local/lib/systemd/system/outboard.service",
        "usr/local/lib/systemd/system/outboard.socket",
        "usr/local/lib/systemd/system/outboard-chroot.socket",
        "usr/local/lib/systemd/system/outboard-agent.service",
        "usr/local/lib/systemd/system/outboard-agent.socket",
        "usr/local/lib/systemd/system/outboard-metrics.socket",
        "usr/local/lib/systemd/system/outboard-metrics@.service",
        "usr/local/lib/sysusers.d/outboard.conf",
        "modules/outboard.so",
        "modules/outboard-observe.so",
        "usr/local/lib/outboard/liboutboard_stopwatch.so",
        "usr/local/lib/outboard/outboard-pkcs11.so",
        "usr/local/lib/outboard/libcsulcca.so",
        "usr/local/lib/outboard/include/csulincl.h",
        "usr/local/lib/outboard/outboard.jar",
        "usr/local/share/man/man1/outboard-run.1",
        "usr/local/share/bash-completion/completions/outboard",
        "usr/local/share/outboard/apparmor/outboard",
        "usr/local/share/outboard/selinux/load.sh",
        "usr/local/share/outboard/monitoring/outboard-rules.yml",
        "usr/local/share/outboard/ansible/roles/outboard/tasks/main.yml",
        "usr/local/share/outboard/containers/Containerfile.service",
        "usr/local/share/doc/outboard/servers.md",
        "usr/local/share/doc/outboard/schema/outboard-status.json",
    ] {
        assert!(there(file), "{file}");
    }
    let left = fs::read_dir(directory.path().join("modules")).expect("it is ours");
    assert_eq!(left.count(), 2, "no temporary file is left");

    // Where no JDK was there when it was built.
    fs::remove_file(built.join("outboard.jar")).expect("it is ours");
    let output = install(&built, directory.path());
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    common::says(&said, "outboard.jar is not installed: it was not built");

    fs::remove_file(built.join("liboutboard.so")).expect("it is ours");
    let output = install(&built, directory.path());
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    common::says(&said, "liboutboard.so is missing: run 'make' first");
}

/// Says that there is no more to come, also where a test fails.
struct Last<'a>(&'a AtomicBool);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Programs start one after another while the module that they load is installed again and again.
/// `OUTBOARD_STARTS` of them (`make install-stress`).
#[test]
fn programs_that_start_meanwhile_are_not_harmed() {
    let starts = std::env::var("OUTBOARD_STARTS").ok();
    let starts: u32 = starts.map_or(100, |text| text.parse().expect("a number"));
    let (directory, built, configuration) = enabled();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let installing = scope.spawn(|| {
            let mut installed = 0;
            while !done.load(Ordering::Relaxed) {
                let output = install(&built, directory.path());
                assert!(output.status.success(), "{output:?}");
                installed += 1;
            }
            installed
        });
        let last = Last(&done);
        for start in 0..starts {
            // It asserts the exit status.
            let providers = openssl(&configuration, &["list", "-providers"]);
            assert!(
                providers.contains("name: Outboard"),
                "start {start} is without Outboard: {providers}"
            );
        }
        drop(last);
        let installed = installing.join().expect("it does not panic");
        assert!(installed > 0, "nothing was installed meanwhile");
    });
}
