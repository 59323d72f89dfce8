//! `outboard doctor` on systems that something was done to: it names the cause and a remedy, and the remedy works.

mod common;

use common::{
    document, findings_of, fixture, installed_module, observer, outboard, public_directory, version,
};
use outboard_profile::Machine;
use outboard_profile::Profile;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;

/// An enabled system of a test's own: its configuration, module, profile and ledger.
struct Stand {
    directory: TempDir,
    environment: Vec<(&'static str, String)>,
}

impl Stand {
    fn new() -> Self {
        let directory = public_directory();
        fixture(directory.path(), "debian-12.cnf");
        installed_module(&directory);
        let copy = directory.path().join("outboard-observe.so");
        fs::copy(observer(), copy).expect("it can be copied");
        let stand = Self {
            directory,
            environment: Vec::new(),
        };
        stand.profile(&Machine::detect().named(), &version());
        stand.enable(&[]);
        stand.replace(
            "offer = all\n",
            &format!("offer = all\nledger = {}\n", stand.name("ledger")),
        );
        stand
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file("openssl.cnf")).expect("it is ours")
    }

    fn write(&self, text: &str) {
        fs::write(self.file("openssl.cnf"), text).expect("it is ours");
    }

    /// In the configuration.
    fn replace(&self, old: &str, new: &str) {
        let text = self.text();
        assert!(text.contains(old), "{old:?} in\n{text}");
        self.write(&text.replace(old, new));
    }

    /// A line more in the provider's section.
    fn set(&self, line: &str) {
        self.replace("offer = all\n", &format!("offer = all\n{line}\n"));
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.file(name), PermissionsExt::from_mode(mode)).expect("it is ours");
    }

    fn profile(&self, machine: &Machine, libcrypto: &str) {
        let profile = Profile::measured(machine.clone(), libcrypto, Vec::new());
        profile
            .save(&self.file("profile.json"))
            .expect("it is ours");
        self.mode("profile.json", 0o644);
    }

    fn enable(&self, options: &[&str]) {
        outboard()
            .args(["enable", "--config"])
            .arg(self.file("openssl.cnf"))
            .arg("--module")
            .arg(self.file("outboard.so"))
            .arg("--profile")
            .arg(self.file("profile.json"))
            .args(["--offer", "all"])
            .args(options)
            .assert()
            .success();
    }

    /// What `doctor` finds amiss.
    fn findings(&self) -> Vec<Value> {
        let mut doctor = outboard();
        doctor
            .args(["doctor", "--json"])
            .env("OPENSSL_CONF", self.file("openssl.cnf"));
        for (name, value) in &self.environment {
            doctor.env(name, value);
        }
        let report = document(&doctor.assert(), "outboard-doctor");
        let findings = report["findings"].as_array().expect("a list").clone();
        findings
            .into_iter()
            .filter(|finding| finding["state"] != "good")
            .collect()
    }
}

/// What is done to a system, what is said of it, and what the remedy does.
struct Sabotage {
    name: &'static str,
    harm: fn(&mut Stand),
    /// The finding's subject, and a part of what it says.
    subject: &'static str,
    what: &'static str,
    /// A part of the remedy.
    remedy: &'static str,
    /// The remedy, as a person follows it.
    cure: fn(&mut Stand),
}

