//! `info`, `stats`, `doctor`, help and the generated files.

mod common;

use common::{
    document, fixture, installed_module, module, outboard, public_directory, says, stderr, stdout,
};
use outboard_operation::{Operation, Path};
use outboard_profile::{LanesMeasurement, Machine, Profile, Queueing};
use outboard_programs::{
    Certificate, HaProxyMode, HaProxyOptions, Offer, OpenSsl, Outboard, Workplace,
};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn info_tells_every_operation() {
    let text = stdout(&outboard().arg("info").assert().success());
    assert!(
        text.contains("rsa-3072-sign") && text.contains("libcrypto"),
        "{text}"
    );
    let info = document(
        &outboard().args(["info", "--json"]).assert().success(),
        "outboard-info",
    );
    let operations = info["operations"].as_array().expect("a list");
    assert!(operations.len() > 30);
    for operation in operations {
        let chosen = operation["chosen"].as_str().expect("a path");
        assert!(["stock", "scalar", "card"].contains(&chosen));
        assert!(!operation["because"].as_str().expect("a text").is_empty());
    }
}

#[test]
fn a_locale_without_utf8_gets_ascii() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let profile = Profile::measured(
        Machine::detect(),
        "3.0.22",
        vec![outboard_profile::Measurement {
            operation: Operation::X25519Derive,
            size: 0,
            stock_ns: 40_000.0,
            scalar_ns: 20_000.0,
            ratio: 2.0,
            low: 1.9,
            high: 2.1,
        }],
    );
    profile.save(file.path()).expect("it is ours");
    let info = |locale: &str, options: &[&str]| {
        let mut info = outboard();
        let info = info.args(["info", "--profile"]).arg(file.path());
        stdout(&info.args(options).env("LC_ALL", locale).assert().success())
    };
    says(&info("C.UTF-8", &[]), "40.0 µs");
    let plain = info("C", &[]);
    assert!(plain.is_ascii(), "{plain}");
    says(&plain, "40.0 us");
    let operations = |locale| {
        let text = info(locale, &["--json"]);
        let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        document["operations"].clone()
    };
    assert_eq!(operations("C"), operations("C.UTF-8"));
}

#[test]
fn help_says_what_its_terms_mean() {
    let help = stdout(&outboard().arg("--help").assert().success());
    for term in ["Path: ", "Lane: ", "Card: "] {
        says(&help, term);
    }
}

/// The numbers that the provider goes by: of the profile where it has them, else built in.
#[test]
fn info_tells_from_when_on_cards_pay() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let lanes = LanesMeasurement {
        operation: Operation::Rsa2048Sign,
        scalar_ns: 100.0,
        batch_ns: 440.0,
    };
    let costs = Queueing {
        queue_ns: 30.0,
        wake_ns: 0.0,
        pause_ns: 10.0,
    };
    let mut profile = Profile::measured(Machine::detect(), "3.0.22", Vec::new());
    for operation in [Operation::Rsa2048Sign, Operation::P256Sign] {
        profile.choices.set(operation, Path::Card);
    }
    let profile = profile.with_lanes(vec![lanes], costs);
    profile.save(file.path()).expect("it is ours");
    // Nothing was measured: the words say by themselves whose they are.
    let unmeasured = outboard()
        .args(["info", "--profile", "/nonexistent"])
        .assert();
    let unmeasured = stdout(&unmeasured.success());
    let titles = unmeasured
        .lines()
        .find(|line| line.starts_with("operation"));
    let titles: Vec<&str> = titles.unwrap_or_default().split_whitespace().collect();
    assert_eq!(
        titles,
        ["operation", "stock", "scalar", "chosen", "because"],
        "{unmeasured}"
    );
    let mut command = outboard();
    let info = command.args(["info", "--profile"]).arg(file.path());
    let text = stdout(&info.assert().success());
    let numbers = |operation: &str| -> Vec<String> {
        let (_, cards) = text.split_once("\nconcurrency").expect("it tells of cards");
        let line = cards.lines().find(|line| line.starts_with(operation));
        let words = line.expect("it is on cards").split_whitespace();
        words.skip(1).map(str::to_owned).collect()
    };
    assert_eq!(numbers("rsa-2048-sign"), ["5", "8", "measured"], "{text}");
    assert_eq!(numbers("p256-sign"), ["1", "3", "built", "in"], "{text}");
    says(&text, "1.8 times scalar with 8 at once, in lanes from 5");
    let wide = text
        .lines()
        .skip_while(|line| !line.starts_with("concurrency"));
    assert!(wide.clone().count() > 5, "{text}");
    for line in wide {
        assert!(line.chars().count() <= 80, "{line}");
    }

    let rules = &document(&info.arg("--json").assert().success(), "outboard-info")["cards"];
    let rule = |operation: &str| {
        let rules = rules.as_array().expect("a list");
        rules
            .iter()
            .find(|rule| rule["operation"] == operation)
            .cloned()
    };
    let expected = serde_json::json!(
        {"operation": "p256-sign", "lanes": 1, "queued": 3, "measured": false}
    );
    assert_eq!(rule("p256-sign"), Some(expected));
    let expected = serde_json::json!(
        {"operation": "rsa-2048-sign", "lanes": 5, "queued": 8, "measured": true}
    );
    assert_eq!(rule("rsa-2048-sign"), Some(expected));
}

