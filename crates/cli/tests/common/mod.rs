//! What the tests of the command share.

#![allow(dead_code, reason = "each test uses its part")]

#[path = "../../../pkcs11/tests/common/calls.rs"]
pub(crate) mod calls;
pub(crate) mod java;
mod schema;
pub(crate) mod service;
pub(crate) mod tokens;

use assert_cmd::Command;
use outboard_programs::{OpenSsl, Workplace, missing};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) use schema::*;

/// The command, in an environment that names no configuration and no profile of the user's.
pub(crate) fn outboard() -> Command {
    let mut command =
        Command::cargo_bin("outboard").expect("cargo builds the command before its tests");
    isolate(&mut command);
    command
}

/// The shell block of a document after the comment that names this test's file.
pub(crate) fn shell_block(document: &'static str, test: &str) -> &'static str {
    let rest = document.split(&format!("{test} runs this block")).nth(1);
    let block = rest.and_then(|rest| rest.split("```sh\n").nth(1));
    let block = block.and_then(|rest| rest.split("```").next());
    block.expect("it is there")
}

/// `outboard run OPTIONS --module THIS-BUILD -- PROGRAM…`.
pub(crate) fn run(options: &[&str], program: &[&str]) -> Command {
    let mut command = outboard();
    command
        .arg("run")
        .args(options)
        .arg("--module")
        .arg(module())
        .arg("--")
        .args(program);
    command
}

/// The observer, which cargo built beside these tests because it is a dependency of theirs.
pub(crate) fn observer() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its program");
    let module = test.with_file_name("liboutboard_observe.so");
    assert!(module.exists(), "cargo builds {}", module.display());
    module
}

/// `outboard observe OPTIONS --observer THIS-BUILD -- PROGRAM…`.
pub(crate) fn observe(options: &[&str], program: &[&str]) -> Command {
    let mut command = outboard();
    command
        .arg("observe")
        .args(options)
        .arg("--observer")
        .arg(observer())
        .arg("--")
        .args(program);
    command
}

/// Fails unless `text` says `part`.
#[track_caller]
pub(crate) fn says(text: &str, part: &str) {
    assert!(text.contains(part), "expected: {part}\ngot: {text}");
}

/// Copies a program. A child does it: what we wrote ourselves, a fork of another test might still hold
/// open, and what is written to does not run.
pub(crate) fn copy(program: &Path, to: &Path) {
    let copied = std::process::Command::new("cp")
        .arg(program)
        .arg(to)
        .status();
    assert!(copied.expect("cp is installed").success());
}

/// Whether programs are installed; says which are not, and fails then where `OUTBOARD_TEST_ALL` is set.
pub(crate) fn are_installed(programs: &[&str]) -> bool {
    let missing = missing(programs);
    for program in &missing {
        eprintln!("passed over: {} is not installed", program.name);
    }
    assert!(
        missing.is_empty() || std::env::var_os("OUTBOARD_TEST_ALL").is_none(),
        "OUTBOARD_TEST_ALL is set, and programs are missing"
    );
    missing.is_empty()
}

/// A configuration that counts in a record, for servers and their clients.
pub(crate) fn observing(workplace: &Workplace, name: &str, record: &Path) -> OpenSsl {
    // Where every user can read it.
    let module = workplace.join("outboard-observe.so");
    if !module.exists() {
        copy(&observer(), &module);
    }
    let text = format!(
        "config_diagnostics = 1\nopenssl_conf = openssl_init\n\
         [openssl_init]\nproviders = provider_sections\n\
         [provider_sections]\nobserved_default = observed_section\n\
         [observed_section]\nmodule = {}\nrecord = {}\nactivate = 1\n",
        module.display(),
        record.display(),
    );
    OpenSsl::configured(workplace, name, &text).expect("it is ours")
}

/// What `outboard observe --json` says of a record.
pub(crate) fn report_of(record: &Path) -> serde_json::Value {
    let mut command = outboard();
    let read = command.args(["observe", "--json", "--record"]).arg(record);
    document(&read.assert().success(), "outboard-observe")
}

/// The same for a test that must talk to it while it runs.
pub(crate) fn outboard_process() -> std::process::Command {
    let mut command = std::process::Command::new("env");
    command
        // Whoever runs the tests may ignore hangups (nohup) or interrupts (&), which is handed down.
        .arg("--default-signal")
        .arg(assert_cmd::cargo::cargo_bin("outboard"))
        .env_remove("OPENSSL_CONF")
        .env("XDG_STATE_HOME", "/nowhere");
    command
}

fn isolate(command: &mut Command) {
    command
        .env_remove("OPENSSL_CONF")
        .env("XDG_STATE_HOME", "/nowhere")
        .env("LC_ALL", "C.UTF-8");
}

