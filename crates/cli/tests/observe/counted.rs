//! What a report says of a program's work.

use crate::common::{module, number, observe, observer, row, says, script, stderr, stdout};
use crate::records::share;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[test]
fn the_program_s_end_is_told_as_it_was() {
    observe(&[], &["true"]).assert().code(0);
    observe(&[], &["sh", "-c", "exit 7"]).assert().code(7);
    let missing = observe(&[], &["no-such-program"]).assert().code(127);
    says(&stderr(&missing), "outboard: cannot run no-such-program: ");
}

#[test]
fn a_program_without_cryptography_is_told_so() {
    let quiet = observe(&[], &["true"]).assert().success();
    says(&stderr(&quiet), "true made no visible call of OpenSSL");
    assert_eq!(stdout(&quiet), "");
}

#[test]
fn known_work_is_counted_exactly() {
    let report = script(
        &[],
        "head -c 10000000 /dev/zero > zeros
         openssl dgst -sha256 zeros
         openssl enc -aes-128-cbc -K 00 -iv 00 -in zeros -out sealed 2>/dev/null
         openssl enc -d -aes-128-cbc -K 00 -iv 00 -in sealed -out opened 2>/dev/null
         cmp zeros opened
         openssl dgst -mac HMAC -macopt key:secret -sha512 zeros",
    );
    let digest = row(&report, "SHA-256", "digest");
    assert_eq!(number(&digest["calls"]), 1);
    assert_eq!(number(&digest["bytes"]), 10_000_000);
    assert_eq!(digest["implementation"], "default");
    assert_eq!(
        number(&row(&report, "AES-128-CBC", "encrypt")["bytes"]),
        10_000_000
    );
    // With the padding.
    assert_eq!(
        number(&row(&report, "AES-128-CBC", "decrypt")["bytes"]),
        10_000_000 / 16 * 16 + 16
    );
    let mac = row(&report, "HMAC", "mac");
    assert_eq!(
        (number(&mac["calls"]), number(&mac["bytes"])),
        (1, 10_000_000)
    );
    assert_eq!(mac["with"], "SHA-512");
    let sizes = mac["sizes"].as_array().expect("classes of sizes");
    assert_eq!(number(&sizes.last().expect("the largest")["calls"]), 1);
    assert!(number(&report["cryptography_nanoseconds"]) > 0);
    // Unless this machine does too much else to tell.
    match report["share_of_cpu"].as_f64() {
        Some(share) => assert!(share > 0.0 && share <= 1.0),
        None => says(&share(&report).1, "the machine also did other work"),
    }
}

#[test]
fn keys_and_what_is_weak_are_told() {
    let report = script(
        &[],
        "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out rsa.pem 2>/dev/null
         openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out ec.pem
         openssl pkey -in ec.pem -pubout -out ec.pub
         openssl dgst -sha1 -sign rsa.pem -out s1 rsa.pem
         openssl dgst -sha384 -sign ec.pem -out s2 rsa.pem
         openssl dgst -sha384 -verify ec.pub -signature s2 rsa.pem
         openssl dgst -sha384 -verify ec.pub -signature s2 ec.pem || true
         openssl enc -des-ede3-cbc -K 01 -iv 01 -in rsa.pem -out sealed 2>/dev/null",
    );
    let sign = row(&report, "RSA-1024", "sign");
    assert_eq!(
        (number(&sign["calls"]), &sign["with"]),
        (1, &"SHA-1".into())
    );
    assert_eq!(number(&row(&report, "RSA-1024", "generate")["calls"]), 1);
    assert_eq!(number(&row(&report, "EC P-384", "generate")["calls"]), 1);
    assert_eq!(number(&row(&report, "ECDSA P-384", "sign")["calls"]), 1);
    let verify = row(&report, "ECDSA P-384", "verify");
    assert_eq!(
        (number(&verify["calls"]), number(&verify["failed"])),
        (1, 1)
    );
    let findings = report["findings"].as_array().expect("findings");
    let names: Vec<&str> = findings
        .iter()
        .map(|finding| finding["name"].as_str().expect("a name"))
        .collect();
    let signed = names.iter().position(|name| *name == "RSA-1024 with SHA-1");
    let because = &findings[signed.unwrap_or_else(|| panic!("{names:?}"))]["because"];
    let because = because.as_str().unwrap_or_default();
    for reason in ["RSA keys below 2048 bits", "; ", "SHA-1"] {
        says(because, reason);
    }
    assert!(names.contains(&"3DES-CBC"), "{names:?}");
    assert_eq!(number(&report["quantum"]["signatures_post_quantum"]), 0);
    assert_eq!(number(&report["quantum"]["signatures"]), 3);
}

/// The names of all fields.
fn fields(value: &Value, found: &mut std::collections::BTreeSet<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        found.insert(name.clone());
        fields(value, found);
    }
    for value in value.as_array().into_iter().flatten() {
        fields(value, found);
    }
}