#[test]
fn a_damaged_profile_is_told_and_passed_over() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), "{}").expect("it is ours");
    let info = outboard()
        .args(["info", "--json", "--profile"])
        .arg(file.path())
        .assert()
        .success();
    let info = document(&info, "outboard-info");
    assert_eq!(info["profile"]["built_in"], true);
    let reason = info["profile"]["not_used_because"]
        .as_str()
        .expect("a reason");
    says(reason, "damaged");
}

/// One line says what it was measured with, and how it is made anew, whether it is used or not.
#[test]
fn a_profile_of_another_version_is_told() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let of_info = |arguments: &[&str]| {
        let mut info = outboard();
        let info = info.arg("info").args(arguments).arg("--profile");
        info.arg(file.path()).assert().success()
    };
    let current = document(&of_info(&["--json"]), "outboard-info");
    let version = current["libcrypto"]["version"].as_str().expect("a text");
    let mut profile = Profile::measured(Machine::detect(), version, Vec::new());
    let line = |profile: &Profile, from: &str, to: &str| {
        profile.save(file.path()).expect("it is ours");
        let text = fs::read_to_string(file.path()).expect("it was just saved");
        assert!(text.contains(from));
        fs::write(file.path(), text.replacen(from, to, 1)).expect("it is ours");
        let told = of_info(&[]);
        let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
        let line = told.lines().find(|line| line.starts_with("profile "));
        line.expect("a line on the profile").to_owned()
    };
    let path = file.path().display();
    let unchanged = line(&profile, "", "");
    assert!(
        unchanged.starts_with(&format!("profile    {path}, measured 2")),
        "{unchanged}"
    );
    assert!(!unchanged.contains("calibrate"), "{unchanged}");
    profile.outboard = "0.0.9".into();
    let used = line(&profile, "", "");
    says(&used, ": it was measured with Outboard 0.0.9 and OpenSSL ");
    says(&used, "(run 'outboard calibrate')");
    let json = document(&of_info(&["--json"]), "outboard-info");
    let reason = &json["profile"]["out_of_date_because"];
    says(reason.as_str().expect("a reason"), "Outboard 0.0.9");
    for (from, to) in [
        ("\"version\": 2", "\"version\": 1"),
        ("p384-sign", "ml-dsa-sign"),
    ] {
        let passed_over = line(&profile, from, to);
        says(
            &passed_over,
            "from another version of Outboard: 0.0.9 with format ",
        );
        says(&passed_over, "(run 'outboard calibrate' to make a new one)");
    }
}