const SABOTAGES: &[Sabotage] = &[
    Sabotage {
        name: "the module is removed",
        harm: |stand| fs::remove_file(stand.file("outboard.so")).expect("ours"),
        subject: "module",
        what: "cannot be read",
        remedy: "make install",
        cure: reinstall,
    },
    Sabotage {
        name: "the module is empty",
        harm: |stand| fs::write(stand.file("outboard.so"), "").expect("ours"),
        subject: "module",
        what: "is no module for this machine",
        remedy: "install the build for this machine",
        cure: reinstall,
    },
    Sabotage {
        name: "the module is cut off",
        harm: |stand| {
            let module = fs::read(stand.file("outboard.so")).expect("ours");
            fs::write(stand.file("outboard.so"), &module[..9000]).expect("ours");
        },
        subject: "module",
        what: "the end of the file is missing",
        remedy: "make install",
        cure: reinstall,
    },
    Sabotage {
        name: "the module is a text",
        harm: |stand| fs::write(stand.file("outboard.so"), "no module").expect("ours"),
        subject: "module",
        what: "is no module for this machine",
        remedy: "install the build for this machine",
        cure: reinstall,
    },
    Sabotage {
        name: "the module is for another kind of machine",
        harm: |stand| {
            let mut module = fs::read(stand.file("outboard.so")).expect("ours");
            module[18] = 22; // S/390
            fs::write(stand.file("outboard.so"), module).expect("ours");
        },
        subject: "module",
        what: "is no module for this machine",
        remedy: "install the build for this machine",
        cure: reinstall,
    },
    Sabotage {
        name: "the module is another library",
        harm: |stand| {
            fs::copy("/bin/true", stand.file("outboard.so")).expect("ours");
        },
        subject: "module",
        what: "OpenSSL cannot load",
        remedy: "make install",
        cure: reinstall,
    },
    Sabotage {
        name: "the module is private",
        harm: |stand| stand.mode("outboard.so", 0o700),
        subject: "module",
        what: "not every user can read",
        remedy: "make install",
        cure: reinstall,
    },
    Sabotage {
        name: "the module's directory is private",
        harm: |stand| stand.mode("", 0o700),
        subject: "configuration",
        what: "not every user can read",
        remedy: "chmod o+rX",
        cure: |stand| stand.mode("", 0o755),
    },
    Sabotage {
        name: "others can change the module",
        harm: |stand| stand.mode("outboard.so", 0o777),
        subject: "module",
        what: "was not tried",
        remedy: "make install",
        cure: reinstall,
    },
    Sabotage {
        name: "the block's first line is gone",
        harm: |stand| stand.replace("# >>> outboard", "# outboard"),
        subject: "configuration",
        what: "'# >>> outboard' is missing",
        remedy: "openssl.cnf.before-outboard",
        cure: from_backup,
    },
    Sabotage {
        name: "the block's last line is gone",
        harm: |stand| stand.replace("# <<< outboard", "#"),
        subject: "configuration",
        what: "'# <<< outboard' is missing",
        remedy: "openssl.cnf.before-outboard",
        cure: from_backup,
    },
    Sabotage {
        name: "the block is there twice",
        harm: |stand| {
            let text = stand.text();
            let block = &text[text.find("# >>> outboard").expect("a block")..];
            stand.write(&format!("{text}{block}"));
        },
        subject: "configuration",
        what: "there are two",
        remedy: "openssl.cnf.before-outboard",
        cure: from_backup,
    },
    Sabotage {
        name: "the block ends twice",
        harm: |stand| stand.write(&(stand.text() + "# <<< outboard\n")),
        subject: "configuration",
        what: "it ends twice",
        remedy: "openssl.cnf.before-outboard",
        cure: from_backup,
    },
    Sabotage {
        name: "a damaged block, and no copy of the file",
        harm: |stand| {
            stand.replace("# <<< outboard", "#");
            fs::remove_file(stand.file("openssl.cnf.before-outboard")).expect("ours");
        },
        subject: "configuration",
        what: "is damaged",
        remedy: "remove the block's lines with an editor",
        cure: |stand| {
            let text = stand.text();
            let begin = text.find("# >>> outboard").expect("it begins");
            stand.write(&text[..begin]);
            stand.enable(&[]);
        },
    },
    Sabotage {
        name: "the configuration is removed",
        harm: |stand| fs::remove_file(stand.file("openssl.cnf")).expect("ours"),
        subject: "configuration",
        what: "cannot be read",
        remedy: "openssl.cnf.before-outboard",
        cure: from_backup,
    },
    Sabotage {
        name: "the configuration is private",
        harm: |stand| stand.mode("openssl.cnf", 0o600),
        subject: "configuration",
        what: "not every user can read",
        remedy: "chmod o+rX",
        cure: |stand| stand.mode("openssl.cnf", 0o644),
    },
    Sabotage {
        name: "everyone can write the configuration",
        harm: |stand| stand.mode("openssl.cnf", 0o666),
        subject: "configuration",
        what: "other users can change",
        remedy: "chmod go-w",
        cure: |stand| stand.mode("openssl.cnf", 0o644),
    },
    Sabotage {
        name: "a line before the block is no assignment",
        harm: |stand| stand.write(&format!("nonsense\n{}", stand.text())),
        subject: "configuration",
        what: "line 1: no '='",
        remedy: "correct that line",
        cure: |stand| stand.replace("nonsense\n", ""),
    },
    Sabotage {
        name: "a line in the block is no assignment",
        harm: |stand| stand.set("nonsense"),
        subject: "configuration",
        what: "no '='",
        remedy: "outboard enable",
        cure: |stand| stand.enable(&[]),
    },
    Sabotage {
        name: "a section's bracket is missing",
        harm: |stand| stand.replace("[outboard_sect]", "[outboard_sect"),
        subject: "configuration",
        what: "cannot understand",
        remedy: "outboard enable",
        cure: |stand| stand.enable(&[]),
    },
    Sabotage {
        name: "an included file is missing",
        harm: |stand| stand.write(&format!(".include /nowhere/x.cnf\n{}", stand.text())),
        subject: "configuration",
        what: "/nowhere/x.cnf, which does not exist",
        remedy: "remove the line",
        cure: |stand| stand.replace(".include /nowhere/x.cnf\n", ""),
    },
    Sabotage {
        name: "the block was taken out by hand",
        harm: |stand| {
            let text = stand.text();
            stand.write(&text[..text.find("# >>> outboard").expect("a block")]);
        },
        subject: "configuration",
        what: "does not load Outboard",
        remedy: "outboard enable",
        cure: |stand| stand.enable(&[]),
    },
    Sabotage {
        name: "the properties are gone",
        harm: |stand| stand.replace("default_properties = ", "# default_properties = "),
        subject: "configuration",
        what: "programs do not prefer it",
        remedy: "outboard enable",
        cure: |stand| stand.enable(&[]),
    },
    Sabotage {
        name: "Outboard is not activated",
        harm: |stand| {
            let text = stand.text();
            let at = text.find("[outboard_sect]").expect("it is there");
            let (before, ours) = text.split_at(at);
            stand.write(&format!("{before}{}", ours.replacen("activate = 1", "", 1)));
        },
        subject: "loading",
        what: "Outboard is not active",
        remedy: "outboard enable",
        cure: |stand| stand.enable(&[]),
    },
    Sabotage {
        name: "the default provider is not activated",
        harm: |stand| {
            let text = stand.text();
            let at = text.find("[outboard_default]").expect("it is there");
            let (before, ours) = text.split_at(at);
            stand.write(&format!("{before}{}", ours.replacen("activate = 1", "", 1)));
        },
        subject: "loading",
        what: "the default provider is not active",
        remedy: "outboard enable",
        cure: |stand| stand.enable(&[]),
    },
    Sabotage {
        name: "a setting is misspelt",
        harm: |stand| stand.set("card = 2"),
        subject: "settings",
        what: "card = 2: there is no such setting",
        remedy: "write 'cards = 2'",
        cure: |stand| stand.replace("card = 2", "cards = 2"),
    },
    Sabotage {
        name: "a setting is of something else",
        harm: |stand| stand.set("colour = blue"),
        subject: "settings",
        what: "colour = blue: there is no such setting",
        remedy: "outboard.cnf(5)",
        cure: |stand| stand.replace("colour = blue\n", ""),
    },
    Sabotage {
        name: "too many cards",
        harm: |stand| stand.set("cards = 17"),
        subject: "settings",
        what: "cards = 17",
        remedy: "correct it, or remove the line",
        cure: |stand| stand.replace("cards = 17", "cards = 16"),
    },
    Sabotage {
        name: "async that is neither",
        harm: |stand| stand.set("async = maybe"),
        subject: "settings",
        what: "async = maybe",
        remedy: "correct it, or remove the line",
        cure: |stand| stand.replace("async = maybe", "async = no"),
    },
    Sabotage {
        name: "an algorithm that is none",
        harm: |stand| stand.set("algorithms = DSA"),
        subject: "settings",
        what: "algorithms = DSA",
        remedy: "correct it, or remove the line",
        cure: |stand| stand.replace("algorithms = DSA", "algorithms = RSA"),
    },
    Sabotage {
        name: "an offer that is none",
        harm: |stand| stand.replace("offer = all", "offer = everything"),
        subject: "settings",
        what: "offer = everything",
        remedy: "correct it, or remove the line",
        cure: |stand| stand.replace("offer = everything", "offer = all"),
    },
    Sabotage {
        name: "the profile is damaged",
        harm: |stand| fs::write(stand.file("profile.json"), "{").expect("ours"),
        subject: "profile",
        what: "is damaged",
        remedy: "outboard calibrate --output",
        cure: calibrate,
    },
    Sabotage {
        name: "the profile is gone",
        harm: |stand| fs::remove_file(stand.file("profile.json")).expect("ours"),
        subject: "profile",
        what: "there is no profile",
        remedy: "outboard calibrate --output",
        cure: calibrate,
    },
    Sabotage {
        name: "the profile is another machine's",
        harm: |stand| {
            let mut machine = Machine::detect().named();
            machine.features.push("x87".to_owned());
            stand.profile(&machine, &version());
        },
        subject: "profile",
        what: "with x87",
        remedy: "outboard calibrate --output",
        cure: calibrate,
    },
    Sabotage {
        name: "the profile is of another OpenSSL",
        harm: |stand| stand.profile(&Machine::detect().named(), "2.9.0"),
        subject: "profile",
        what: "was measured with libcrypto 2.9.0",
        remedy: "outboard calibrate --output",
        cure: calibrate,
    },
    Sabotage {
        name: "OpenSSL was updated since",
        harm: |stand| {
            let series = version();
            let (series, _) = series.rsplit_once('.').expect("three numbers");
            stand.profile(&Machine::detect().named(), &format!("{series}.999"));
        },
        subject: "profile",
        what: "the installed files are not the measured ones",
        remedy: "outboard calibrate --output",
        cure: calibrate,
    },
    Sabotage {
        name: "OpenSSL's file was replaced after the measurement",
        harm: |stand| {
            let profile = fs::File::options()
                .write(true)
                .open(stand.file("profile.json"));
            let long_ago = std::time::SystemTime::UNIX_EPOCH;
            profile.expect("ours").set_modified(long_ago).expect("ours");
        },
        subject: "profile",
        what: "was replaced after the measurement",
        remedy: "outboard calibrate --output",
        cure: calibrate,
    },
    Sabotage {
        name: "the profile is private",
        harm: |stand| stand.mode("profile.json", 0o600),
        subject: "profile",
        what: "not every user can read",
        remedy: "chmod o+rX",
        cure: |stand| stand.mode("profile.json", 0o644),
    },
    Sabotage {
        name: "the ledger is no ledger",
        harm: |stand| fs::write(stand.file("ledger"), "nothing").expect("ours"),
        subject: "ledger",
        what: "is not a ledger",
        remedy: "rm",
        cure: |stand| fs::remove_file(stand.file("ledger")).expect("ours"),
    },
    Sabotage {
        name: "the ledger's directory does not exist",
        harm: |stand| {
            let (old, new) = (stand.name("ledger"), stand.name("none/ledger"));
            stand.replace(&old, &new);
        },
        subject: "ledger",
        what: "cannot be made",
        remedy: "or name another ledger",
        cure: |stand| fs::create_dir(stand.file("none")).expect("ours"),
    },
    Sabotage {
        name: "the module that observes is gone",
        harm: |stand| {
            stand.enable(&[
                "--observe",
                "--observer",
                &stand.name("outboard-observe.so"),
            ]);
            fs::remove_file(stand.file("outboard-observe.so")).expect("ours");
        },
        subject: "observing",
        what: "cannot be read: programs run without Outboard",
        remedy: "outboard enable --no-observe",
        cure: |stand| stand.enable(&["--no-observe"]),
    },
    Sabotage {
        name: "the module that observes is private",
        harm: |stand| {
            stand.enable(&[
                "--observe",
                "--observer",
                &stand.name("outboard-observe.so"),
            ]);
            stand.mode("outboard-observe.so", 0o700);
        },
        subject: "observing",
        what: "not every user can read",
        remedy: "make install",
        cure: |stand| stand.mode("outboard-observe.so", 0o644),
    },
    Sabotage {
        name: "OPENSSL_CONF is empty",
        harm: |stand| stand.environment.push(("OPENSSL_CONF", String::new())),
        subject: "configuration",
        what: "OPENSSL_CONF names no file",
        remedy: "unset OPENSSL_CONF",
        cure: |stand| stand.environment.clear(),
    },
    Sabotage {
        name: "OPENSSL_MODULES leads elsewhere",
        harm: |stand| {
            stand
                .environment
                .push(("OPENSSL_MODULES", "/nowhere".to_owned()))
        },
        subject: "module",
        what: "OPENSSL_MODULES names /nowhere",
        remedy: "unset OPENSSL_MODULES",
        cure: |stand| stand.environment.clear(),
    },
];

