//! `outboard observe`, as a session at a shell: what was counted is what was done.

mod common;

use assert_cmd::assert::Assert;
use common::{
    document, module, number, observe, observer, outboard, row, says, script, stderr, stdout,
};
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
fn a_record_stays_and_can_be_read_and_reset() {
    let directory = TempDir::new().expect("a temporary directory");
    let record = directory.path().join("record").display().to_string();
    for _ in 0..2 {
        observe(
            &["--record", &record],
            &["openssl", "dgst", "-sha256", "/dev/null"],
        )
        .assert()
        .success();
    }
    let read = |options: &[&str]| -> Assert {
        outboard()
            .args(["observe", "--record", &record])
            .args(options)
            .assert()
    };
    let report = document(&read(&["--json"]).success(), "outboard-observe");
    assert_eq!(number(&row(&report, "SHA-256", "digest")["calls"]), 2);
    read(&["--reset"]).success();
    says(&stdout(&read(&[]).success()), "Nothing was observed.");
    let missing = directory.path().join("nothing").display().to_string();
    let failure = outboard()
        .args(["observe", "--record", &missing])
        .assert()
        .code(1);
    says(
        &stderr(&failure),
        &format!(
            "there is no record {missing} ('outboard observe --record {missing} -- PROGRAM' makes it)"
        ),
    );
}

#[test]
fn a_profile_that_cannot_be_used_is_refused_before_the_program_runs() {
    let directory = TempDir::new().expect("a temporary directory");
    let ran = directory.path().join("ran").display().to_string();
    let hostile = directory.path().join("hostile.json");
    let text = r#"{"schema":"outboard-profile","version":1,"outboard":"\u001b]0;title\u0007"}"#;
    fs::write(&hostile, text).expect("it is ours");
    let hostile = hostile.display().to_string();
    for profile in ["/nonexistent/profile.json", "/dev/null", &hostile] {
        let failure = observe(&["--profile", profile], &["touch", &ran])
            .env("CLICOLOR_FORCE", "1") // as on a terminal: escapes pass
            .assert()
            .code(1);
        let said = stderr(&failure);
        says(&said, profile);
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
        assert!(!Path::new(&ran).exists(), "it ran");
    }
}

#[test]
fn a_report_that_cannot_be_written_hides_no_failure() {
    let directory = TempDir::new().expect("a temporary directory");
    let digest = "openssl dgst -sha256 /dev/null; rmdir place";
    for option in ["--cbom", "--output"] {
        for (end, status) in [("exit 7", 7), ("true", 1)] {
            fs::create_dir(directory.path().join("place")).expect("it is ours");
            let failure = observe(
                &[option, "place/report"],
                &["sh", "-c", &format!("{digest}; {end}")],
            )
            .current_dir(&directory)
            .assert()
            .code(status);
            let said = stderr(&failure);
            says(&said, "cannot write place/report: ");
            // What was observed is told all the same.
            says(&said, "SHA-256");
        }
    }
}

#[test]
fn what_cannot_be_written_is_told_before_the_program_runs() {
    let directory = TempDir::new().expect("a temporary directory");
    fs::write(directory.path().join("text"), "no record").expect("it is ours");
    for (options, reason) in [
        (
            ["--cbom", "nowhere/report"],
            "cannot write nowhere/report: ",
        ),
        (
            ["--output", "nowhere/report"],
            "cannot write nowhere/report: ",
        ),
        (["--output", "."], "cannot write .: "),
        (
            ["--record", "text"],
            "is not a record: wrong size (name another file)",
        ),
    ] {
        let refused = observe(&options, &["touch", "it-ran"])
            .current_dir(&directory)
            .assert()
            .code(1);
        says(&stderr(&refused), reason);
        assert!(!directory.path().join("it-ran").exists(), "{options:?}");
    }
}

/// The share of the CPU time in a report, and why it is not known.
fn share(report: &Value) -> (bool, String) {
    let because = report["share_unknown_because"].as_str().unwrap_or_default();
    (report["share_of_cpu"].is_number(), because.to_owned())
}

#[test]
fn a_share_is_that_of_the_work_that_is_told() {
    let directory = TempDir::new().expect("a temporary directory");
    let work = "sleep 300 >/dev/null 2>&1 & echo $! >pid; openssl dgst -sha256 /dev/null";
    observe(&["--json", "--output", "report"], &["sh", "-c", work])
        .current_dir(&directory)
        .assert()
        .success();
    let read =
        |name: &str| fs::read_to_string(directory.path().join(name)).expect("it was written");
    let killed = std::process::Command::new("kill")
        .arg(read("pid").trim())
        .status();
    assert!(killed.expect("it starts").success());
    let report: Value = serde_json::from_str(&read("report")).expect("it is JSON");
    let because = "processes that the program started still run";
    assert_eq!(share(&report), (false, because.to_owned()));
}