#[test]
fn stats_of_a_file_that_is_no_ledger() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let stats = outboard()
        .args(["stats", "--ledger"])
        .arg(file.path())
        .assert()
        .code(1);
    says(&stderr(&stats), "is not a ledger");
    let stats = outboard()
        .args(["stats", "--ledger", "/nowhere/x"])
        .assert()
        .code(1);
    says(&stderr(&stats), "there is no ledger");
    outboard().args(["stats", "--watch", "0"]).assert().code(2);
    // No process has the highest id that there may be.
    for command in [&["stats"][..], &["cards"], &["stats", "--reset"]] {
        let unknown = outboard().args(command).args(["--pid", "4194305"]).assert();
        says(&stderr(&unknown.code(1)), "process 4194305 has no entry");
    }
}

#[test]
fn info_begins_with_what_can_be_done_and_what_is_on() {
    let text = stdout(&outboard().arg("info").assert().success());
    let labels: Vec<&str> = text
        .lines()
        .take(5)
        .map(|line| line[..10].trim_end())
        .collect();
    assert_eq!(
        labels,
        ["lanes", "faster", "switch", "loaded by", "next"],
        "{text}"
    );
}

#[test]
fn stats_folds_processes_and_adds_up() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
    for _ in 0..3 {
        let mut run = common::run(&["--offer", "all", "--ledger", named], &genpkey);
        run.assert().success();
    }
    let stats = |options: &[&str]| {
        let mut stats = outboard();
        let stats = stats.args(["stats", "--ledger", named]).args(options);
        stdout(&stats.assert().success())
    };
    let lines = |text: &str| {
        text.lines()
            .filter(|line| line.contains("x25519-keygen"))
            .count()
    };
    let folded = stats(&[]);
    assert_eq!(lines(&folded), 1, "{folded}");
    says(&folded, "3 ended");
    says(&folded, "Outboard served ");
    assert_eq!(lines(&stats(&["--by", "process"])), 3);
    assert_eq!(lines(&stats(&["--by", "user"])), 1);
    assert!(!stats(&["--by", "operation"]).contains("openssl"));
    assert_eq!(stats(&["--program", "nginx"]), "Nothing was counted.\n");
    let mut json = outboard();
    let json = json.args(["stats", "--json", "--ledger", named]).assert();
    let document = document(&json.success(), "outboard-stats");
    assert!(
        document["served"]["served"].as_u64() >= Some(3),
        "{document:#}"
    );
}

#[test]
fn stats_counts_and_resets() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
    common::run(&["--offer", "all", "--ledger", named], &genpkey)
        .assert()
        .success();
    let stats = || {
        stdout(
            &outboard()
                .args(["stats", "--ledger"])
                .arg(&ledger)
                .assert()
                .success(),
        )
    };
    assert!(stats().contains("x25519-keygen"), "{}", stats());
    outboard()
        .args(["stats", "--reset", "--ledger"])
        .arg(&ledger)
        .assert()
        .success();
    assert_eq!(stats(), "Nothing was counted.\n");
}

/// Two refreshes of each, with something to show in the second.
#[test]
fn a_watch_refreshes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    let work = || {
        let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
        common::run(&["--offer", "all", "--ledger", named], &genpkey)
            .assert()
            .success();
    };
    work();
    for (command, each, shown) in [
        ("stats", "In the last 1 s:", "x25519-keygen"),
        ("cards", "In the last 1 s:", "No process has a card"),
    ] {
        let mut watch = common::outboard_process();
        watch.args([command, "--watch", "1", "--ledger", named]);
        let mut watch = watch.stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(watch.stdout.take().expect("it is a pipe")).lines();
        let (mut refreshes, mut seen) = (0, false);
        for line in lines {
            let line = line.expect("text");
            if line.starts_with(each) {
                refreshes += 1;
                work();
            }
            seen |= refreshes > 1 && line.contains(shown);
            if seen && refreshes > 1 {
                break;
            }
        }
        watch.kill().expect("it runs");
        watch.wait().expect("it ends");
        assert!(seen, "{command} refreshed {refreshes} times");
    }
}