#[test]
fn every_field_is_described() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/observe.md");
    let described = fs::read_to_string(file).expect("it is in the repository");
    let report = script(
        &["--processes"],
        // Weak work, a key agreement, and some of what OpenSSH does in its own code.
        "openssl genpkey -algorithm X25519 -out x.pem
         openssl pkey -in x.pem -pubout -out x.pub
         openssl pkeyutl -derive -inkey x.pem -peerkey x.pub -out secret
         openssl enc -des-ede3-cbc -K 01 -iv 01 -in x.pem -out sealed 2>/dev/null
         openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out ec.pem
         openssl dgst -sha384 -sign ec.pem -out s x.pem
         cp \"$(command -v openssl)\" ssh
         head -c 1000000 /dev/zero >zeros
         ./ssh enc -chacha20 -K 01 -iv 01 -in zeros -out sealed",
    );
    let mut found = std::collections::BTreeSet::new();
    fields(&report, &mut found);
    for list in ["findings", "estimates"] {
        let list = report[list].as_array().expect("a list");
        assert!(!list.is_empty(), "{report:#}");
    }
    found.retain(|name| !["schema", "version"].contains(&name.as_str()));
    let unknown: Vec<&String> = found
        .iter()
        .filter(|name| !described.contains(&format!("`{name}`")))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn processes_are_told_apart() {
    let report = script(
        &["--processes"],
        "openssl dgst -sha256 /dev/null\nopenssl dgst -md5 /dev/null",
    );
    let processes = report["processes"].as_array().expect("processes");
    assert_eq!(processes.len(), 2, "{processes:#?}");
    for (process, algorithm) in processes.iter().zip(["SHA2-256", "MD5"]) {
        assert_eq!(process["program"], "openssl");
        assert_eq!(process["work"][0]["algorithm"], algorithm);
    }
    assert!(processes[0]["pid"] != processes[1]["pid"]);
}

#[test]
fn sizes_are_told_where_they_are_asked_for() {
    let work = "head -c 200 /dev/zero >small; head -c 1000000 /dev/zero >large
                openssl dgst -sha256 small small small large >/dev/null";
    let said = |options: &[&str]| {
        let directory = TempDir::new().expect("a temporary directory");
        let mut observe = observe(options, &["sh", "-c", work]);
        stderr(&observe.current_dir(&directory).assert().success())
    };
    let told = said(&["--sizes"]);
    let line = |size: &str| {
        let is_it = |line: &&str| line.contains(size) && line.contains('█');
        let line = told.lines().find(is_it);
        line.unwrap_or_else(|| panic!("no {size} in {told}"))
            .to_owned()
    };
    says(&line("≤ 256 B"), "SHA-256");
    says(&line("≤ 256 B"), &format!(" 3  {} ", "█".repeat(15)));
    says(&line("≤ 1.00 MiB"), &format!(" 1  {} ", "█".repeat(5)));
    assert!(!said(&[]).contains("█"));
}

#[test]
fn what_outboard_does_is_observed_too() {
    let module = module().display().to_string();
    let options = ["--accelerate", "--offer", "all", "--module", &module];
    let report = script(
        &options,
        "openssl ecparam -name prime256v1 -genkey -noout -out ec.pem
         openssl dgst -sha256 -sign ec.pem -out s ec.pem",
    );
    let sign = row(&report, "ECDSA P-256", "sign");
    assert_eq!(sign["implementation"], "outboard");
    assert_eq!(number(&sign["calls"]), 1);
    assert!(number(&report["acceleration"]["done_nanoseconds"]) > 0);
}

#[test]
fn a_job_that_others_run_beside_has_no_time() {
    let module = module().display().to_string();
    let options = ["--accelerate", "--offer", "all", "--module", &module];
    let report = script(
        &options,
        "openssl speed -seconds 1 -async_jobs 8 rsa2048 >/dev/null 2>&1",
    );
    let sign = row(&report, "RSA-2048", "sign");
    assert_eq!(sign["implementation"], "outboard");
    // It signs once with each of its keys before the jobs begin.
    let untimed = number(&sign["untimed"]);
    assert!(
        untimed > 0 && number(&sign["calls"]) - untimed <= 8,
        "{sign:#}"
    );
    let unseen = report["unseen"].as_array().expect("what is not seen");
    assert!(
        unseen.iter().any(|unseen| unseen
            .as_str()
            .is_some_and(|unseen| unseen.contains("asynchronous jobs"))),
        "{unseen:#?}"
    );
}

#[test]
fn a_program_keeps_its_cryptography_where_it_cannot_be_recorded() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let record = file.path().display().to_string();
    fs::remove_file(file.path()).expect("it is ours");
    // It is one while we look.
    let script = format!("echo no record >{record}; openssl dgst -sha256 /dev/null");
    let digest = ["sh", "-c", &script];
    let observed = observe(&["--record", &record], &digest).assert().code(1);
    says(&stdout(&observed), "e3b0c44298fc1c14");
    says(&stderr(&observed), "is not a record");
}

#[test]
fn the_observing_module_stays_loaded() {
    // Loaded a second time it would take another entry and another 3 MiB.
    let dynamic = std::process::Command::new("readelf")
        .args(["--dynamic", "--wide"])
        .arg(observer())
        .output();
    let Ok(dynamic) = dynamic else {
        eprintln!("passed over: readelf is not installed");
        return;
    };
    says(&String::from_utf8_lossy(&dynamic.stdout), "NODELETE");
}