/// The PKCS #11 module, which cargo built beside these tests because it is a dependency of theirs.
pub(crate) fn token() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its program");
    let module = test.with_file_name("liboutboard_pkcs11.so");
    assert!(module.exists(), "cargo builds {}", module.display());
    module
}

/// The provider, which cargo built beside these tests because it is a dependency of theirs.
pub(crate) fn module() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its program");
    let module = test.with_file_name("liboutboard.so");
    assert!(
        module.exists(),
        "cargo builds {} before the tests",
        module.display()
    );
    module
}

/// The provider where every user can read it, as 'make install' puts it.
pub(crate) fn installed_module(directory: &TempDir) -> PathBuf {
    let installed = directory.path().join("outboard.so");
    std::fs::copy(module(), &installed).expect("it can be copied");
    installed
}

/// A directory that every user may enter, as /etc/ssl is; root's is in a place that is root's alone.
pub(crate) fn public_directory() -> TempDir {
    use std::os::unix::fs::PermissionsExt;
    let is_root = rustix::process::geteuid().is_root();
    tempfile::Builder::new()
        .prefix("outboard-test-")
        .permissions(PermissionsExt::from_mode(0o755))
        .tempdir_in(if is_root { "/var/lib" } else { "/var/tmp" })
        .expect("a temporary directory")
}

/// A configuration in the shape of a system's, from ../openssl-conf/tests/fixtures.
pub(crate) fn fixture(directory: &Path, name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openssl-conf/tests/fixtures");
    let text = std::fs::read_to_string(fixtures.join(name)).expect("it is in the repository");
    let includes = format!(".include = {}/", fixtures.display());
    let file = directory.join("openssl.cnf");
    std::fs::write(&file, text.replace(".include = ", &includes)).expect("it is ours");
    file
}

/// What `openssl` prints when it reads `configuration`.
pub(crate) fn openssl(configuration: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("openssl")
        .args(arguments)
        .env("OPENSSL_CONF", configuration)
        .env_remove("OPENSSL_MODULES")
        .output()
        .expect("openssl is installed");
    assert!(output.status.success(), "openssl {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("openssl prints text")
}

/// Standard output as text.
pub(crate) fn stdout(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("it prints text")
}

/// Standard error as text.
pub(crate) fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).expect("it prints text")
}

/// Standard output as a document of that schema.
pub(crate) fn document(assert: &assert_cmd::assert::Assert, schema: &str) -> serde_json::Value {
    let document: serde_json::Value = serde_json::from_str(&stdout(assert)).expect("it is JSON");
    assert_eq!(document["schema"], schema);
    assert_eq!(document["version"], 1);
    assert_fits_its_schema(&document);
    document
}

/// The report about a shell's script, run in a directory of its own.
pub(crate) fn script(options: &[&str], script: &str) -> serde_json::Value {
    let directory = TempDir::new().expect("a temporary directory");
    let output = directory.path().join("report.json");
    let named = output.display().to_string();
    let mut options = options.to_vec();
    options.extend(["--json", "--output", &named]);
    observe(&options, &["sh", "-ec", script])
        .current_dir(&directory)
        .assert()
        .success();
    let text = std::fs::read(&output).expect("the report was written");
    let document: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
    assert_eq!(document["schema"], "outboard-observe");
    assert_eq!(document["version"], 1);
    assert_fits_its_schema(&document);
    document
}

/// The row of a kind of work.
#[track_caller]
pub(crate) fn row<'a>(
    document: &'a serde_json::Value,
    name: &str,
    operation: &str,
) -> &'a serde_json::Value {
    let rows = document["work"].as_array().expect("a list of work");
    rows.iter()
        .find(|row| row["name"] == name && row["operation"] == operation)
        .unwrap_or_else(|| panic!("no {name} {operation} in {:#}", document["work"]))
}

pub(crate) fn number(value: &serde_json::Value) -> u64 {
    value.as_u64().expect("a number")
}

/// The findings of `doctor` with these arguments.
pub(crate) fn findings_of(arguments: &[&str]) -> Vec<serde_json::Value> {
    let doctor = outboard()
        .args(["doctor", "--json"])
        .args(arguments)
        .assert();
    let report = document(&doctor, "outboard-doctor");
    report["findings"].as_array().expect("a list").clone()
}

/// Of the system's OpenSSL.
pub(crate) fn version() -> String {
    let said = std::process::Command::new("openssl")
        .arg("version")
        .output();
    let said = String::from_utf8(said.expect("it is installed").stdout).expect("a text");
    let version = said.split(' ').nth(1).expect("its version");
    version.to_owned()
}