#[test]
fn a_share_is_not_that_of_another_run() {
    let directory = TempDir::new().expect("a temporary directory");
    let record = directory.path().join("record").display().to_string();
    for is_earlier in [false, true] {
        let report = script(&["--record", &record], "openssl dgst -sha256 /dev/null");
        let (is_known, because) = share(&report);
        let told = because == "the record also contains earlier work";
        assert_eq!(told, is_earlier, "{because}");
        assert!(!(is_known && told));
    }
}

#[test]
fn a_share_is_not_that_of_a_process_whose_counters_were_reset() {
    use std::io::{BufRead, Write};
    if !common::are_installed(&["python3"]) {
        return;
    }
    let workplace = outboard_programs::Workplace::new().expect("a temporary directory");
    let record = workplace.join("record");
    let openssl = common::observing(&workplace, "observed", &record);
    let mut service = std::process::Command::new("python3")
        .args(["-c", "import hashlib, sys\nfor line in sys.stdin:\n  hashlib.sha256(b'x').digest()\n  print(line, flush=True)"])
        .env("OPENSSL_CONF", openssl.configuration())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut to = service.stdin.take().expect("it was piped");
    let mut from = std::io::BufReader::new(service.stdout.take().expect("it was piped"));
    let mut work = || {
        let mut line = String::new();
        writeln!(to, "again").expect("it reads");
        while line.trim().is_empty() {
            line.clear();
            from.read_line(&mut line).expect("it answers");
        }
    };
    work();
    let known = common::report_of(&record);
    assert!(known["cpu_nanoseconds"].is_number(), "{known:#}");
    let mut reset = outboard();
    reset.args(["observe", "--reset", "--record"]).arg(&record);
    reset.assert().success();
    work();
    let unknown = common::report_of(&record);
    assert_eq!(number(&row(&unknown, "SHA-256", "digest")["calls"]), 1);
    assert!(unknown["cpu_nanoseconds"].is_null(), "{unknown:#}");
    says(&share(&unknown).1, "before the counters were set to zero");
    drop(to);
    assert!(service.wait().expect("it ends").success());
}

#[test]
fn a_report_may_go_to_a_name_a_link_or_a_pipe() {
    let directory = TempDir::new().expect("a temporary directory");
    let at = |name: &str| directory.path().join(name);
    std::os::unix::fs::symlink("behind", at("link")).expect("it is ours");
    for name in ["c.json", "link"] {
        // The second time, it takes the place of the first.
        for _ in 0..2 {
            observe(&["--cbom", name], &["true"])
                .current_dir(&directory)
                .assert()
                .success();
        }
        let text = fs::read(at(name)).expect("it was written");
        let bill: Value = serde_json::from_slice(&text).expect("it is JSON");
        assert_eq!(bill["bomFormat"], "CycloneDX");
    }
    assert!(at("link").is_symlink());

    let pipe = at("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is installed").success());
    let from = pipe.clone();
    let reader = std::thread::spawn(move || fs::read(from).expect("it is ours"));
    observe(&["--cbom", "pipe"], &["true"])
        .current_dir(&directory)
        .assert()
        .success();
    let read = reader.join().expect("it does not panic");
    serde_json::from_slice::<Value>(&read).expect("it is JSON");
}

#[test]
fn what_the_program_printed_is_not_lost_to_the_report() {
    let directory = TempDir::new().expect("a temporary directory");
    let log = directory.path().join("log");
    let status = common::outboard_process()
        .args(["observe", "--output", "log", "--observer"])
        .arg(observer())
        .args(["--", "echo", "printed"])
        .current_dir(&directory)
        .stdout(fs::File::create(&log).expect("it is ours"))
        .status();
    assert!(status.expect("it starts").success());
    let text = fs::read_to_string(&log).expect("it is ours");
    assert!(text.starts_with("printed\n"), "{text}");
    assert!(text.len() > "printed\n".len());
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

#[test]
fn once_the_program_has_ended_signals_end_the_report() {
    use std::os::unix::process::ExitStatusExt;
    let directory = TempDir::new().expect("a temporary directory");
    let pipe = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is installed").success());
    // Nobody reads the pipe: opening it waits for ever.
    let mut child = common::outboard_process()
        .args(["observe", "--output"])
        .arg(&pipe)
        .arg("--observer")
        .arg(observer())
        .args(["--", "true"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let pid = child.id().to_string();
    let mut end = None;
    // The first may come while the program runs, and is the program's then.
    for _ in 0..300 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        end = child.try_wait().expect("it is ours");
        if end.is_some() {
            break;
        }
        let _ = std::process::Command::new("kill").arg(&pid).status();
    }
    if end.is_none() {
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
    assert_eq!(end.and_then(|end| end.signal()), Some(15));
}

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