#[test]
fn doctor_finds_what_is_wrong_with_a_configuration() {
    let directory = public_directory();
    let configuration = fixture(directory.path(), "debian-12.cnf");
    let module = installed_module(&directory);
    let doctor = || {
        let mut command = outboard();
        command
            .args(["doctor", "--json"])
            .env("OPENSSL_CONF", &configuration);
        command.assert()
    };
    let finding = |doctor: &assert_cmd::assert::Assert, subject: &str, state: &str| {
        let report = document(doctor, "outboard-doctor");
        let findings = report["findings"].as_array().expect("a list").clone();
        let found = findings
            .into_iter()
            .find(|f| f["subject"] == subject && f["state"] == state);
        found.unwrap_or_else(|| panic!("no {state} about {subject}: {report:#}"))
    };

    outboard()
        .arg("enable")
        .arg("--config")
        .arg(&configuration)
        .arg("--module")
        .arg(&module)
        .assert()
        .success();
    finding(&doctor(), "configuration", "good");
    finding(&doctor(), "module", "good");
    finding(&doctor(), "loading", "good");

    let enabled = fs::read_to_string(&configuration).expect("it is ours");
    let wrong = enabled.replace(
        "[outboard_sect]\n",
        "[outboard_sect]\ncards = many\nasync = no\n",
    );
    fs::write(&configuration, wrong).expect("it is ours");
    let problem = finding(&doctor().code(1), "settings", "problem");
    assert!(
        problem["what"]
            .as_str()
            .expect("a text")
            .contains("cards = many")
    );
    let unloved = enabled.replace("?provider=outboard,?outboard.preferred=yes", "");
    fs::write(&configuration, unloved).expect("it is ours");
    let problem = finding(&doctor().code(1), "configuration", "problem");
    assert!(
        problem["remedy"]
            .as_str()
            .expect("a text")
            .contains("outboard enable")
    );

    fs::write(&configuration, &enabled).expect("it is ours");
    fs::write(&module, "no module").expect("it is ours");
    let problem = finding(&doctor().code(1), "module", "problem");
    assert_eq!(problem["why"], "it is not an ELF file");

    // An old profile is used; a damaged one is not.
    let profile = directory.path().join("profile.json");
    let with_profile = enabled.replace(
        "[outboard_sect]",
        &format!("[outboard_sect]\nprofile = {}", profile.display()),
    );
    fs::write(&configuration, with_profile).expect("it is ours");
    let mut old = Profile::measured(Machine::detect(), "3.0.0", Vec::new());
    old.outboard = "0.0.1".into();
    let system_is_3_0 = common::openssl(&configuration, &["version"]).starts_with("OpenSSL 3.0.");
    if system_is_3_0 {
        old.save(&profile).expect("the directory is ours");
        let note = finding(&doctor(), "profile", "note");
        says(
            note["why"].as_str().expect("a text"),
            "measured with Outboard 0.0.1 and OpenSSL 3.0.0",
        );
    }
    old.libcrypto.version = "1.1.1".into();
    old.save(&profile).expect("the directory is ours");
    says(
        &finding(&doctor().code(1), "profile", "problem").to_string(),
        "1.1.1",
    );
    fs::write(&profile, "{").expect("it is ours");
    says(
        &finding(&doctor().code(1), "profile", "problem").to_string(),
        "damaged",
    );

    fs::write(&configuration, "nonsense\n").expect("it is ours");
    finding(&doctor().code(1), "configuration", "problem");
}

#[test]
fn doctor_looks_at_processes_and_programs() {
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .expect("it starts");
    let pid = child.id().to_string();
    let doctor = outboard().args(["doctor", "--pid", &pid]).assert().code(1);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    says(&stdout(&doctor), "has not loaded OpenSSL");

    let gone = outboard().args(["doctor", "--pid", &pid]).assert().code(1);
    assert_eq!(
        stderr(&gone),
        format!("outboard: there is no process {pid}\n")
    );

    let doctor = outboard()
        .args(["doctor", "--program", "openssl"])
        .assert()
        .success();
    says(&stdout(&doctor), "libcrypto.so.3");
    outboard()
        .args(["doctor", "--program", "no-such-program"])
        .assert()
        .code(1);
    outboard()
        .args(["doctor", "--program", "x", "--pid", "1"])
        .assert()
        .code(2);
}