fn reinstall(stand: &mut Stand) {
    let module = stand.file("outboard.so");
    // As 'make install' does: never into the file that something may have mapped.
    fs::remove_file(&module).ok();
    installed_module(&stand.directory);
    stand.mode("outboard.so", 0o644);
}

fn from_backup(stand: &mut Stand) {
    let backup = stand.file("openssl.cnf.before-outboard");
    fs::copy(backup, stand.file("openssl.cnf")).expect("it is there");
    stand.enable(&[]);
}

/// Measured where it matters elsewhere: here a profile that holds will do.
fn calibrate(stand: &mut Stand) {
    stand.profile(&Machine::detect().named(), &version());
}

impl Sabotage {
    fn is_found(&self, findings: &[Value]) -> bool {
        findings.iter().any(|finding| {
            let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            finding["subject"] == self.subject && (text("what") + &text("why")).contains(self.what)
        })
    }

    /// What is wrong with what is said of it, if anything.
    fn check(&self) -> Result<(), String> {
        let mut stand = Stand::new();
        let before = stand.findings();
        if self.is_found(&before) {
            return Err(format!("found before anything was done: {before:#?}"));
        }
        (self.harm)(&mut stand);
        let findings = stand.findings();
        let found = findings.iter().find(|finding| {
            let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            finding["subject"] == self.subject
                && (text("what") + &text("why")).contains(self.what)
                && text("remedy").contains(self.remedy)
        });
        if found.is_none() {
            return Err(format!(
                "expected {} and {}: {findings:#?}",
                self.what, self.remedy
            ));
        }
        (self.cure)(&mut stand);
        let after = stand.findings();
        match self.is_found(&after) {
            true => Err(format!("still found after the remedy: {after:#?}")),
            false => Ok(()),
        }
    }
}

