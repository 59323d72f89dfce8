//! The schemas of docs/schema: each command's document fits its own. (The tests of each command check every document that they
//! read in the same way: `common::document`.)

mod common;

use common::{document, fixture, installed_module, outboard, public_directory, run, schema_errors};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The names of the files, without `.json`.
fn files() -> BTreeSet<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let files = std::fs::read_dir(directory).expect("it is in the repository");
    let name = |file: std::io::Result<std::fs::DirEntry>| {
        let name = file.expect("it can be listed").file_name().into_string();
        let name = name.expect("its name is ASCII");
        name.strip_suffix(".json")
            .expect("only schemas are here")
            .to_owned()
    };
    files.map(name).collect()
}

#[test]
fn every_schema_that_is_documented_has_a_file() {
    let using = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/using.md");
    let using = std::fs::read_to_string(using).expect("it is in the repository");
    let section = using
        .split("## For programs")
        .nth(1)
        .expect("the section is there");
    let words = section.split('`').skip(1).step_by(2);
    let documented: BTreeSet<String> = words
        .filter(|word| word.starts_with("outboard-") && !word.contains(' '))
        .map(str::to_owned)
        .collect();
    assert_eq!(documented, files());
}

#[test]
fn what_the_commands_print_fits() {
    let directory = public_directory();
    let configuration = fixture(directory.path(), "debian-12.cnf");
    let module = installed_module(&directory);
    let change = |words: &[&str]| {
        let mut command = outboard();
        command
            .args(words)
            .arg("--json")
            .arg("--config")
            .arg(&configuration);
        if words[0] == "enable" {
            command.arg("--module").arg(&module);
        }
        command.assert().success()
    };
    document(&change(&["enable", "--dry-run"]), "outboard-enable");
    document(&change(&["enable", "--for", "nginx"]), "outboard-enable");
    let read = |words: &[&str]| {
        let mut command = outboard();
        command
            .args(words)
            .arg("--json")
            .env("OPENSSL_CONF", &configuration);
        command.assert()
    };
    for (words, schema) in [
        (&["status"][..], "outboard-status"),
        (&["info"], "outboard-info"),
        (&["stats", "--all"], "outboard-stats"),
        (&["cards"], "outboard-cards"),
        (&["doctor"], "outboard-doctor"),
        (&["doctor", "--program", "openssl"], "outboard-doctor"),
        (&["doctor", "--pid", "1"], "outboard-doctor"),
    ] {
        let answer = read(words);
        // Another user's process may not be examined.
        if words.last() != Some(&"1") || !answer.get_output().stdout.is_empty() {
            document(&answer, schema);
        }
    }
    let proved = run(
        &["--offer", "all", "--proof", "--json"],
        &["openssl", "genpkey", "-algorithm", "X25519"],
    );
    let proved = { proved }.assert().success();
    let proof: Value = serde_json::from_str(&common::stderr(&proved)).expect("it is JSON");
    common::assert_fits_its_schema(&proof);
    document(&change(&["disable", "--for", "ssh"]), "outboard-disable");
    document(&change(&["disable"]), "outboard-disable");
}

#[test]
fn what_does_not_fit_is_found() {
    let fits = serde_json::json!({
        "schema": "outboard-doctor", "version": 1, "problems": 1,
        "findings": [{"state": "problem", "subject": "module", "what": "x", "why": "y"}]
    });
    assert_eq!(schema_errors(&fits), [] as [String; 0]);
    let changes: [fn(&mut Value); 5] = [
        |document| document["findings"][0]["state"] = "bad".into(),
        |document| document["findings"][0]["undescribed"] = 1.into(),
        |document| document["problems"] = (-1).into(),
        |document| document["version"] = 2.into(),
        |document| {
            drop(
                document
                    .as_object_mut()
                    .and_then(|fields| fields.remove("findings")),
            )
        },
    ];
    for change in changes {
        let mut document = fits.clone();
        change(&mut document);
        assert_ne!(schema_errors(&document), [] as [String; 0], "{document}");
    }
}

/// A running 'outboard run' has libcrypto and waits for its program: it is none of the programs that need a restart.
#[test]
fn outboard_itself_is_no_program_to_restart() {
    let mut command = common::outboard_process();
    command
        .args(["run", "--offer", "all", "--module"])
        .arg(common::module());
    let mut child = command
        .args(["--", "sleep", "60"])
        .spawn()
        .expect("it starts");
    let maps = format!("/proc/{}/maps", child.id());
    let has_libcrypto = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("libcrypto.so.3"))
    });
    let directory = public_directory();
    let configuration = fixture(directory.path(), "debian-12.cnf");
    let module = installed_module(&directory);
    let mut enable = outboard();
    enable
        .args(["enable", "--json", "--config"])
        .arg(&configuration);
    let enabled = document(
        &enable.arg("--module").arg(&module).assert(),
        "outboard-enable",
    );
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(has_libcrypto);
    let named = format!("{}", enabled["restart"]);
    assert!(
        !named.contains(&format!("(process {})", child.id())),
        "{named}"
    );
}
