//! `outboard cards` and what else tells of cards.

mod common;

use common::service::Service;
use common::{document, outboard, run, says, stderr, stdout};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

/// A real program with sixteen operations at a time: OpenSSL's own asynchronous jobs.
#[test]
fn what_jobs_share_is_listed() {
    if !outboard_engine::card::are_there() {
        eprintln!("skipped: this processor has no lanes");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    run(
        &["--offer", "all", "--ledger", named],
        &[
            "openssl",
            "speed",
            "-seconds",
            "1",
            "-async_jobs",
            "16",
            "ecdsap384",
        ],
    )
    .assert()
    .success();

    let listed = outboard()
        .args(["cards", "--json", "--ledger", named])
        .assert()
        .success();
    let listed = document(&listed, "outboard-cards");
    let process = &listed["ledgers"][0]["processes"][0];
    assert_eq!(process["program"], "openssl", "{listed}");
    let card = &process["cards"][0];
    let number = |name: &str| card[name].as_u64().expect("a number");
    assert!(number("accepted") > 0, "{card}");
    // Every accepted request was answered once.
    assert_eq!(
        number("accepted"),
        number("in_lanes")
            + number("one_by_one")
            + number("cancelled")
            + number("returned")
            + number("pending")
    );
    assert!(
        card["wait"]["median"].as_u64().expect("nanoseconds") > 0,
        "{card}"
    );
    let work = &process["operations"][0];
    assert_eq!(work["operation"], "p384-sign", "{process}");

    let text = stdout(
        &outboard()
            .args(["cards", "-V", "--ledger", named])
            .assert()
            .success(),
    );
    for part in ["in lanes", "fill", "busy", "wait", "openssl", "p384-sign"] {
        says(&text, part);
    }
    let stats = outboard()
        .args(["stats", "--json", "--ledger", named])
        .assert()
        .success();
    let stats = document(&stats, "outboard-stats");
    let counted = &stats["ledgers"][0]["total"]["cards"][0];
    assert_eq!(counted["accepted"], work["accepted"], "{stats}");
}

#[test]
fn nobody_has_a_card_who_does_one_thing_at_a_time() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ledger = directory.path().join("ledger");
    let named = ledger.to_str().expect("its path is text");
    run(
        &["--offer", "all", "--ledger", named],
        &["openssl", "genpkey", "-algorithm", "X25519"],
    )
    .assert()
    .success();
    let cards = || outboard().args(["cards", "--ledger", named]).assert();
    says(&stdout(&cards().success()), "No process has a card");
    fs::remove_file(&ledger).expect("it was made");
    cards().code(1);
    outboard().args(["cards", "--watch", "0"]).assert().code(2);
}

/// Beside the cards of processes, and the service's can be set offline and online.
#[test]
fn the_card_service_has_cards() {
    let service = Service::start();
    let configuration = service.configuration();
    let cards = |words: &[&str]| {
        let mut command = outboard();
        command.args(["cards", "--all"]).args(words);
        command.env("OPENSSL_CONF", &configuration).assert()
    };
    let steer = |words: &[&str]| {
        let mut command = outboard();
        command.arg("cards").args(words);
        command.env("OPENSSL_CONF", &configuration).assert()
    };
    let told = || {
        let listed = document(&cards(&["--json"]).success(), "outboard-cards");
        listed["service"].clone()
    };
    assert_eq!(told()["state"], "running");
    let of_process = stderr(&steer(&["--offline", "1234.0"]).code(1));
    says(&of_process, "card 1234.0 is in process 1234");
    steer(&["--offline", "first"]).code(2);
    steer(&["--offline", "0", "--online", "0"]).code(2);
    if told()["cards"].as_array().is_some_and(Vec::is_empty) {
        says(&stdout(&cards(&[]).success()), "has no cards");
        says(&stderr(&steer(&["--offline", "0"]).code(1)), "no lanes");
    } else {
        says(&stdout(&cards(&[]).success()), "card service");
        let unknown = stderr(&steer(&["--offline", "4711"]).code(1));
        says(&unknown, "there is no card 4711");
        let state = || told()["cards"][0]["status"].clone();
        says(
            &stdout(&steer(&["--offline", "0"]).success()),
            "its requests run alone",
        );
        assert_eq!(state(), "offline");
        says(&service.says(&["keys", "audit"]), "card 0 is offline");
        steer(&["--online", "0"]).success();
        assert_eq!(state(), "idle");
        steer(&["--offline", "0"]).success();
        service.says(&["service", "stop"]);
        service.says(&["service", "start"]);
        assert_eq!(state(), "idle");
    }
    service.says(&["service", "stop"]);
    assert_eq!(told()["state"], "down");
    says(
        &stdout(&cards(&[]).success()),
        "The card service does not run (run 'outboard service start --directory",
    );
    // What is about one ledger is not about the service.
    let ledger = service.path("ledger");
    let genpkey = ["openssl", "genpkey", "-algorithm", "X25519"];
    let named = ledger.to_str().expect("its path is text");
    run(&["--offer", "all", "--ledger", named], &genpkey)
        .assert()
        .success();
    let mut of_ledger = outboard();
    of_ledger.args(["cards", "--json", "--ledger", named]);
    let listed = document(&of_ledger.assert().success(), "outboard-cards");
    assert!(listed["service"].is_null());
}

/// A user who may not connect sees a line that says so; one who may is told, and steers nothing.
#[test]
fn another_user_sees_a_line() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let service = Service::start();
    let configuration = service.configuration();
    let as_nobody = |words: &[&str]| {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("outboard"));
        command.args(words).env("OPENSSL_CONF", &configuration);
        // The program may be where that user cannot go.
        command.uid(NOBODY).gid(NOBODY).output().ok()
    };
    let Some(steered) = as_nobody(&["cards", "--offline", "0"]) else {
        return;
    };
    assert!(!steered.status.success());
    says(
        &String::from_utf8_lossy(&steered.stderr),
        "may not administer the service",
    );
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(service.path("admin.sock"), mode).expect("it is ours");
    let listed = as_nobody(&["cards", "--all"]).expect("as before");
    says(
        &String::from_utf8_lossy(&listed.stdout),
        "The card service does not let this user ask: ",
    );
    let stats = as_nobody(&["stats", "--keys"]).expect("as before");
    assert!(!stats.status.success());
    says(
        &String::from_utf8_lossy(&stats.stderr),
        "does not let this user ask",
    );
}