#[test]
fn a_process_under_outboard_is_proved_to_be() {
    let mut command = common::outboard_process();
    command
        .args(["run", "--offer", "all", "--module"])
        .arg(module());
    // It reads its configuration at once, then waits for input.
    command.args(["--", "openssl", "dgst", "-sha256"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let proof = (0..1200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let children = fs::read_to_string(&children).expect("it runs");
        let pid = children.split_whitespace().next()?;
        let doctor = outboard().args(["doctor", "--pid", pid]).assert();
        doctor.try_success().ok().map(|doctor| stdout(&doctor))
    });
    drop(child.stdin.take());
    child.wait().expect("it ends");
    let proof = proof.expect("it loads Outboard at last");
    says(&proof, "liboutboard.so loaded");
}

/// A running HAProxy with 5,000 connections to serve, and room for 6,000.
#[test]
fn doctor_warns_of_an_haproxy_without_room() {
    let workplace = Workplace::new().expect("a temporary directory");
    let ours = Outboard {
        module: module(),
        offer: Offer::All,
        profile: None,
    };
    let openssl = OpenSsl::outboard(&workplace, &ours, "outboard").expect("it can be written");
    let key = "ec -pkeyopt ec_paramgen_curve:P-256";
    let certificate = Certificate::generate(&workplace, &openssl, "p256", key);
    let options = HaProxyOptions {
        openssl: &openssl,
        certificates: &[&certificate.expect("openssl makes one")],
        mode: HaProxyMode::Http,
        asynchronous: true,
        threads: 1,
        resumption: false,
        core: None,
        settings: "",
        bind: "",
    };
    let told = |options: &HaProxyOptions<'_>| {
        let haproxy = options.start(&workplace).expect("it starts");
        // Others' servers may run beside it.
        let directory = workplace.path().to_string_lossy().into_owned();
        let doctor = outboard().args(["doctor", "--json"]).assert();
        let report = document(&doctor, "outboard-doctor");
        let findings = report["findings"].as_array().expect("a list").clone();
        drop(haproxy);
        findings.into_iter().find(|finding| {
            let what = finding["what"].as_str().expect("a text");
            finding["subject"] == "haproxy" && what.contains(&directory)
        })
    };
    assert_eq!(told(&options), None);
    let short = HaProxyOptions {
        settings: "frontend more\nmode http\nmaxconn 1000",
        ..options
    };
    let finding = told(&short).expect("it warns");
    says(
        &finding.to_string(),
        "too few descriptors for paused handshakes",
    );
    says(&finding.to_string(), "in global to 1.5 times their sum");
}

#[test]
fn help_teaches_and_files_are_generated() {
    for command in [
        "run",
        "observe",
        "info",
        "status",
        "stats",
        "cards",
        "calibrate",
        "advise ssh",
        "advise tls",
        "enable",
        "disable",
        "doctor",
    ] {
        let words = command.split(' ').chain(["--help"]);
        let help = stdout(&outboard().args(words).assert().success());
        assert!(help.contains("Usage:"), "{command}");
        assert!(help.contains("Examples:"), "{command}");
    }
    outboard().assert().code(2);
    outboard().arg("no-such-command").assert().code(2);

    let directory = tempfile::tempdir().expect("a temporary directory");
    outboard()
        .arg("generate")
        .arg(directory.path())
        .assert()
        .success();
    for file in [
        "man/outboard.1",
        "man/outboard-run.1",
        "outboard.bash",
        "_outboard",
        "outboard.fish",
    ] {
        let text = fs::read_to_string(directory.path().join(file)).expect(file);
        assert!(
            text.contains("doctor") || file == "man/outboard-run.1",
            "{file}"
        );
        assert!(!text.contains("probe"), "{file} tells of a hidden command");
    }
}

#[test]
fn watching_ends_with_its_reader() {
    for command in ["stats", "cards"] {
        let mut child = common::outboard_process()
            .args([command, "--watch", "1", "--json"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let mut end = None;
        for _ in 0..300 {
            std::thread::sleep(std::time::Duration::from_millis(100));
            end = child.try_wait().expect("it is ours");
            if end.is_some() {
                break;
            }
        }
        if end.is_none() {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
        }
        let end = end.expect("it ends when nobody reads");
        assert!(end.success(), "{command}: {end}");
    }
}