#[test]
fn every_sabotage_is_named_with_a_remedy_that_works() {
    let only = std::env::var("OUTBOARD_SABOTAGE").unwrap_or_default();
    let mut failed = Vec::new();
    for sabotage in SABOTAGES.iter().filter(|one| one.name.contains(&only)) {
        if let Err(reason) = sabotage.check() {
            failed.push(format!("{}: {reason}", sabotage.name));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(SABOTAGES.len() >= 30);
}

/// A service with a read-only /dev/shm, whose configuration names a ledger elsewhere, is counted there.
#[test]
fn a_ledger_elsewhere_needs_no_dev_shm() {
    let can = std::process::Command::new("unshare")
        .args(["-m", "true"])
        .output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("passed over: this user may make no mount namespace");
        return;
    }
    let stand = Stand::new();
    let notes = |stand: &Stand| {
        let script = "mount --bind /dev/shm /dev/shm && mount -o remount,bind,ro /dev/shm\n\
                      exec openssl dgst -sha256";
        let mut child = std::process::Command::new("unshare")
            .args(["-m", "sh", "-ec", script])
            .env("OPENSSL_CONF", stand.file("openssl.cnf"))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        let pid = child.id().to_string();
        let maps = format!("/proc/{pid}/maps");
        // unshare, sh and openssl are one process after another.
        let is_loaded =
            || fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("/outboard.so"));
        let loaded = (0..600).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            is_loaded()
        });
        // The module is mapped before it opens its ledger.
        std::thread::sleep(std::time::Duration::from_secs(1));
        let findings = findings_of(&["--pid", &pid]);
        drop(child.stdin.take());
        child.wait().expect("it ends");
        assert!(loaded, "{findings:#?}");
        let of_ledger = findings
            .into_iter()
            .filter(|finding| finding["subject"] == "ledger");
        of_ledger
            .map(|finding| finding.to_string())
            .collect::<String>()
    };
    let notes_of_it = notes(&stand);
    assert!(
        !notes_of_it.contains("where nobody sees it"),
        "{notes_of_it}"
    );
    // Where it cannot be made, that is said of the file that the configuration names.
    let (old, new) = (stand.name("ledger"), stand.name("none/ledger"));
    stand.replace(&old, &new);
    common::says(&notes(&stand), &format!("names the ledger {new}"));
}
