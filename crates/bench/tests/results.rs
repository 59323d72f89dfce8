//! Result files: what is written is read, what is damaged is refused; `compare` and its statuses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use outboard_bench::result::{self, ReadError, ResultFile};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/results/speed.json")
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// The fixture, changed as text.
fn damaged(from: &str, to: &str) -> ReadError {
    let directory = directory();
    let path = directory.path().join("speed.json");
    let text = fs::read_to_string(fixture()).expect("it is in the repository");
    assert!(text.contains(from), "the fixture holds {from}");
    fs::write(&path, text.replacen(from, to, 1)).expect("it is ours");
    result::read(&path).expect_err("it is damaged")
}

/// The fixture with every ratio of Outboard's multiplied.
fn scaled(times: f64) -> ResultFile {
    let mut result = result::read(&fixture()).expect("it is whole");
    for row in result.tables.iter_mut().flat_map(|table| &mut table.rows) {
        if let Some(ratio) = &mut row.ratio {
            ratio.low *= times;
            ratio.median *= times;
            ratio.high *= times;
        }
    }
    result
}

fn compare(old: &Path, new: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_outboard-bench"))
        .arg("compare")
        .args([old, new])
        .output()
        .expect("it runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn what_is_written_is_read() {
    let directory = directory();
    let read = result::read(&fixture()).expect("it is whole");
    let path = read.save(directory.path()).expect("it is written");
    assert_eq!(path, directory.path().join("speed.json"));
    assert_eq!(result::read(&path).expect("it is whole"), read);
    assert_eq!(result::read_all(directory.path()).expect("one"), [read]);
    // Nothing but the result: what it was written through is gone.
    let files = fs::read_dir(directory.path()).expect("it is there");
    assert_eq!(files.count(), 1);
}

#[test]
fn the_fixture_has_what_readers_rely_on() {
    let result = result::read(&fixture()).expect("it is whole");
    assert!(result.is_valid());
    let bulk = result.table("bulk").expect("a table");
    assert_eq!(bulk.columns, ["operation", "bytes"]);
    let (stock, outboard) = (&bulk.rows[0], &bulk.rows[1]);
    assert!(stock.belongs_with(outboard) && stock.ratio.is_none());
    assert_eq!(
        (stock.setup.as_str(), stock.unit.as_str()),
        ("stock", "B/s")
    );
    assert_eq!(stock.label("bytes"), "16");
    assert!(outboard.ratio.is_some() && outboard.proof.is_some());
}

#[test]
fn damaged_files_are_refused_with_the_reason() {
    let refused = |from, to, reason: &str| {
        let error = damaged(from, to).to_string();
        assert!(error.contains(reason), "{error}");
    };
    refused(
        "outboard-bench-result",
        "something-else",
        "its schema is not",
    );
    refused(
        "\"version\": 1",
        "\"version\": 9",
        "reads version 1 (measure again",
    );
    refused(
        "\"bytes\": \"16\"",
        "\"length\": \"16\"",
        "a row is labelled",
    );
    refused(
        "\"setup\": \"outboard\"",
        "\"setup\": \"stock\"",
        "two rows for",
    );
    refused(
        "\"better\": \"higher\"",
        "\"better\": \"never\"",
        "unknown variant",
    );
    refused(
        "\"name\": \"keyed\"",
        "\"name\": \"bulk\"",
        "two tables are called bulk",
    );
    refused(
        "\"setup\": \"outboard\"",
        "\"setup\": \"out\\u001b[2Jboard\"",
        "control characters",
    );
    refused("\"low\": 1.96", "\"low\": -1.96", "makes no sense");
    refused("\"high\": 2.04", "\"high\": 2e300", "makes no sense");
    let odd = directory();
    let error = |path: &Path| result::read(path).expect_err("no result").to_string();
    let endless = odd.path().join("endless.json");
    std::os::unix::fs::symlink("/dev/zero", &endless).expect("it is ours");
    assert!(error(&endless).contains("not a plain file"));
    let long = odd.path().join("long.json");
    let file = std::fs::File::create(&long).expect("it is ours");
    file.set_len(65 << 20).expect("it may have holes");
    assert!(error(&long).contains("too long for a result"));
    let cut = damaged("\"tables\"", "").to_string();
    assert!(cut.contains("is not a result of outboard-bench"), "{cut}");
    let twice = directory();
    for name in ["one.json", "two.json"] {
        std::fs::copy(fixture(), twice.path().join(name)).expect("it is ours");
    }
    let twice = result::read_all(twice.path()).expect_err("which one counts?");
    let twice = twice.to_string();
    assert!(
        twice.contains("both results of the workload speed"),
        "{twice}"
    );
    let none = result::read_all(directory().path()).expect_err("nothing is there");
    assert!(
        none.to_string().contains("outboard-bench run --out"),
        "{none}"
    );
}

#[test]
fn compare_tells_a_regression_by_its_status() {
    let old = fixture();
    let new = directory();
    let against = |result: &ResultFile| {
        result.save(new.path()).expect("it is written");
        compare(&old, new.path())
    };

    let same = against(&scaled(1.0));
    assert_eq!(same.status.code(), Some(0), "{}", text(&same));
    assert!(text(&same).contains("0 better, 0 worse"), "{}", text(&same));

    let worse = against(&scaled(0.5));
    assert_eq!(worse.status.code(), Some(1), "{}", text(&worse));
    assert!(text(&worse).contains("WORSE"), "{}", text(&worse));

    let better = against(&scaled(2.0));
    assert_eq!(better.status.code(), Some(0), "{}", text(&better));
    assert!(text(&better).contains("better"), "{}", text(&better));

    let mut unproved = scaled(1.0);
    let rows = unproved.tables.iter_mut().flat_map(|table| &mut table.rows);
    let row = rows.last().expect("a row");
    row.invalid = Some("not proved: no p384-sign counted".into());
    let unproved = against(&unproved);
    assert_eq!(unproved.status.code(), Some(1), "{}", text(&unproved));
    assert!(text(&unproved).contains("INVALID"), "{}", text(&unproved));
}

#[test]
fn what_cannot_be_compared_has_a_status_of_its_own() {
    let nothing = directory();
    let output = compare(&fixture(), nothing.path());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("no results"), "{}", text(&output));

    let mut other = scaled(1.0);
    other.workload = "tls".into();
    other.save(nothing.path()).expect("it is written");
    let output = compare(&fixture(), nothing.path());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("no figure in common"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_workload_that_does_not_exist_is_told_with_those_that_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_outboard-bench"))
        .args(["run", "spede"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let text = text(&output);
    assert!(
        text.contains("no workload spede (the workloads are speed"),
        "{text}"
    );
}

/// As 'make install' puts it: in a directory of programs, the provider elsewhere.
#[test]
fn the_provider_is_sought_where_it_is_installed() {
    let elsewhere =
        tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
    let program = elsewhere.path().join("outboard-bench");
    // Not a copy: another test's child may still hold it open for writing, and it could not be run.
    std::fs::hard_link(env!("CARGO_BIN_EXE_outboard-bench"), &program).expect("one file system");
    for command in ["load", "evp"] {
        let output = Command::new(&program)
            .args([
                command,
                "--profile",
                "/nonexistent/profile.json",
                "no-such-name",
            ])
            .current_dir(elsewhere.path())
            .output()
            .expect("it runs");
        let text = text(&output);
        // It is installed on few machines that test; on the others the message names the place.
        assert!(
            !text.contains("cannot find the provider")
                || text.contains("/ossl-modules/outboard.so ("),
            "{command}: {text}"
        );
    }
}

#[test]
fn help_teaches_and_pages_are_made_of_it() {
    let directory = directory();
    let made = Command::new(env!("CARGO_BIN_EXE_outboard-bench"))
        .arg("generate")
        .arg(directory.path())
        .output()
        .expect("it was built");
    assert!(made.status.success(), "{}", text(&made));
    for (file, part) in [
        ("man/outboard-bench.1", "EXAMPLES"),
        ("man/outboard-bench-run.1", "quick"),
        ("outboard-bench.bash", "OUTBOARD_COMPLETE"),
        ("_outboard-bench", "OUTBOARD_COMPLETE"),
        ("outboard-bench.fish", "OUTBOARD_COMPLETE"),
    ] {
        let text = std::fs::read_to_string(directory.path().join(file)).expect(file);
        assert!(text.contains(part), "{file}: {part}");
        assert!(
            !text.contains("generate"),
            "{file} tells of a hidden command"
        );
    }
}
